/**
 * What retrieval fails with.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { RetrievalError } from "@heddle/rag/RagErrors"
import * as Effect from "effect/Effect"
import { type DatabaseError, fromCause } from "../../DatabaseError.ts"
import { rescued } from "../rescued.ts"

export const failure = (reason: RetrievalError["reason"], message: string, cause?: unknown): RetrievalError =>
  new RetrievalError({ reason, message, ...(cause !== undefined && { cause }) })

/** With the errors of retrieval. */
export const retrieval = <A>(
  effect: Effect.Effect<A, SqlError | DatabaseError | RetrievalError>
): Effect.Effect<A, RetrievalError> =>
  Effect.mapError(rescued(effect), (error) => {
    if (error._tag === "RetrievalError") return error
    const cause = fromCause("The database", error)
    const isDamaged = cause.reason === "Damaged" || cause.reason === "NotADatabase"
    return failure(isDamaged ? "Damaged" : "Unavailable", cause.message, cause)
  })
