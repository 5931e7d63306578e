/**
 * Mode and settings as plain data, under the keys that they have in the options of a
 * step of a workflow definition.
 *
 * @example
 * ```ts
 * import { Memory, MemoryData } from "@heddle/memory"
 * import { Effect } from "effect"
 *
 * const options = await Effect.runPromise(
 *   MemoryData.decode({
 *     contextMode: "selective",
 *     sharePatterns: ["project uses *", "tech stack: *"],
 *     memory: { strategy: "summary", historyLimit: 5 }
 *   })
 * )
 * const handler = Memory.handler(options)
 * ```
 */
import type { Agent } from "@heddle/core"
import { expecting, oneOf, optional, problems as schemaProblems, type Reader, wholeFrom } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ContextMode from "./ContextMode.ts"
import { triggerProblems } from "./internal/check.ts"
import { call, type CallOptions } from "./Memory.ts"
import { InvalidMemory } from "./MemoryErrors.ts"
import { MemorySettings } from "./MemorySettings.ts"

const ContextWindow = Schema.Union(
  wholeFrom(0),
  Schema.Struct({ exchanges: wholeFrom(0) }),
  Schema.Struct({ tokens: wholeFrom(0) })
).annotations(expecting("a whole number from 0, { exchanges } or { tokens }"))

const atLeastOne = "expected one pattern at least"
const SharePatterns = Schema.Array(
  Schema.String.pipe(Schema.filter((glob) => glob.trim() !== "")).annotations(expecting("a text that is not empty"))
)
  // These leave the word to what is wrong with a pattern.
  .annotations({ message: () => "expected patterns" })
  .pipe(Schema.minItems(1, { message: () => atLeastOne }))

/** What can be said. What does not concern the mode is not used. */
export const MemoryData = Schema.Struct({
  /** `isolated` unless said. */
  contextMode: optional(oneOf(...ContextMode.names)),
  /** Exchanges, or `{ tokens }`. */
  contextWindow: optional(ContextWindow),
  /** Of `selective`: globs. */
  sharePatterns: optional(SharePatterns),
  /** Of `selective`: exchanges. */
  shareLookBack: optional(wholeFrom(1)),
  /** Of `summarized`: messages. */
  summarizeAfter: optional(wholeFrom(1)),
  /** Of `shared`: whether calls of tools are added to the main conversation. */
  shareToolCalls: optional(Schema.Boolean),
  /** Of `hybrid`: what the report has. */
  report: optional(
    Schema.Struct({
      summary: optional(Schema.Boolean),
      maxCharacters: optional(wholeFrom(0)),
      toolCalls: optional(Schema.Boolean),
      errors: optional(Schema.Boolean)
    })
  ),
  memory: optional(MemorySettings)
}).annotations({ identifier: "MemoryData" })
/** What can be said. What does not concern the mode is not used. */
export type MemoryData = typeof MemoryData.Type

/**
 * Makes options of data, for the memory of an agent or for a call. Fails with all that
 * is wrong with the data itself. What is right only beside what others say, as the
 * trigger of a step beside the window of the agent, is found where all of it is known.
 */
export const decode = (data: unknown): Effect.Effect<CallOptions, InvalidMemory> =>
  Effect.suspend(() => {
    const problems = [...schemaProblems(MemoryData, data), ...together(data)]
    // The Schema has found nothing wrong, and it changes nothing.
    return problems.length > 0 ? new InvalidMemory({ problems }) : Effect.succeed(optionsOf(data as MemoryData))
  })

/** What is wrong with what is said together, of data that may be wrong itself. */
const together = (data: unknown): ReadonlyArray<string> => {
  const { contextMode, contextWindow, memory, sharePatterns, summarizeAfter } = record(data)
  const { historyLimit, strategy, summaryEnabled, summaryTrigger } = record(memory)
  const isSummarized = contextMode === "summarized"
  const exchanges = isWindow(contextWindow) ? exchangesOf(contextWindow) : undefined
  // Of these two the window is of the main conversation; their own has the limit.
  const isOfMain = isSummarized || contextMode === "selective"
  const limit = contextWindow === undefined || isOfMain ? historyLimit : exchanges
  const [after, preset] =
    summarizeAfter === undefined ? [ContextMode.summarized().after, " (the default)"] : [summarizeAfter]
  return [
    ...(contextWindow !== undefined && contextMode === undefined
      ? ["contextWindow: expected contextMode beside it"]
      : []),
    ...(contextMode === "selective" && sharePatterns === undefined ? [`sharePatterns: ${atLeastOne}`] : []),
    ...(isSummarized && isCount(after) && isCount(exchanges)
      ? triggerProblems("summarizeAfter", after, exchanges, preset)
      : []),
    ...((summaryEnabled ?? strategy === "summary") === true && isCount(summaryTrigger) && isCount(limit)
      ? triggerProblems("memory.summaryTrigger", summaryTrigger, limit)
      : [])
  ]
}

const record = (value: unknown): Readonly<Record<string, unknown>> => (Predicate.isRecord(value) ? value : {})
const isWindow = Schema.is(ContextWindow)
const isCount = Schema.is(wholeFrom(0))

/** A window of tokens has no number of exchanges. */
const exchangesOf = (window: typeof ContextWindow.Type): number | undefined =>
  typeof window === "number" ? window : "exchanges" in window ? window.exchanges : undefined

const optionsOf = (data: MemoryData): CallOptions => ({
  ...(data.contextMode !== undefined && { mode: modeOf(data.contextMode, data) }),
  ...(data.memory !== undefined && { settings: data.memory })
})

const modeOf = (name: ContextMode.Name, data: MemoryData): ContextMode.ContextMode => {
  const { contextWindow: given } = data
  const window = given === undefined ? {} : { window: typeof given === "number" ? { exchanges: given } : given }
  switch (name) {
    case "isolated":
      return ContextMode.isolated(window)
    case "shared":
      return ContextMode.shared({
        ...window,
        ...(data.shareToolCalls !== undefined && { toolCalls: data.shareToolCalls })
      })
    case "hybrid":
      return ContextMode.hybrid({ ...window, ...data.report })
    case "selective":
      return ContextMode.selective(data.sharePatterns ?? [], {
        ...window,
        ...(data.shareLookBack !== undefined && { lookBack: data.shareLookBack })
      })
    case "summarized":
      return ContextMode.summarized({
        ...window,
        ...(data.summarizeAfter !== undefined && { after: data.summarizeAfter })
      })
    case "fork":
      return ContextMode.fork(window)
  }
}

/** Reads the options of a call, for whoever reads data in which there is more. */
export const callOptions: Reader<Agent.CallOptions> = {
  keys: Object.keys(MemoryData.fields),
  read: (data) => Effect.map(decode(data), call)
}
