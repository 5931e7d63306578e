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
