/**
 * Which tools to call next, if any.
 */
import { type ChatModel, Message, type Tool } from "@heddle/core"
import { stem, terms, words } from "@heddle/core/words"
import { callsOf, exchange } from "./evidence.ts"
import { fill, fillForced, type Filling, type Material } from "./fill.ts"
import { canonical, type JsonObject } from "./json.ts"
import { expressions } from "./mentions.ts"

/** A call to make. */
export interface Planned {
  readonly name: string
  readonly arguments: JsonObject
}

const mostAtOnce = 3
/** How many of the things that one tool has found another is called for. */
const mostFollowUps = 2

const kind = (words: string) => new Set(words.split(" ").map(stem))
const reading = kind("read get open fetch load show view look lookup search find list query retrieve describe")
const searching = kind("search find look lookup query retrieve ask answer recall knowledge")

const nameOf = (tool: Tool.Any) => words(tool.name).map(stem)
const isReading = (tool: Tool.Any) => tool.annotations.readOnly || nameOf(tool).some((word) => reading.has(word))
const isSearching = (tool: Tool.Any) =>
  nameOf(tool)
    .concat(words(tool.description).map(stem))
    .some((word) => searching.has(word))

/** How well a tool's name and description fit the question: 2 for the name, 1 for the description. */
const likeness = (tool: Tool.Any, asked: ReadonlySet<string>): number => {
  const name = nameOf(tool)
  const named = name.filter((word) => asked.has(word)).length / Math.max(1, name.length)
  const described = terms(tool.description).filter((term) => asked.has(term)).length
  return 2 * named + Math.min(1, described / 4)
}

const score = (tool: Tool.Any, { arguments: args, grounds }: Filling, question: string): number => {
  const asked = new Set(words(question).map(stem))
  // "Which documents are there?" asks for a list: of a tool that has to do with documents.
  if (likeness(tool, asked) > 0 && /^\s*(?:which|what)\b.*\b(?:are|is) there\b|\bhow many\b|\ball\b/i.test(question)) {
    asked.add("list")
  }
  const like = likeness(tool, asked)
  const { destructive } = tool.annotations
  // What cannot be undone is done for one who says so, and not for one who asks about it.
  if (destructive && (question.includes("?") || !nameOf(tool).every((word) => asked.has(word)))) return 0
  switch (grounds) {
    case "result":
      return isReading(tool) ? like + 2 : 0
    case "mention": {
      const sums =
        Object.values(args).some((value) => typeof value !== "number") || like > 0 || expressions(question).length > 0
      return sums ? like + 1.5 : 0
    }
    case "question":
      return like + (isSearching(tool) ? 0.6 : 0)
    case "none":
      return like
  }
}

const threshold = 0.5

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : typeof value === "object" && Object.values(value).every(isEmpty))

/** The calls to make next. Each is new in this exchange; none when the request allows none or enough is known. */
export const plan = (
  request: ChatModel.ModelRequest,
  question: string,
  maxToolCalls: number
): ReadonlyArray<Planned> => {
  const { toolChoice } = request
  if (toolChoice === "none") return []
  const calls = callsOf(exchange(request))
  if (calls.length >= maxToolCalls) return []
  const key = (name: string, args: unknown) => `${name} ${canonical(args)}`
  const made = new Set(calls.map((call) => key(call.name, call.arguments)))
  const isNew = (planned: Planned) => !made.has(key(planned.name, planned.arguments))
  const material: Material = { question, calls }
  const tools = Array.from(request.tools)

  const forced = (tool: Tool.Any): Planned => ({ name: tool.name, arguments: fillForced(tool, material).arguments })
  if (typeof toolChoice === "object") {
    const tool = request.tools.get(toolChoice.tool)
    return tool === undefined ? [] : [forced(tool)].filter(isNew)
  }
  const chosen = question === "" ? [] : choose(tools, material, isNew, maxToolCalls - calls.length)
  if (chosen.length > 0 || toolChoice === "auto") return chosen
  const asked = new Set(terms(question))
  const gentle = tools.toSorted(
    (a, b) =>
      Number(a.annotations.destructive) - Number(b.annotations.destructive) || likeness(b, asked) - likeness(a, asked)
  )
  const next = gentle.map(forced).find(isNew)
  return next === undefined ? [] : [next]
}

const choose = (
  tools: ReadonlyArray<Tool.Any>,
  material: Material,
  isNew: (planned: Planned) => boolean,
  most: number
): ReadonlyArray<Planned> => {
  const { calls, question } = material
  const begun = calls.length > 0
  if (calls.some((call) => call.outcome._tag === "Denied")) return []
  const known = calls.some((call) => call.outcome._tag === "Succeeded" && !isEmpty(call.outcome.result))
  const failed = new Set(calls.filter((call) => call.outcome._tag !== "Succeeded").map((call) => call.name))

  const rated = tools.flatMap((tool) => {
    if (failed.has(tool.name)) return []
    const others = calls.filter((call) => call.name !== tool.name)
    const followed = calls.length - others.length
    return fill(tool, { question, calls: others })
      .filter(({ grounds }) => !begun || grounds === "result" || (!known && followed === 0))
      .map((filling) => ({ ...filling, name: tool.name, score: score(tool, filling, question) }))
      .filter((rated) => rated.score >= threshold && isNew(rated))
      .slice(0, Math.max(0, mostFollowUps - followed))
  })
  const best = rated.reduce((best, { score }) => Math.max(best, score), 0)
  return rated
    .filter(({ score }) => score >= best * 0.75)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, Math.min(mostAtOnce, most))
    .map(({ arguments: args, name }) => ({ name, arguments: args }))
}

/** What is to be told of calls that were not allowed or have failed. */
export const setbacks = (request: ChatModel.ModelRequest): ReadonlyArray<string> =>
  callsOf(exchange(request)).flatMap(({ arguments: args, name, outcome }) => {
    const call = `${name}(${short(
      Object.values(Object(args) as object)
        .map((value) => canonical(value))
        .join(", ")
    )})`
    switch (outcome._tag) {
      case "Denied":
        return [`${call} was not allowed: ${short(outcome.reason)}`]
      case "Failed":
        return [`${call} failed: ${short(Message.renderOutcome(outcome))}`]
      case "Cancelled":
        return [`${call} was cancelled.`]
      default:
        return []
    }
  })

const short = (text: string) => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
