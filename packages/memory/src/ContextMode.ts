/**
 * What an agent sees of a session, and what it adds to it.
 *
 * | mode | sees | adds to |
 * | --- | --- | --- |
 * | `isolated` | its own conversation | its own |
 * | `shared` | the main conversation | the main one |
 * | `hybrid` | its own conversation | its own; a report of the exchange to the main one |
 * | `selective` | matching exchanges of the main conversation, then its own conversation | its own |
 * | `summarized` | a summary of the main conversation, its last exchanges, then its own conversation | its own |
 * | `fork` | the main conversation as it is, with the exchange that is going on | its own |
 *
 * A mode is a value: it is set on the agent's memory, and said anew for a call.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { ContextMode, Memory } from "@heddle/memory"
 *
 * const architect = Agent.make({
 *   name: "architect",
 *   handlers: Memory.handler({ mode: ContextMode.selective(["project uses *", "tech stack: *"]) })
 * })
 * ```
 */
import type { Message } from "@heddle/core"
import { merge } from "@heddle/core/settings"
import type * as Effect from "effect/Effect"
import type { Exchange } from "./Conversations.ts"

/** How much of a conversation: so many of its last exchanges, or as many as have so many tokens. Whole numbers from 0. */
export type Window = { readonly exchanges: number } | { readonly tokens: number }

/** What a mode sees of the conversation that it is about. Unless said: what the memory settings say. */
interface Windowed {
  readonly window?: Window
}

/** Its own conversation alone. */
export interface Isolated extends Windowed {
  readonly _tag: "isolated"
}

/** The main conversation, as one who takes part in it. */
export interface Shared extends Windowed {
  readonly _tag: "shared"
  /** Whether calls of tools and thoughts are added to the main conversation, besides question and answer. */
  readonly toolCalls: boolean
}

/** Its own conversation, with a report to the main one. */
export interface Hybrid extends Windowed {
  readonly _tag: "hybrid"
  /** Whether the report has the answer. */
  readonly summary: boolean
  /** Characters of the answer, and of an error, in the report; what is longer is cut. */
  readonly maxCharacters: number
  /** Whether the report names the tools that were called, and how that ended. */
  readonly toolCalls: boolean
  /** Whether a run that failed is reported. */
  readonly errors: boolean
  /** Writes the report in place of all that. */
  readonly format?: (report: Report) => string | Effect.Effect<string>
}

/** What a report to the main conversation is written of. */
export interface Report {
  readonly agent: string
  readonly input: string
  /** The answer. Missing if the run failed. */
  readonly answer?: string
  /** What the run failed with. Missing if it did not. */
  readonly error?: unknown
  readonly toolCalls: ReadonlyArray<Message.ToolCall>
}

/** What matches an exchange: a glob (`*` any text, `?` any character) that fits a line of what was said in it, or a predicate. */
export type Pattern = string | ((exchange: Exchange) => boolean)

/** The exchanges of the main conversation that match one pattern at least. */
export interface Selective extends Windowed {
  readonly _tag: "selective"
  readonly patterns: ReadonlyArray<Pattern>
  /** The last exchanges of the main conversation among which matches are looked for. A whole number from 1. */
  readonly lookBack: number
}

/** The main conversation, in short. */
export interface Summarized extends Windowed {
  readonly _tag: "summarized"
  /** Messages that the main conversation has before it is summarized; its last exchanges are seen as they are. */
  readonly after: number
}

/** A copy of the main conversation. */
export interface Fork extends Windowed {
  readonly _tag: "fork"
}

/** What an agent sees of a session, and what it adds to it. */
export type ContextMode = Isolated | Shared | Hybrid | Selective | Summarized | Fork

/** The names of the modes. */
export type Name = ContextMode["_tag"]

const all = ["isolated", "shared", "hybrid", "selective", "summarized", "fork"] as const satisfies ReadonlyArray<Name>
type Complete = Exclude<Name, (typeof all)[number]> extends never ? typeof all : never
/** The names of all modes. */
export const names: Complete = all

// -----------------------------------------------------------------------------
// constructors: an option that is `undefined` says nothing
// -----------------------------------------------------------------------------

/** Its own conversation alone: what an agent has that says nothing. */
export const isolated = (options?: Omit<Isolated, "_tag">): Isolated => ({
  ...merge(options),
  _tag: "isolated"
})

/** The main conversation. `toolCalls` is for the one whose conversation it is in the first place; `false` unless said. */
export const shared = (options?: Partial<Omit<Shared, "_tag">>): Shared => ({
  toolCalls: false,
  ...merge(options),
  _tag: "shared"
})

/** Its own conversation, and a report to the main one: of the answer and of errors, in 2,000 characters, unless said otherwise. */
export const hybrid = (options?: Partial<Omit<Hybrid, "_tag">>): Hybrid => ({
  summary: true,
  maxCharacters: 2000,
  toolCalls: false,
  errors: true,
  ...merge(options),
  _tag: "hybrid"
})

/** The exchanges of the main conversation that match, of its last 1,000 unless said, and its own conversation. */
export const selective = (
  patterns: ReadonlyArray<Pattern>,
  options?: Partial<Omit<Selective, "_tag" | "patterns">>
): Selective => ({ lookBack: 1000, ...merge(options), patterns, _tag: "selective" })

/**
 * The main conversation in short, and its own conversation. `after`: 20 messages unless
 * said. The window: half of that unless said, an exchange counted as two messages.
 */
export const summarized = (options?: Partial<Omit<Summarized, "_tag">>): Summarized => {
  const { after = 20 } = options ?? {}
  // What is no number is told of as `after` alone.
  const exchanges = Number.isSafeInteger(after) ? Math.max(1, Math.floor(after / 4)) : 1
  return { after, window: { exchanges }, ...merge(options), _tag: "summarized" }
}

/** A copy of the main conversation. */
export const fork = (options?: Omit<Fork, "_tag">): Fork => ({ ...merge(options), _tag: "fork" })

/** A mode, or the name of one that needs nothing to be said. */
export type Input = ContextMode | Exclude<Name, "selective">

const byName = { isolated, shared, hybrid, summarized, fork }

/** The mode of a name. */
export const make = (mode: Input): ContextMode => (typeof mode === "string" ? byName[mode]() : mode)
