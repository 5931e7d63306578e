/**
 * An embedding model that remembers its vectors, in a `KeyValueStore` of
 * `@effect/platform`, which has to be installed: a text is embedded once, however often
 * it is indexed.
 *
 * A vector is kept under a hash of the model's name, the purpose and the text, with a
 * checksum: what is damaged is asked for anew. So is what has another size than the
 * vectors that the model gave last: one name may come to stand for other vectors. What
 * cannot be read or written is logged as a warning, and the model is asked.
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
  Effect.map(KeyValueStore, (store) => {
    const sizeKey = `embedding.size.${sha256(model.name)}`
    /** Of the vectors that the model gave last. */
    let size: number | undefined
    const knownSize = Effect.suspend(() =>
      size === undefined
        ? Effect.map(Effect.catchAll(store.get(sizeKey), warned(Option.none())), (found) =>
            Option.isSome(found) && /^\d{1,9}$/.test(found.value) ? Number(found.value) : undefined
          )
        : Effect.succeed(size)
    )

    /** What the store has of these, of one size. */
    const kept = (keys: ReadonlyMap<string, string>) =>
      Effect.gen(function* () {
        const wanted = yield* knownSize
        const found = yield* Effect.forEach(
          keys,
          ([text, key]) =>
            Effect.map(Effect.catchAll(store.getUint8Array(key), warned(Option.none())), (bytes) => {
              return [text, Option.isSome(bytes) ? vectorOf(bytes.value) : undefined] as const
            }),
          together
        )
        const first = wanted ?? found.find(([, vector]) => vector !== undefined)?.[1]?.length
        return new Map(
          found.flatMap(([text, vector]) =>
            vector !== undefined && vector.length === first ? [[text, vector] as const] : []
          )
        )
      })

    /** What the model gives for these, which is kept. */
    const made = (texts: ReadonlyArray<string>, keys: ReadonlyMap<string, string>, purpose: EmbeddingModel.Purpose) =>
      Effect.gen(function* () {
        const vectors = yield* model.embed(texts, purpose)
        if (vectors.length !== texts.length) {
          return yield* Effect.fail(
            new Errors.ModelError({
              reason: "InvalidResponse",
              message: `The embedding model "${model.name}" gave ${vectors.length} vectors for ${texts.length} texts.`
            })
          )
        }
        const { length } = vectors[0]!
        if (length !== size) {
          size = length
          yield* Effect.catchAll(store.set(sizeKey, String(length)), warned(undefined))
        }
        yield* Effect.forEach(
          texts,
          (text, place) => Effect.catchAll(store.set(keys.get(text)!, bytesOf(vectors[place]!)), warned(undefined)),
          { ...together, discard: true }
        )
        return new Map(texts.map((text, place) => [text, vectors[place]!]))
      })

    return {
      name: model.name,
      embed: (texts, purpose) =>
        Effect.gen(function* () {
          const keys = new Map(
            texts.map((text) => [text, `embedding.${sha256(JSON.stringify([model.name, purpose, text]))}`])
          )
          const old = yield* kept(keys)
          const missing = [...keys.keys()].filter((text) => !old.has(text))
          const fresh =
            missing.length === 0 ? new Map<string, EmbeddingModel.Vector>() : yield* made(missing, keys, purpose)
          const [one] = fresh.values()
          // Vectors of two sizes say nothing of each other.
          const other =
            one === undefined ? [] : [...old].flatMap(([text, { length }]) => (length === one.length ? [] : [text]))
          const again = other.length === 0 ? [] : yield* made(other, keys, purpose)
          const vectors = new Map([...old, ...fresh, ...again])
          // Each reader has a vector of its own, which it can change.
          return texts.map((text) => vectors.get(text)!.slice())
        })
    }
  })

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
