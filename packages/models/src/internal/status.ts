/**
 * What responses over HTTP mean, whichever library has asked.
 */
import type { Errors } from "@heddle/core"

/** The reason that a status of failure stands for, as far as it says by itself. */
export const ofStatus = (status: number): Errors.ModelErrorReason | undefined => {
  if (status === 429) return "RateLimited"
  if (status === 408 || status === 504) return "Timeout"
  if (status === 401 || status === 402 || status === 403) return "Authentication"
  // It is about the size of the request.
  if (status === 413) return "ContextLength"
  // What went wrong on the other side may go well the next time.
  if (status >= 500) return "Overloaded"
  return status >= 400 ? "BadRequest" : undefined
}

/** The wait that a response asks for, in milliseconds: `retry-after` is in seconds, or a date. `now` in milliseconds since the epoch. */
export const retryAfterOf = (
  headers: Readonly<Record<string, string | undefined>>,
  now: number
): number | undefined => {
  const { "retry-after": after = "", "retry-after-ms": exact = "" } = headers
  if (exact.trim() !== "" && Number(exact) >= 0 && Number.isFinite(Number(exact))) return Number(exact)
  if (after.trim() === "") return undefined
  const seconds = Number(after)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined
  const date = Date.parse(after)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
