/**
 * What drivers and decoders say of an error.
 */

/** Of a text that may hold all of a row, in characters. */
const maxLength = 300

/** A text that an error has; empty if it has none. */
export const textOf = (value: unknown, field: "code" | "message"): string => {
  if (typeof value !== "object" || value === null) return ""
  const text: unknown = Reflect.get(value, field)
  return typeof text === "string" ? text : ""
}

/** The words of an error in brackets, as they follow a sentence of ours. */
export const said = (cause: unknown): string => {
  const words = textOf(cause, "message") || textOf(cause, "code") || "no reason given"
  return `(${words.length > maxLength ? `${words.slice(0, maxLength)}…` : words})`
}
