/**
 * A model that needs no network: it knows what its request says, and nothing else.
 * It quotes the sentence that has most of the question's words, or says that it cannot
 * see the answer. As a summary it gives the sentences with a name or a number.
 */
import { ChatModel, type Instructions, Message } from "@heddle/core"

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

const hasNameOrNumber = (sentence: string) => /\d|\S\s+[A-Z]\w/.test(sentence)

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
  return (
    best(
      question,
      before.flatMap((message) => sentences(Message.text(message)))
    ) ??
    best(question, summarySentences(instructions), "The summary says: ") ??
    unknown(instructions)
  )
}

const lastQuestion = (before: ReadonlyArray<Message.Message>): string => {
  const last = before.findLast(({ role }) => role === "user")
  return last === undefined ? "I see no question before this one." : `The last that I see is: ${Message.text(last)}`
}

const words = (text: string): ReadonlyArray<string> =>
  (text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => word.replace(/e?s$/, ""))

/** The statement that has most of the question's words, rare ones before common ones, the first of equals. */
const best = (question: string, all: ReadonlyArray<string>, prefix = ""): string | undefined => {
  const statements = Array.from(new Set(all.filter(isStatement)), (text) => ({ text, words: new Set(words(text)) }))
  const asked = Array.from(new Set(words(question)), (word) => ({
    word,
    weight: 1 / Math.max(1, statements.filter((statement) => statement.words.has(word)).length)
  }))
  const score = (statement: (typeof statements)[number]) =>
    asked.reduce((sum, { weight, word }) => sum + (statement.words.has(word) ? weight : 0), 0)
  const [first] = statements.toSorted((a, b) => score(b) - score(a))
  return first === undefined || score(first) === 0 ? undefined : prefix + first.text
}

const summarySentences = ({ sections }: Instructions.Instructions): ReadonlyArray<string> =>
  sections.filter(({ source }) => source === "memory-summary").flatMap(({ text }) => sentences(text).slice(1))

/** What the section on the context mode asks for, where there is one that does. */
const unknown = ({ sections }: Instructions.Instructions): string =>
  sections.some(({ text }) => text.includes("say that you run in isolated context mode"))
    ? "I run in isolated context mode and cannot see that. What was said about it?"
    : "Nothing that I see says so."
