/**
 * Vectors of an embedding model, of which a collection has but one.
 */
import type { EmbeddingModel } from "@heddle/core"
import type { Collection } from "@heddle/rag/DocumentIndex"
import * as Effect from "effect/Effect"
import type { Row } from "./documentTable.ts"
import { failure } from "./failure.ts"

/** Vectors of length 1, all of one size. */
export const embedded = (
  model: EmbeddingModel.Service,
  texts: ReadonlyArray<string>,
  purpose: EmbeddingModel.Purpose
) =>
  Effect.flatMap(
    Effect.mapError(model.embed(texts, purpose), (cause) =>
      failure("Embedding", `The embedding model "${model.name}" failed: ${cause.message}`, cause)
    ),
    (vectors) => {
      const size = vectors[0]!.length
      return size > 0 && vectors.every((vector) => vector.length === size && vector.every(Number.isFinite))
        ? Effect.succeed(vectors.map(normalized))
        : Effect.fail(
            failure(
              "Embedding",
              `The embedding model "${model.name}" gave a vector that is no vector: all have to be of one size, of finite numbers.`
            )
          )
    }
  )

/** The vector of length 1 of the same direction. One without a direction stays as it is. */
const normalized = (vector: Float32Array): Float32Array => {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
  return length === 0 ? vector : vector.map((x) => x / length)
}

const wayOut =
  "Clear the collection and index it anew, or use the embedding model that it was indexed with. A search can leave it out by a filter that names another collection."

/** Fails if a collection was indexed with another model. */
export const sameModel = (of: Pick<Collection, "name">, row: Pick<Row, "model">, model: string | undefined) => {
  const called = (name: string | null | undefined) =>
    typeof name === "string" ? `with the embedding model "${name}"` : "without an embedding model"
  if (row.model === (model ?? null)) return Effect.void
  const message = `The collection "${of.name}" was indexed ${called(row.model)}, and is used ${called(model)}. ${wayOut}`
  return Effect.fail(failure("OtherEmbedding", message))
}

/** Fails if a collection has vectors of another size. */
export const sameSize = (of: Pick<Collection, "name">, row: Pick<Row, "size">, size: number | undefined) => {
  if (row.size === null || size === undefined || row.size === size) return Effect.void
  const message = `The collection "${of.name}" has vectors of ${row.size} numbers, and the embedding model now gives ${size}. ${wayOut}`
  return Effect.fail(failure("OtherEmbedding", message))
}
