/**
 * Which words of a query are looked for: one thing for all indexes, so that they find
 * the same with the same scores. Each word costs time, and what a user says may be a
 * whole document.
 */

/** Words that are looked for at the most. */
export const most = 64

/** Words of a query that are counted at the most, from each of its ends. */
const ofEnd = 256

/** The words of a query that are counted. What is asked stands before what it is about, or behind it. */
export const counted = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.length <= 2 * ofEnd ? words : [...words.slice(0, ofEnd), ...words.slice(-ofEnd)]

/** A word that is there as often is common. How much more often it is makes no difference. */
export const common = 200

/**
 * The words to look for of those that were counted: the rarest of them, as they say the
 * most and cost the least, and then those that are not there at all. Of words that are
 * equally rare, the first.
 */
export const rarest = (words: ReadonlyArray<string>, counts: ReadonlyArray<number>): ReadonlyArray<string> =>
  words
    .map((word, i) => ({ word, count: counts[i] === 0 ? Infinity : Math.min(counts[i]!, common) }))
    .toSorted((a, b) => a.count - b.count)
    .slice(0, most)
    .map(({ word }) => word)
