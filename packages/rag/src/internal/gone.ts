/**
 * What is not there any more.
 */
import type { Skipped, SkipReason } from "../Documents.ts"

/** Of these it is known that the document does not say any more what it said. */
const lost: ReadonlySet<SkipReason> = new Set<SkipReason>(["Empty", "Binary", "TooLarge", "Encoding", "Link", "Gone"])

/** What was indexed and is to be removed: what is not there any more, and what was left out and does not say any more what it said. */
export const goneOf = (
  known: Iterable<string>,
  seen: ReadonlySet<string>,
  left: ReadonlyArray<Skipped>
): ReadonlyArray<string> => {
  const reasons = new Map(
    left.filter(({ reason }) => reason !== "Duplicate").map(({ reason, source }) => [source, reason])
  )
  const unread = left.filter(({ reason }) => reason === "Unreadable").map(({ source }) => `${source}/`)
  return [...known].filter((source) => {
    const reason = reasons.get(source)
    if (reason !== undefined) return lost.has(reason)
    return !seen.has(source) && !unread.some((folder) => source.startsWith(folder))
  })
}
