/**
 * An embedding model that needs no network, no key and no download, for newcomers,
 * examples and tests. It knows no meanings: "car" and "automobile" are strangers to
 * it. Texts stand close together if they have words in common, in whatever form, or
 * words that are written much alike, so it finds what is misspelt.
 *
 * The vector of a text is the sum of those of its words, the ones without a meaning
 * of their own left out. A word that is there often counts for little more than one
 * that is there once, and a long word for more than a short one, as those that say
 * much are mostly long. The vector of a word is made of its stem and of the pieces of
 * it, each hashed to a place and a sign. The same text always gets the same vector.
 *
 * @example
 * ```ts
 * import { OfflineEmbedding } from "@heddle/models"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const texts = ["opening hours", "openning ours", "a walk in the park"]
 *   const [right, misspelt, other] = yield* OfflineEmbedding.make().embed(texts, "document")
 *   const likeness = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)
 *   console.log(likeness(right!, misspelt!) > 0.3, likeness(right!, other!) < 0.2)
 * })
 * await Effect.runPromise(program)
 * ```
 *
 * ```text
 * true true
 * ```
 */
import { EmbeddingModel } from "@heddle/core"
import { stems } from "@heddle/core/words"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

/** Numbers of a vector. */
export const dimensions = 384

/**
 * Makes the model. Its vectors have the length 1, so their product is the cosine. A text
 * without words, such as "???" or an emoji, has no direction: its vector is of zeros
 * alone, and close to nothing. It does not fail.
 */
export const make = (): EmbeddingModel.Service => ({
  name: "heddle-offline-1",
  embed: (texts, _purpose) => Effect.forEach(texts, (text) => Effect.sync(() => embedded(text)))
})

/** The model as a layer. */
export const layer: Layer.Layer<EmbeddingModel.EmbeddingModel> = EmbeddingModel.layer(make())

/** What the pieces of a word count beside its stem. */
const weightOfPieces = 1.5

/** Words that are longer count for no more. */
const longWord = 8

/** How many characters a piece has. */
const pieceLengths = [3, 4] as const

const embedded = (text: string): EmbeddingModel.Vector => {
  const counts = new Map<string, number>()
  for (const stem of stems(text)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  const sums = new Float64Array(dimensions)
  for (const [stem, count] of counts) addWord(sums, stem, (1 + Math.log(count)) * Math.min(stem.length, longWord))
  let squares = 0
  for (const x of sums) squares += x * x
  const length = Math.sqrt(squares)
  // Without words, or where those there are cancel each other out, there is no direction to go by.
  return length === 0 ? new Float32Array(dimensions) : Float32Array.from(sums, (x) => x / length)
}

const addWord = (sums: Float64Array, stem: string, weight: number): void => {
  add(sums, hash(stem, 0, stem.length, 0), weight)
  const word = `^${stem}$`
  const pieces = pieceLengths.reduce((n, length) => n + Math.max(0, word.length - length + 1), 0)
  const each = (weight * weightOfPieces) / Math.sqrt(pieces)
  for (const length of pieceLengths)
    for (let from = 0; from + length <= word.length; from++) add(sums, hash(word, from, from + length, length), each)
}

const add = (sums: Float64Array, hash: number, weight: number): void => {
  sums[(hash >>> 1) % dimensions]! += (hash & 1) === 0 ? weight : -weight
}

/** FNV-1a over the units of a piece of text, its bits mixed once more as its lowest ones are poor. */
const hash = (text: string, from: number, to: number, seed: number): number => {
  let h = 0x811c9dc5 ^ seed
  for (let i = from; i < to; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 0
}
