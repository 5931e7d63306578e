/**
 * What BM25 makes of how often words are there: one thing for all indexes, so that
 * they find the same with the same scores.
 */

/** How soon a word that is repeated counts no more, how much a long text is held against it, and what is there for a word to be found at all. */
export const constants = { k: 1.2, b: 0.7, d: 0.5 } as const

/** How much a word counts that so many of all chunks have. */
export const rarity = (all: number, having: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5))

/** How much it counts that a word is there so often, in a text that is so many times as long as the average. */
export const weight = (count: number, length: number): number =>
  constants.d + (count * (constants.k + 1)) / (count + constants.k * (1 - constants.b + constants.b * length))

/** What `weight` never reaches. */
export const most = constants.d + constants.k + 1
