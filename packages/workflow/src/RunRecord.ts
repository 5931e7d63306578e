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
  /** JSON. Missing unless completed, and if it was `undefined`. */
  output: Schema.optionalWith(Schema.Unknown, { exact: true }),
  /** What it failed with, in words. Missing unless failed. */
  error: Schema.optionalWith(Schema.String, { exact: true })
})
/** One execution of a step. */
export type StepRecord = typeof StepRecord.Type

/** A finished run. */
export const RunRecord = Schema.Struct({
  runId: Schema.NonEmptyString,
  sessionId: Schema.NonEmptyString,
  workflow: Schema.String,
  status: RunStatus,
  /** JSON. Missing if it was `undefined`. */
  input: Schema.optionalWith(Schema.Unknown, { exact: true }),
  /** JSON. Missing unless completed, and if it was `undefined`. */
  output: Schema.optionalWith(Schema.Unknown, { exact: true }),
  /** What it failed with, in words. Missing unless failed. */
  error: Schema.optionalWith(Schema.String, { exact: true }),
  /** Milliseconds since the epoch. */
  startedAt: Schema.Number,
  /** Milliseconds since the epoch. */
  endedAt: Schema.Number,
  steps: Schema.Array(StepRecord)
})
/** A finished run. */
export type RunRecord = typeof RunRecord.Type

/** Levels that a copy has at the most. What lies deeper is left out, with a word in its place. */
const maxDepth = 200

/**
 * A copy of a value as JSON has it. What JSON has no word for is told as well as it
 * can be: a big integer or a function by its text, a circle and what cannot be read
 * by a word in brackets, the entries of a `Map` and of a `Set` as arrays, an error by
 * its name and message. `undefined` stays what it is. Never throws.
 */
export const toPlain = (value: unknown): unknown => copy(value, "", [])

/** `around` are the objects on the way to the value. */
const copy = (value: unknown, key: string, around: Array<object>): unknown => {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value : null
    case "bigint":
    case "function":
    case "symbol":
      return String(value)
    case "object":
      break
    default:
      return value
  }
  if (value === null) return value
  if (around.includes(value)) return "[circular]"
  if (around.length >= maxDepth) return "[deeper]"
  around.push(value)
  try {
    const { toJSON } = value as { readonly toJSON?: unknown }
    if (typeof toJSON === "function") {
      const json: unknown = toJSON.call(value, key)
      return json === value ? fields(value, around) : copy(json, key, around)
    }
    if (Array.isArray(value)) return Array.from(value, (element, i) => copy(element, String(i), around) ?? null)
    if (value instanceof Map || value instanceof Set) return copy(Array.from(value), key, around)
    // A text, a number or a truth value in a box.
    if (/^\[object (String|Number|Boolean)\]$/.test(Object.prototype.toString.call(value))) return value.valueOf()
    const error = value instanceof Error ? { name: value.name, message: value.message } : {}
    return { ...error, ...fields(value, around) }
  } catch {
    // A getter, a proxy or a `toJSON` that throws.
    return "[unreadable]"
  } finally {
    around.pop()
  }
}

const fields = (value: object, around: Array<object>): object =>
  // `fromEntries` defines properties, so one named `__proto__` is one like any other.
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, copy(field, key, around)]]))
  )

/** A recorded input or output as text: a string as it is, `""` for one that is missing, everything else as JSON. */
export const toText = (plain: unknown): string =>
  typeof plain === "string" ? plain : plain === undefined ? "" : JSON.stringify(plain)
