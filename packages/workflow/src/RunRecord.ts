/**
 * What is kept of a run of a workflow. Plain data: it can be written as JSON, and
 * it is a copy, so nothing that is done later to an input or an output reaches it.
 */
import * as Schema from "effect/Schema"

/** How a run ended. */
export const RunStatus = Schema.Literal("completed", "failed", "cancelled")
/** How a run ended. */
export type RunStatus = typeof RunStatus.Type

/** One execution of a step. Steps stand in the order in which they began, those of parallel branches in the order of the branches. */
export const StepRecord = Schema.Struct({
  /** The names on the way from the workflow to the step, and the number of a round or an element. */
  path: Schema.Array(Schema.Union(Schema.String, Schema.Number)),
  status: RunStatus,
  /** JSON. Missing unless completed. */
  output: Schema.optionalWith(Schema.Unknown, { exact: true })
})
/** One execution of a step. */
export type StepRecord = typeof StepRecord.Type

/** A finished run. */
export const RunRecord = Schema.Struct({
  runId: Schema.NonEmptyString,
  sessionId: Schema.NonEmptyString,
  workflow: Schema.String,
  status: RunStatus,
  /** JSON. */
  input: Schema.Unknown,
  /** JSON. Missing unless completed. */
  output: Schema.optionalWith(Schema.Unknown, { exact: true }),
  /** Milliseconds since the epoch. */
  startedAt: Schema.Number,
  /** Milliseconds since the epoch. */
  endedAt: Schema.Number,
  steps: Schema.Array(StepRecord)
})
/** A finished run. */
export type RunRecord = typeof RunRecord.Type

/** A copy of a value as JSON has it; its text where JSON has none (a function, a circle, a big integer). */
export const toPlain = (value: unknown): unknown => {
  if (typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value)) return value
  try {
    const json = JSON.stringify(value)
    if (json !== undefined) return JSON.parse(json)
  } catch {
    // A circle, a big integer, or a `toJSON` that throws.
  }
  return String(value)
}

/** A recorded input or output as text: a string as it is, everything else as JSON. */
export const toText = (plain: unknown): string =>
  typeof plain === "string" ? plain : plain === undefined ? "" : JSON.stringify(plain)
