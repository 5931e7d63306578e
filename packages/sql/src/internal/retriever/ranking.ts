/**
 * Which chunks fit a query: by their words, by their vectors, or by both.
 */
import type { Metadata } from "@heddle/rag/Retriever"
import { bm25 } from "@heddle/rag/store"
import { products } from "./products.ts"

/** A collection, as its chunks know it. */
export interface Held {
  readonly name: string
  /** The embedding model of its vectors, and their size. `null` if it has none. */
  readonly model: string | null
  readonly size: number | null
}

/** A chunk, without its text. */
export interface Entry {
  readonly id: number
  readonly chunk: string
  readonly source: string
  readonly metadata: Metadata
  readonly collection: Held
  /** How many words it has, each counted once. */
  readonly words: number
}

/** The chunks of a tenant. */
export interface Chunks {
  readonly entries: ReadonlyArray<Entry>
  /** Where an entry is. */
  readonly places: ReadonlyMap<number, number>
  /** The vectors of all, one after the other, each of length 1. */
  readonly vectors: Float32Array
  /** Where among them that of an entry begins; -1 if it has none, or one without a direction. */
  readonly positions: Int32Array
  readonly averageWords: number
}

/** Whether a filter lets a chunk through. */
export type Accepts = (entry: Entry) => boolean

/** A chunk that fits. */
export interface Hit {
  readonly entry: Entry
  readonly score: number
}

/** The best first; of the same score, by what they are called. */
const ordered = (hits: ReadonlyArray<Hit>): ReadonlyArray<Hit> =>
  hits.toSorted(
    (a, b) =>
      b.score - a.score ||
      compare(a.entry.chunk, b.entry.chunk) ||
      compare(a.entry.collection.name, b.entry.collection.name) ||
      compare(a.entry.source, b.entry.source)
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The best of those whose score is greater than 0, in order. `scores` has one for each entry. */
export const best = (
  entries: ReadonlyArray<Entry>,
  scores: Float64Array,
  count: number,
  least: number
): ReadonlyArray<Hit> => {
  if (count === 0) return []
  // An object for each entry would take longer than everything else, so first the numbers alone are looked at.
  const enough = Math.max(least, lowestOfBest(scores, count))
  const hits: Array<Hit> = []
  for (let place = 0; place < scores.length; place++) {
    const score = scores[place]!
    if (score > 0 && score >= enough) hits.push({ entry: entries[place]!, score })
  }
  // Equal ones at the end were all looked at.
  return ordered(hits).slice(0, count)
}

/** The lowest of the so many highest numbers; 0 if there are no more numbers above it. */
const lowestOfBest = (numbers: Float64Array, count: number): number => {
  if (count >= numbers.length) return 0
  // A heap: none of these is higher than the two that it stands over, at twice its place.
  const highest = new Float64Array(count)
  for (const number of numbers) {
    if (number <= highest[0]!) continue
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below + 1 < count && highest[below + 1]! < highest[below]!) below++
      if (below >= count || highest[below]! >= number) break
      highest[place] = highest[below]!
      place = below
    }
    highest[place] = number
  }
  return highest[0]!
}

// -----------------------------------------------------------------------------
// words
// -----------------------------------------------------------------------------

/** The chunks that have a word, and what it counts in each. */
export interface Postings {
  /** Where among the entries they are. */
  readonly places: Uint32Array
  readonly weights: Float64Array
  /** What it counts at the most. */
  readonly most: number
}

/** Where a word is, of which it is known in which chunks: their ids, as often as they have it. */
export const postings = ({ averageWords, entries, places }: Chunks, ids: ReadonlyArray<number>): Postings => {
  const counts = new Uint32Array(entries.length)
  const having = new Uint32Array(ids.length)
  let n = 0
  for (const id of ids) {
    const place = places.get(id)
    if (place !== undefined && counts[place]!++ === 0) having[n++] = place
  }
  const rarity = bm25.rarity(entries.length, n)
  const weights = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    const place = having[i]!
    weights[i] = rarity * bm25.weight(counts[place]!, entries[place]!.words / averageWords)
  }
  return { places: having.slice(0, n), weights, most: rarity * bm25.most }
}

/**
 * A score for each chunk, 0 if it has no word of the query or is not accepted. It is the
 * share of what a chunk could reach at the most.
 */
export const byWords = ({ entries }: Chunks, words: ReadonlyArray<Postings>, isAccepted: Accepts): Float64Array => {
  const scores = new Float64Array(entries.length)
  let most = 0
  for (const word of words) {
    const { places, weights } = word
    for (let i = 0; i < places.length; i++) scores[places[i]!]! += weights[i]!
    most += word.most
  }
  for (let place = 0; place < scores.length; place++) {
    if (scores[place]! > 0) scores[place] = isAccepted(entries[place]!) ? Math.min(1, scores[place]! / most) : 0
  }
  return scores
}

// -----------------------------------------------------------------------------
// vectors
// -----------------------------------------------------------------------------

/** Whether a vector points anywhere: one of zeros alone has no angle to any other. */
export const hasDirection = (vector: Float32Array): boolean => vector.some((x) => x !== 0)

/**
 * A score for each chunk, from 0 to 2: how much greater than -1 the cosine of the angle
 * between its vector and this one is. It is 0 if it is not greater than `least`, if there
 * is no such angle, or if the chunk is not accepted.
 */
export const byVectors = (
  { entries, positions, vectors }: Chunks,
  vector: Float32Array,
  least: number,
  isAccepted: Accepts
): Float64Array => {
  const scores = new Float64Array(entries.length)
  if (!hasDirection(vector)) return scores
  for (let first = 0; first < scores.length;) {
    const at = positions[first]!
    if (at < 0 || !isAccepted(entries[first]!)) {
      first++
      continue
    }
    // As many at once as there are whose vectors stand one behind the other.
    let count = 1
    while (positions[first + count] === at + count * vector.length && isAccepted(entries[first + count]!)) count++
    const cosines = products(vector, vectors.subarray(at, at + count * vector.length))
    for (let n = 0; n < count; n++) if (cosines[n]! > least) scores[first + n] = 1 + cosines[n]!
    first += count
  }
  return scores
}

/** What chunks have that only happen to be there: the mean of the scores that are not 0. */
export const usual = (scores: Float64Array): number => {
  let sum = 0
  let n = 0
  for (const score of scores) {
    if (score === 0) continue
    sum += score
    n++
  }
  return n === 0 ? 0 : sum / n
}

// -----------------------------------------------------------------------------
// both
// -----------------------------------------------------------------------------

/** A list of chunks, the best first, and how much its order counts. */
export interface Ranked {
  readonly hits: ReadonlyArray<Hit>
  readonly weight: number
  /** The score that says nothing: what a chunk has that only happens to be there. */
  readonly nothing: number
}

/** What makes two scores differ that are the same but for how they were rounded. */
const rounding = 1e-6

/** How little the first ranks differ, as is usual. */
const rankConstant = 60

/** What a list says of the chunk at a place, from 0 to 1, which is for the first. */
type Share = (list: Ranked) => (hit: Hit, rank: number) => number

/**
 * How far up a chunk is, from the score that says nothing to the first. So it does not
 * matter where the scores of a list lie, nor how far apart: the cosines of many models
 * are all close to 1.
 */
const byScore: Share = ({ hits, nothing }) => {
  const first = hits[0]?.score ?? 0
  const range = first - nothing
  return ({ score }) => (range < rounding ? 1 : Math.max(0, 1 - (first - score) / range))
}

/** Reciprocal rank. */
const byRank: Share = () => (_hit, rank) => (rankConstant + 1) / (rankConstant + 1 + rank)

/** One list of several. A score of 1 is that of the first in all. */
export const fused = (lists: ReadonlyArray<Ranked>, by: "scores" | "ranks"): ReadonlyArray<Hit> => {
  const most = lists.reduce((sum, { weight }) => sum + weight, 0)
  const sums = new Map<Entry, number>()
  for (const list of lists) {
    const share = (by === "scores" ? byScore : byRank)(list)
    for (const [rank, hit] of list.hits.entries()) {
      sums.set(hit.entry, (sums.get(hit.entry) ?? 0) + list.weight * share(hit, rank))
    }
  }
  return ordered(Array.from(sums, ([entry, sum]) => ({ entry, score: Math.min(1, sum / most) })))
}
