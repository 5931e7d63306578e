/**
 * What a retriever may rely on.
 */
import * as Effect from "effect/Effect"
import { RetrievalError } from "../RagErrors.ts"
import type { Query, Service } from "../Retriever.ts"

/** A retriever that never gets to see a query which makes no sense, or has nothing to look for. */
export const checked = (search: Service["search"]): Service => ({
  search: (query) => {
    const problem = problemOf(query)
    if (problem !== undefined) return Effect.fail(new RetrievalError({ reason: "InvalidQuery", message: problem }))
    return query.topK === 0 || query.query.trim() === "" ? Effect.succeed([]) : search(query)
  }
})

const problemOf = ({ minScore, tenant, topK }: Query): string | undefined => {
  if (!(topK === Infinity || (Number.isInteger(topK) && topK >= 0)))
    return `topK: expected a whole number from 0, not ${topK}`
  if (!(minScore >= 0 && minScore <= 1)) return `minScore: expected a number from 0 to 1, not ${minScore}`
  return tenant === "" ? `tenant: expected a name, not ""` : undefined
}
