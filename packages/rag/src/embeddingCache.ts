/**
 * An embedding model that remembers its vectors, in a `KeyValueStore` of
 * `@effect/platform`, which has to be installed: a text is embedded once, however often
 * it is indexed.
 *
 * A vector is kept under a hash of the model's name, the purpose and the text, with a
 * checksum: what is damaged is asked for anew. What cannot be read or written is logged
 * as a warning, and the model is asked.
 *
 * @example
 * ```ts
 * import { KeyValueStore } from "@effect/platform"
 * import { EmbeddingModel } from "@heddle/core"
 * import { cached } from "@heddle/rag/embeddingCache"
 * import { Effect } from "effect"
 *
 * const asked: Array<string> = []
 * const model: EmbeddingModel.Service = {
 *   name: "lengths",
 *   embed: (texts) =>
 *     Effect.sync(() => {
 *       asked.push(...texts)
 *       return texts.map((text) => Float32Array.of(text.length))
 *     })
 * }
 * const program = Effect.gen(function* () {
 *   const { embed } = yield* cached(model)
 *   yield* embed(["warp", "weft"], "document")
 *   return yield* embed(["warp", "heddle", "weft"], "document")
 * })
 * const vectors = await Effect.runPromise(Effect.provide(program, KeyValueStore.layerMemory))
 * console.log(vectors.map(([length]) => length), asked)
 * ```
 * ```text
 * [ 4, 6, 4 ] [ 'warp', 'weft', 'heddle' ]
 * ```
 */
import { KeyValueStore } from "@effect/platform/KeyValueStore"
import { EmbeddingModel, Errors } from "@heddle/core"
import { sha256 as digest } from "@noble/hashes/sha2.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { sha256 } from "./internal/hash.ts"

/** Values that are read or written at once. */
const together = { concurrency: 16 } as const

/** The same model, which is asked only for what the store does not have: each text once, all in one request. */
export const cached = (model: EmbeddingModel.Service): Effect.Effect<EmbeddingModel.Service, never, KeyValueStore> =>
  Effect.map(KeyValueStore, (store) => ({
    name: model.name,
    embed: (texts, purpose) =>
      Effect.gen(function* () {
        const keys = new Map(
          texts.map((text) => [text, `embedding.${sha256(JSON.stringify([model.name, purpose, text]))}`])
        )
        const vectors = new Map<string, EmbeddingModel.Vector>()
        yield* Effect.forEach(
          keys,
          ([text, key]) =>
            Effect.map(Effect.catchAll(store.getUint8Array(key), warned(Option.none())), (found) => {
              const vector = Option.isSome(found) ? vectorOf(found.value) : undefined
              if (vector !== undefined) vectors.set(text, vector)
            }),
          { ...together, discard: true }
        )
        const missing = [...keys].filter(([text]) => !vectors.has(text))
        if (missing.length > 0) {
          const made = yield* model.embed(
            missing.map(([text]) => text),
            purpose
          )
          if (made.length !== missing.length) {
            return yield* Effect.fail(
              new Errors.ModelError({
                reason: "InvalidResponse",
                message: `The embedding model "${model.name}" gave ${made.length} vectors for ${missing.length} texts.`
              })
            )
          }
          yield* Effect.forEach(
            missing,
            ([text, key], place) => {
              const vector = made[place]!
              vectors.set(text, vector)
              return Effect.catchAll(store.set(key, bytesOf(vector)), warned(undefined))
            },
            { ...together, discard: true }
          )
        }
        // Each reader has a vector of its own, which it can change.
        return texts.map((text) => vectors.get(text)!.slice())
      })
  }))

/** The embedding model that there is, with a memory. */
export const layer: Layer.Layer<EmbeddingModel.EmbeddingModel, never, EmbeddingModel.EmbeddingModel | KeyValueStore> =
  Layer.effect(EmbeddingModel.EmbeddingModel, Effect.flatMap(EmbeddingModel.EmbeddingModel, cached))

const warned =
  <A>(otherwise: A) =>
  (problem: { readonly message: string }): Effect.Effect<A> =>
    Effect.as(Effect.logWarning(`The cache of embeddings does not answer: ${problem.message}`), otherwise)

// -----------------------------------------------------------------------------
// vectors as bytes
// -----------------------------------------------------------------------------

/** Bytes of the checksum, which stands before the numbers, the lowest byte of each first. */
const sum = 8

const bytesOf = (vector: EmbeddingModel.Vector): Uint8Array => {
  const bytes = new Uint8Array(sum + 4 * vector.length)
  const view = new DataView(bytes.buffer)
  vector.forEach((number, place) => view.setFloat32(sum + 4 * place, number, true))
  bytes.set(digest(bytes.subarray(sum)).subarray(0, sum))
  return bytes
}

const vectorOf = (bytes: Uint8Array): EmbeddingModel.Vector | undefined => {
  if (bytes.length <= sum || (bytes.length - sum) % 4 !== 0) return undefined
  if (
    digest(bytes.subarray(sum))
      .subarray(0, sum)
      .some((byte, place) => byte !== bytes[place])
  )
    return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: (bytes.length - sum) / 4 }, (_, place) => view.getFloat32(sum + 4 * place, true))
}
