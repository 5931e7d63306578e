/**
 * The port to a model that turns texts into vectors which stand close together
 * where the texts mean the like.
 *
 * @example
 * ```ts
 * import { EmbeddingModel } from "@heddle/core"
 * import { Effect } from "effect"
 *
 * // How often a text says each of these words.
 * const words = ["order", "stream", "memory"]
 * const counting = EmbeddingModel.layer({
 *   name: "counting",
 *   embed: (texts) =>
 *     Effect.succeed(texts.map((text) => Float32Array.from(words, (word) => text.split(word).length - 1)))
 * })
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ModelError } from "./Errors.ts"
import { whole } from "./store.ts"

/** What a text is embedded for. Some models have other vectors for questions than for what may answer them. */
export type Purpose = "document" | "query"

/** A vector, of as many numbers as all others of its model. */
export type Vector = Float32Array

/** What an embedding model is. */
export interface Service {
  /** Which model: vectors can be compared only with those of the same one. */
  readonly name: string
  /** Gives one vector for each text, in their order. */
  readonly embed: (texts: ReadonlyArray<string>, purpose: Purpose) => Effect.Effect<ReadonlyArray<Vector>, ModelError>
}

/** An embedding model. */
export class EmbeddingModel extends Context.Tag("@heddle/core/EmbeddingModel")<EmbeddingModel, Service>() {}

/** A layer with an embedding model. */
export const layer = (service: Service): Layer.Layer<EmbeddingModel> => Layer.succeed(EmbeddingModel, service)

/** How a model is asked for many texts. */
export interface BatchOptions {
  /** Texts of one request. @default 96 */
  readonly maxTexts?: number
  /** Requests at once. @default 4 */
  readonly concurrency?: number
}

/**
 * The same model, asked for many texts in several requests. Fails with an
 * `InvalidResponse` if it gives more or fewer vectors than texts. Throws a
 * `DefinitionError` for options that are no whole numbers from 1 up, or `Infinity`.
 */
export const batched = (self: Service, options: BatchOptions = {}): Service => {
  const concurrency = whole("concurrency", options.concurrency ?? 4, 1)
  // A product with `Infinity` may be no number.
  const maxTexts = Math.min(whole("maxTexts", options.maxTexts ?? 96, 1), Number.MAX_SAFE_INTEGER)
  const split = (texts: ReadonlyArray<string>) =>
    Array.from({ length: Math.ceil(texts.length / maxTexts) }, (_, i) => texts.slice(i * maxTexts, (i + 1) * maxTexts))
  return {
    name: self.name,
    embed: (texts, purpose) =>
      Effect.map(
        Effect.forEach(
          split(texts),
          (batch) =>
            Effect.filterOrFail(
              self.embed(batch, purpose),
              (vectors) => vectors.length === batch.length,
              (vectors) =>
                new ModelError({
                  reason: "InvalidResponse",
                  message: `The embedding model "${self.name}" gave ${vectors.length} vectors for ${batch.length} texts.`
                })
            ),
          { concurrency }
        ),
        (batches) => batches.flat()
      )
  }
}
