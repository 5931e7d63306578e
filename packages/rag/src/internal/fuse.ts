/**
 * Makes one list of what several retrievers have found, by reciprocal rank.
 */
import { Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { RetrievalError } from "../RagErrors.ts"
import type { Passage, Query, Service, UnionOptions } from "../Retriever.ts"
import { checked } from "./query.ts"
import { timely } from "./timely.ts"

/** One retriever of all of them. */
export const fuse = (
  retrievers: ReadonlyArray<Service>,
  { candidates = 20, onFailure = "fail", rankConstant = 5, timeout, weights = [] }: UnionOptions
): Service => {
  whole("candidates", candidates, 1)
  if (!(rankConstant >= 0 && rankConstant < Infinity))
    throw new Errors.DefinitionError(`rankConstant is a number from 0, but is ${rankConstant}.`)
  const wrong = weights.find((weight) => !(weight > 0 && weight < Infinity))
  if (wrong !== undefined) throw new Errors.DefinitionError(`A weight is a number above 0, but one is ${wrong}.`)
  if (weights.length > retrievers.length)
    throw new Errors.DefinitionError(`There are ${weights.length} weights for ${retrievers.length} retrievers.`)
  const weighted = retrievers.map((_, i) => weights[i] ?? 1)
  const all = timeout === undefined ? retrievers : retrievers.map(within(timeout))
  if (all.length === 1) return all[0]!
  return checked((query) => {
    const asked = { ...query, topK: Math.max(query.topK, candidates), minScore: 0 }
    return Effect.map(searches(all, asked, onFailure), (lists) => fused(lists, weighted, rankConstant, query))
  })
}

/** The same retriever, which fails if it takes longer. */
const within = (timeout: Duration.DurationInput): ((self: Service) => Service) => {
  const time = Duration.decode(timeout)
  if (Duration.toMillis(time) <= 0) throw new Errors.DefinitionError("timeout is more than 0, but is not.")
  const message = `A retriever of a union took longer than ${Duration.format(time)}.`
  const inTime = timely(time, () => new RetrievalError({ reason: "Timeout", message }))
  return ({ search }) => ({ search: (query) => inTime(search(query)) })
}

const searches = (
  retrievers: ReadonlyArray<Service>,
  query: Query,
  onFailure: "continue" | "fail"
): Effect.Effect<ReadonlyArray<ReadonlyArray<Passage>>, RetrievalError> => {
  const all = { concurrency: "unbounded" } as const
  if (onFailure === "fail") return Effect.forEach(retrievers, ({ search }) => search(query), all)
  return Effect.flatMap(
    Effect.forEach(retrievers, ({ search }) => Effect.either(search(query)), all),
    (results) => {
      const failures = results.filter(Either.isLeft)
      if (failures.length > 0 && failures.length === results.length) return Effect.fail(failures[0]!.left)
      return Effect.as(
        Effect.forEach(failures, ({ left }) => Effect.logWarning("A retriever of several has failed", left)),
        results.map((result) => Either.getOrElse(result, () => []))
      )
    }
  )
}

interface Counted {
  readonly passage: Passage
  count: number
}

const fused = (
  lists: ReadonlyArray<ReadonlyArray<Passage>>,
  weights: ReadonlyArray<number>,
  rankConstant: number,
  { minScore, topK }: Query
): ReadonlyArray<Passage> => {
  const all = new Map<string, Counted>()
  for (const [i, list] of lists.entries()) {
    const once = new Set<string>()
    for (const passage of list) {
      const key = JSON.stringify([passage.source, passage.id])
      if (once.has(key)) continue
      once.add(key)
      const counted = all.get(key) ?? { passage, count: 0 }
      counted.count += weights[i]! / (rankConstant + once.size)
      all.set(key, counted)
    }
  }
  const most = weights.reduce((sum, weight) => sum + weight, 0) / (rankConstant + 1)
  return Array.from(all.values(), ({ count, passage }) => ({ ...passage, score: Math.min(1, count / most) }))
    .filter(({ score }) => score >= minScore)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, topK)
}
