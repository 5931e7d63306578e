/** Something that was looked at, and how it is. */

/**
 * - `ok`: as it should be.
 * - `absent`: not there, and not needed.
 * - `warning`: something does not work that may be wanted.
 * - `broken`: something that is needed does not work.
 */
export type State = "ok" | "absent" | "warning" | "broken"

/** Something that was looked at. No secret is in it. */
export interface Check {
  readonly what: string
  readonly state: State
  /** How it is, in words. */
  readonly found: string
  /** What can be done. */
  readonly remedy?: string
}

/** A check. */
export const check = (state: State, what: string, found: string, remedy?: string): Check => ({
  what,
  state,
  found,
  ...(remedy !== undefined && { remedy })
})
