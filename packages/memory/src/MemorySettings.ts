/**
 * How much of a conversation the model is shown: the strategy and its bounds, as
 * data. What is not said is left to whoever says it less closely: request over step
 * over agent over defaults. What was set is set, a zero and a `false` too.
 *
 * | strategy | what the model sees |
 * | --- | --- |
 * | `full` | every exchange |
 * | `window` | the last `historyLimit` exchanges |
 * | `summary` | a summary of what is older, then all that it does not cover: the last `historyLimit` exchanges, and those that wait for the next summary |
 */
import { merge as mergeSettings, oneOf, optional, wholeFrom } from "@heddle/core/settings"
import * as Schema from "effect/Schema"

/** The strategies. */
export const MemoryStrategy = oneOf("full", "window", "summary")
/** The strategies. */
export type MemoryStrategy = typeof MemoryStrategy.Type

/** What can be said of memory. All of it can be left out. */
export const MemorySettings = Schema.Struct({
  /** `window` unless said. */
  strategy: optional(MemoryStrategy),
  /** Exchanges shown by `window`, and beside the summary by `summary`. 10 unless said. */
  historyLimit: optional(wholeFrom(0)),
  /** Whether summaries are written. Unless said: if the strategy is `summary`. */
  summaryEnabled: optional(Schema.Boolean),
  /** Messages that a conversation has before it is summarized for the first time. 30 unless said. */
  summaryTrigger: optional(wholeFrom(1)),
  /** Messages beyond the window that no summary covers yet, before the next is written. 6 unless said. */
  summaryMinGrowth: optional(wholeFrom(1)),
  /** Tokens that a summary may have. 512 unless said. */
  summaryMaxTokens: optional(wholeFrom(1)),
  /** The name of the model that summarizes, for `ModelOptions.model`. The model's own default unless said. */
  summaryModel: optional(Schema.NonEmptyString)
}).annotations({ identifier: "MemorySettings" })
/** What can be said of memory. All of it can be left out. */
export type MemorySettings = typeof MemorySettings.Type

/** Settings with nothing left to be said. */
export interface Effective extends Required<Omit<MemorySettings, "summaryModel">> {
  readonly summaryModel: string | undefined
}

/** What holds where nothing else is said. */
export const defaults = {
  strategy: "window",
  historyLimit: 10,
  summaryTrigger: 30,
  summaryMinGrowth: 6,
  summaryMaxTokens: 512
} as const satisfies MemorySettings

/** Merges settings, the first over the others. */
export const merge: (...settings: ReadonlyArray<MemorySettings | undefined>) => MemorySettings = mergeSettings

/** Fills in what nobody has said. */
export const effective = (settings: MemorySettings): Effective => {
  const merged = { ...defaults, ...settings }
  return {
    ...merged,
    summaryEnabled: merged.summaryEnabled ?? merged.strategy === "summary",
    summaryModel: merged.summaryModel
  }
}
