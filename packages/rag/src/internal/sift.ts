/**
 * Looks for passages that a predicate lets through.
 */
import { whole } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import type { RetrievalError } from "../RagErrors.ts"
import type { FilterOptions, Passage, Query, Service } from "../Retriever.ts"

/** How many times as many are asked for as the time before. */
const growth = 4

/** A search that finds nothing which the predicate refuses. */
export const sift = (
  self: Service,
  predicate: (passage: Passage) => boolean,
  { maxCandidates = 1_000 }: FilterOptions
): Service["search"] => {
  whole("maxCandidates", maxCandidates, 1)
  const look = (query: Query, asked: number): Effect.Effect<ReadonlyArray<Passage>, RetrievalError> =>
    Effect.flatMap(self.search({ ...query, topK: asked }), (passages) => {
      const kept = passages.filter(predicate)
      return kept.length >= query.topK || passages.length < asked || asked >= maxCandidates
        ? Effect.succeed(kept.slice(0, query.topK))
        : look(query, Math.min(asked * growth, maxCandidates))
    })
  return (query) => look(query, query.topK)
}
