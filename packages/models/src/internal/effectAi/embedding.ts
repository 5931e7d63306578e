/**
 * Embedding models of @effect/ai as ours, and back.
 */
import * as AiEmbeddingModel from "@effect/ai/EmbeddingModel"
import type { EmbeddingModel } from "@heddle/core"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { failures, toAiError } from "./errors.ts"

/** What theirs does not say of itself. */
export interface Options {
  readonly name: string
  /** The key that the provider was given, for one: it is in no error then. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Theirs as ours. */
export const fromTheirs = (model: AiEmbeddingModel.Service, { name, secrets }: Options): EmbeddingModel.Service => {
  const { failWith } = failures(secrets)
  return {
    name,
    embed: (texts) =>
      model.embedMany(texts).pipe(
        Effect.map((vectors) => vectors.map((vector) => Float32Array.from(vector))),
        Effect.catchAll(failWith)
      )
  }
}

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
