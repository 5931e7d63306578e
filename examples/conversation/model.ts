/**
 * A model that needs no network: it knows what its request says, and nothing else.
 * It quotes the sentence that has most of the question's words, or says that it cannot
 * see the answer. As a summary it gives the sentences with a name or a number.
 */
import { ChatModel, type Instructions, Message } from "@heddle/core"
import { ContextSection } from "@heddle/memory"

export const Model = ChatModel.layer((request) =>
  ChatModel.reply(request.purpose === "memory_summary" ? summary(ChatModel.question(request)) : answer(request))
)

/** The sentences of a text, without tags and without who said them. */
const sentences = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => !/^<\/?\w+>$/.test(line))
    .flatMap((line) => line.replace(/^\w+: /, "").split(/(?<=[.!?])\s+/))
    .filter((sentence) => /\p{L}/u.test(sentence))

const isStatement = (sentence: string) => !sentence.endsWith("?")

// -----------------------------------------------------------------------------
// summaries
// -----------------------------------------------------------------------------

/** One of a few words is a greeting. */
const hasNameOrNumber = (sentence: string) => /\d|\S\s+[A-Z]\w/.test(sentence) && /(?:\S+\s+){3}/.test(sentence)

const summary = (transcript: string): string =>
  Array.from(
    new Set(sentences(transcript).filter((sentence) => isStatement(sentence) && hasNameOrNumber(sentence)))
  ).join(" ")

// -----------------------------------------------------------------------------
// answers
// -----------------------------------------------------------------------------

const answer = (request: ChatModel.ModelRequest): ReturnType<typeof Message.assistant>["content"] | string => {
  const { history, instructions, tools } = request
  const question = ChatModel.question(request)
  const calls = Message.toolCalls(history.at(-1)!)
  if (calls.length > 0)
    return calls.map(({ name, outcome }) => `${name} says: ${Message.renderOutcome(outcome)}`).join("\n")
  const tool = tools.names[0]
  if (tool !== undefined) return [Message.toolCall("call-1", tool, { input: question })]
  const before = history.slice(0, -1)
  if (/\bask(?:ed)? (?:you |me )?before\b/i.test(question)) return lastQuestion(before)
  const told = before.flatMap((message) => sentences(Message.text(message)))
  const summarized = summarySentences(instructions)
  const found = best(
    question,
    [...told, ...summarized].filter((text) => isStatement(text) && !text.includes(question))
  )
  if (found === undefined) return unknown(instructions)
  return told.includes(found) ? found : `The summary says: ${found}`
}

const lastQuestion = (before: ReadonlyArray<Message.Message>): string => {
  const last = before.findLast(({ role }) => role === "user")
  return last === undefined ? "I see no question before this one." : `The last that I see is: ${Message.text(last)}`
}

const common = new Set(
  "and are did does for from has have how our that the this use was what when where which who with".split(" ")
)

const words = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
    .filter((word) => !common.has(word))
    .map((word) => word.replace(/e?s$/, ""))

/** The sentence that has most of the question's words, rare ones before common ones, the shortest of equals. */
const best = (question: string, all: ReadonlyArray<string>): string | undefined => {
  const candidates = Array.from(new Set(all), (text) => ({ text, words: new Set(words(text)) }))
  const asked = Array.from(new Set(words(question)), (word) => ({
    word,
    weight: 1 / Math.max(1, candidates.filter((candidate) => candidate.words.has(word)).length)
  }))
  const score = (candidate: (typeof candidates)[number]) =>
    asked.reduce((sum, { weight, word }) => sum + (candidate.words.has(word) ? weight : 0), 0)
  const [first] = candidates.toSorted((a, b) => score(b) - score(a) || a.text.length - b.text.length)
  return first === undefined || score(first) === 0 ? undefined : first.text
}

const summarySentences = ({ sections }: Instructions.Instructions): ReadonlyArray<string> =>
  sections
    .filter(({ source }) => source === ContextSection.summarySource)
    .flatMap(({ text }) => sentences(text).slice(1))

/** What the section on the context mode asks for, where there is one that does. */
const unknown = ({ sections }: Instructions.Instructions): string => {
  const [, mode] = /say that you run in (\w+) context mode/.exec(sections.map(({ text }) => text).join("\n")) ?? []
  return mode === undefined
    ? "Nothing that I see says so."
    : `I run in ${mode} context mode and cannot see that. What was said about it?`
}
