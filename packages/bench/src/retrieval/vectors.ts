/**
 * Finds passages by their vectors alone, all of which it looks at: what the vectors
 * of a hybrid retriever are worth without the words beside them.
 */
import type { EmbeddingModel, Errors } from "@heddle/core"
import { type DocumentIndex, RagErrors, type Retriever } from "@heddle/rag"
import * as Effect from "effect/Effect"

/** An index of documents, for whoever asks; scores are the cosine, and 0 where that is negative. */
export const make = (
  model: EmbeddingModel.Service,
  documents: ReadonlyArray<DocumentIndex.IndexedDocument>
): Effect.Effect<Retriever.Service, Errors.ModelError> => {
  const all = documents.flatMap(({ chunks, source }) => chunks.map((chunk) => ({ ...chunk, source })))
  return Effect.map(
    model.embed(
      all.map(({ context, text }) => (context === "" ? text : `${context}\n${text}`)),
      "document"
    ),
    (vectors) => ({
      search: ({ minScore, query, topK }) =>
        model.embed([query], "query").pipe(
          Effect.mapError(
            (cause) => new RagErrors.RetrievalError({ reason: "Embedding", message: cause.message, cause })
          ),
          Effect.map(([asked]) =>
            all
              .map(({ id, metadata, source, text }, i): Retriever.Passage => {
                const score = Math.min(1, Math.max(0, cosine(asked!, vectors[i]!)))
                return { id, text, source, score, metadata }
              })
              .filter(({ score }) => score >= minScore)
              .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
              .slice(0, topK)
          )
        )
    })
  )
}

/** Of vectors of the length 1. */
const cosine = (a: EmbeddingModel.Vector, b: EmbeddingModel.Vector): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
