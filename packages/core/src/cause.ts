/**
 * What the cause of an error says: anything can be thrown, or be what something fails with.
 *
 * @example
 * ```ts
 * import { causeText } from "@heddle/core/cause"
 *
 * console.log([new Error("disk full"), "gone"].map(causeText)) // [ 'disk full', 'gone' ]
 * ```
 */

/** What went wrong, in words. */
export const causeText = (cause: unknown): string => {
  try {
    return cause instanceof Error ? cause.message : String(cause)
  } catch {
    // A message that cannot be read.
    return "no reason given"
  }
}

/** An error as plain data: its tag or name, and what it says. */
export const plainError = (error: unknown): { readonly _tag: string; readonly message: string } => {
  if (typeof error !== "object" || error === null) return { _tag: "Error", message: String(error) }
  const { _tag, message, name } = error as {
    readonly _tag?: unknown
    readonly message?: unknown
    readonly name?: unknown
  }
  return { _tag: String(_tag ?? name ?? "Error"), message: String(message ?? "") }
}
