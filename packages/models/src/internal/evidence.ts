/**
 * What a request knows: the question, and every passage of tool results and of
 * the conversation, with its source.
 */
import { type ChatModel, History, Message } from "@heddle/core"
import { isObject, type JsonObject } from "./json.ts"
import { quotationsIn } from "./quotations.ts"
import type { Passage } from "./rank.ts"
import { split } from "./split.ts"

/** Keys under which a result or a call says where a text is from, the most telling first. */
const sourceKeys = ["path", "file", "filename", "url", "uri", "source", "document", "title", "id", "name"]

/** The exchange that is going on: the last user message and what was done since. */
export const exchange = (request: ChatModel.ModelRequest): History.History => {
  const from = request.history.findLastIndex((message) => message.role === "user")
  return request.history.slice(Math.max(0, from))
}

/** The tool calls of messages, in order. */
export const callsOf = (history: History.History): ReadonlyArray<Message.ToolCall> => history.flatMap(Message.toolCalls)

/** What is asked, and the text that was handed over with it. */
export interface Question {
  readonly text: string
  readonly material: string
}

const longestQuestion = 500

/** Finds the question in the last user message: what is quoted as one; else all of a short one; of a long one its last or first paragraph. */
export const question = (request: ChatModel.ModelRequest): Question => {
  const last = request.history.findLast((message) => message.role === "user")
  const text = last === undefined ? "" : Message.text(last).trim()
  const asked = quotationsIn(text).quotations.find(({ tag }) => tag === "question")
  if (asked !== undefined) return { text: asked.text.trim(), material: text }
  if (text.length <= longestQuestion) return { text, material: "" }
  const first = text
    .slice(0, longestQuestion + 1)
    .split(/\n\s*\n/)[0]!
    .trim()
  const end = text
    .slice(-longestQuestion - 1)
    .split(/\n\s*\n/)
    .at(-1)!
    .trim()
  const fits = (paragraph: string) => paragraph.length <= longestQuestion
  if (fits(end) && (end.endsWith("?") || !fits(first))) return { text: end, material: text.slice(0, -end.length) }
  if (fits(first)) return { text: first, material: text.slice(first.length) }
  const space = text.lastIndexOf(" ", longestQuestion)
  const cut = space > 0 ? space : longestQuestion
  return { text: text.slice(0, cut), material: text.slice(cut) }
}

const sourceOf = (value: JsonObject): string | undefined => {
  for (const key of sourceKeys) {
    const found = Object.hasOwn(value, key) ? value[key] : undefined
    if (typeof found === "string" && found !== "" && found.length <= 200) return found
  }
  return undefined
}

/** How much a passage counts by where it is from. */
const weights = { result: 1, earlierResult: 0.9, user: 0.8, assistant: 0.4, instructions: 0.5 }

/** Keys of fields that are text to be quoted, and of fields that only say where or how well something was found. */
const textKeys = new Set(["text", "content", "snippet", "body", "excerpt", "passage", "summary", "description"])
const pointerKeys = new Set(["line", "lines", "page", "offset", "index", "score", "rank", "position"])

/** The passages of a JSON value. Fields of an object that are no text are one passage together. */
const fromValue = (
  value: unknown,
  source: string,
  heading: string,
  weight: number,
  out: Array<Passage>,
  depth = 0
): void => {
  if (depth > 20) return
  if (typeof value === "string") {
    for (const piece of split(value)) {
      out.push({ ...piece, heading: piece.heading === "" ? heading : `${heading} – ${piece.heading}`, source, weight })
    }
  } else if (Array.isArray(value)) {
    const short =
      value.length > 1 &&
      value.length <= 100 &&
      value.every((item) => typeof item !== "object" && String(item).length <= 80)
    if (short) out.push({ text: value.join(", "), heading, source, weight, item: false })
    else for (const item of value) fromValue(item, source, heading, weight, out, depth + 1)
  } else if (isObject(value)) {
    const own = sourceOf(value)
    const facts: Array<string> = []
    for (const [key, field] of Object.entries(value)) {
      if (own !== undefined && (field === own || pointerKeys.has(key))) continue
      // An excerpt gives way to the document that it is from.
      const text = typeof field === "string" && (field.length > 60 || (own !== undefined && textKeys.has(key)))
      if (text) fromValue(field, own ?? source, heading, 0.95 * weight, out, depth + 1)
      else if (typeof field === "object" && field !== null)
        fromValue(field, own ?? source, `${heading} ${key}`, weight, out, depth + 1)
      else if (field !== null && field !== "") facts.push(`${key}: ${String(field)}`)
    }
    if (facts.length > 0) {
      out.push({
        text: facts.join(", "),
        heading: `${heading} ${own ?? ""}`,
        source: own ?? source,
        weight,
        item: false
      })
    }
  } else if (value !== undefined && value !== null) {
    out.push({ text: String(value), heading, source, weight, item: false })
  }
}

/** The document that a call gave the text of. */
const documentOf = ({ arguments: args, outcome }: Message.ToolCall): string | undefined =>
  outcome._tag === "Succeeded" && typeof outcome.result === "string" && isObject(args) ? sourceOf(args) : undefined

const fromCall = (call: Message.ToolCall, weight: number, out: Array<Passage>) => {
  if (call.outcome._tag !== "Succeeded") return
  const named = isObject(call.arguments) ? sourceOf(call.arguments) : undefined
  const asked = isObject(call.arguments)
    ? Object.values(call.arguments).filter((v) => typeof v === "string" && v.length < 60)
    : []
  // A document speaks for itself; a bare value is about what was asked for.
  const bare = typeof call.outcome.result !== "string" || call.outcome.result.length < 200
  fromValue(
    call.outcome.result,
    named ?? call.name,
    bare ? `${call.name} ${asked.join(" ")}` : (named ?? ""),
    weight,
    out
  )
}

/** The passages of what is quoted in a text, and what stands around it. A number is how it is cited. */
const fromQuotations = (text: string, out: Array<Passage>): string => {
  const { quotations, rest } = quotationsIn(text)
  for (const { attributes, tag, text } of quotations) {
    const number = attributes["number"] ?? attributes[tag === "note" ? "passage" : "number"]
    if (number === undefined && tag !== "notes") continue
    const passages: Array<Passage> = []
    fromValue(text, attributes["source"] ?? tag, "", weights.result, passages)
    out.push(...passages.map((passage) => ({ ...passage, cite: number === undefined ? "" : `[${number}]` })))
  }
  return rest
}

/** What is known: from the tools in this exchange and from what is quoted to the model, and from all that was said before. */
export interface Known {
  readonly now: ReadonlyArray<Passage>
  readonly before: ReadonlyArray<Passage>
}

/** Questions say nothing. */
const isStatement = (passage: Passage) => !/[?？]["')]?$/.test(passage.text)

/** The passages of tool results and of the conversation, the newest exchange first. */
export const known = (request: ChatModel.ModelRequest, asked: Question): Known => {
  const current = exchange(request)
  const said = callsOf(current).map((call) => {
    const passages: Array<Passage> = []
    fromCall(call, weights.result, passages)
    return { document: documentOf(call), passages }
  })
  // What was read in full is not quoted from an excerpt as well.
  const read = new Set(said.map(({ document }) => document))
  const now = said.flatMap(({ document, passages }) =>
    document === undefined ? passages.filter((passage) => !read.has(passage.source)) : passages
  )
  const found: Array<Passage> = []
  for (const { text } of request.instructions.sections) fromQuotations(text, found)
  const material = fromQuotations(asked.material, found)
  const before: Array<Passage> = []
  const say = (text: string, source: string, weight: number) => {
    const texts: Array<Passage> = []
    fromValue(text, source, "", weight, texts)
    for (const passage of texts) if (isStatement(passage)) before.push(passage)
  }
  say(material, "your message", weights.user)
  for (let i = request.history.length - current.length - 1; i >= 0; i--) {
    const message = request.history[i]!
    say(Message.text(message), "our conversation", message.role === "assistant" ? weights.assistant : weights.user)
    for (const call of Message.toolCalls(message)) fromCall(call, weights.earlierResult, before)
  }
  return { now: [...now, ...found], before }
}

/** The passages of the instructions: asked only when nothing else knows. */
export const instructionPassages = (request: ChatModel.ModelRequest): ReadonlyArray<Passage> => {
  const out: Array<Passage> = []
  for (const { source, text } of request.instructions.sections) {
    // What is quoted in them is known already.
    fromValue(
      fromQuotations(text, []),
      source === "" ? "instructions" : `instructions: ${source}`,
      "",
      weights.instructions,
      out
    )
  }
  return out
}
