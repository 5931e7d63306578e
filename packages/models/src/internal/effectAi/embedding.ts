/**
 * Embedding models of @effect/ai as ours, and back.
 */
import * as AiEmbeddingModel from "@effect/ai/EmbeddingModel"
import type { EmbeddingModel } from "@heddle/core"
import * as Effect from "effect/Effect"
import { failWith, toAiError } from "./errors.ts"

/** Theirs as ours. */
export const fromTheirs = (model: AiEmbeddingModel.Service, name: string): EmbeddingModel.Service => ({
  name,
  embed: (texts) =>
    model.embedMany(texts).pipe(
      Effect.map((vectors) => vectors.map((vector) => Float32Array.from(vector))),
      Effect.catchAll(failWith)
    )
})

/** Ours as theirs, for one purpose. */
export const toTheirs = (
  model: EmbeddingModel.Service,
  purpose: EmbeddingModel.Purpose
): Effect.Effect<AiEmbeddingModel.Service> =>
  AiEmbeddingModel.make({
    embedMany: (texts) =>
      Effect.mapBoth(model.embed(texts, purpose), {
        onFailure: (error) => toAiError("embedMany", error),
        onSuccess: (vectors) => vectors.map((vector, index) => ({ index, embeddings: Array.from(vector) }))
      })
  })
