/**
 * Gives passages other scores.
 */
import { whole } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import { RetrievalError } from "../RagErrors.ts"
import type { Passage, RerankOptions, Service } from "../Retriever.ts"

/** A search whose passages are scored anew. */
export const rank = <E>(self: Service, { candidates = 50, score }: RerankOptions<E>): Service["search"] => {
  whole("candidates", candidates, 1)
  return (query) =>
    Effect.flatMap(
      self.search({ ...query, topK: Math.max(query.topK, candidates), minScore: 0 }),
      (passages): Effect.Effect<ReadonlyArray<Passage>, RetrievalError> =>
        passages.length === 0
          ? Effect.succeed([])
          : score(query.query, passages).pipe(
              Effect.mapError((cause) => failed(`what scores them failed (${String(cause)})`, cause)),
              Effect.filterOrFail(
                (scores) => scores.length === passages.length && scores.every((score) => score >= 0 && score <= 1),
                (scores) => failed(`${passages.length} scores from 0 to 1 were expected, but were ${shown(scores)}`)
              ),
              Effect.map((scores) =>
                passages
                  .map((passage, i) => ({ ...passage, score: scores[i]! }))
                  .filter(({ score }) => score >= query.minScore)
                  .toSorted((a, b) => b.score - a.score)
                  .slice(0, query.topK)
              )
            )
    )
}

const failed = (why: string, cause?: unknown) =>
  new RetrievalError({
    reason: "Ranking",
    message: `The passages could not be ranked: ${why}.`,
    ...(cause !== undefined && { cause })
  })

const shown = (scores: ReadonlyArray<number>): string =>
  `${scores.length}${scores.length === 0 ? "" : `, from ${Math.min(...scores)} to ${Math.max(...scores)}`}`
