/**
 * Finding passages.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { terms } from "@heddle/core/words"
import type { RetrievalError } from "@heddle/rag/RagErrors"
import type { Filter, Passage, Query, Service as Search } from "@heddle/rag/Retriever"
import { accepts, queryTerms, timely } from "@heddle/rag/store"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { DatabaseError } from "../../DatabaseError.ts"
import type { Database } from "../database.ts"
import { chunkTable } from "./chunkTable.ts"
import { embedded, sameModel, sameSize } from "./embedding.ts"
import { failure, retrieval } from "./failure.ts"
import { inMemory } from "./inMemory.ts"
import type { Loaded } from "./loaded.ts"
import type { Embedding } from "./options.ts"
import { type Accepts, best, byVectors, byWords, fused, type Hit, type Postings, postings, usual } from "./ranking.ts"

/** How often a search begins anew when others write, before it keeps them from it. */
const maxTries = 5

export const makeSearch = ({ reading, sql }: Database, embedding: Embedding | undefined): Search["search"] => {
  const table = chunkTable(sql)
  const usesVectors = embedding !== undefined && embedding.weights.vectors > 0
  const { known, load } = inMemory(table, usesVectors)

  /** Which words of a query are looked for. */
  const wantedOf = (tenant: number, words: ReadonlyArray<string>) => {
    if (words.length <= queryTerms.most) return Effect.succeed(words)
    const counted = queryTerms.counted(words)
    return Effect.map(table.count(tenant, counted), (counts) => queryTerms.rarest(counted, counts))
  }

  /** Gives nothing if somebody has written in the meantime, so that what was read does not fit together. */
  const tried = Effect.fnUntraced(function* (
    query: Query,
    words: ReadonlyArray<string>,
    vector: Float32Array | undefined
  ) {
    const chunks = yield* known(query.tenant)
    if (chunks === undefined) return []
    const wanted = yield* wantedOf(chunks.tenant, words)
    const where = new Map(wanted.map((word) => [word, chunks.words.get(word)]))
    const { found, revision } = yield* table.find(
      chunks.tenant,
      wanted.filter((word) => where.get(word) === undefined)
    )
    if (revision !== chunks.revision) {
      yield* load(query.tenant)
      return undefined
    }
    for (const [word, ids] of found) {
      const made = postings(chunks, ids)
      where.set(word, made)
      chunks.words.set(word, made)
    }
    if (vector !== undefined) yield* comparable(chunks, query.filter, vector, embedding!.model.name)
    const hits = ranked(
      chunks,
      Array.from(where.values(), (made) => made!),
      query,
      vector,
      embedding
    )
    if (hits.length === 0) return []
    const texts = yield* table.texts(hits.map(({ entry }) => entry.id))
    return texts.size < hits.length
      ? undefined
      : hits.map(({ entry: { chunk, id, metadata, source }, score }): Passage => {
          // Others are given the same metadata, so each has a copy.
          return { id: chunk, text: texts.get(id)!, source, score, metadata: { ...metadata } }
        })
  })

  return (query) => {
    const words = embedding?.weights.words === 0 ? [] : terms(query.query)
    const searched = (vector: Float32Array | undefined) => {
      // By words alone where that is how it goes on.
      const wanted = vector === undefined ? terms(query.query) : words
      const again = (left: number): Effect.Effect<ReadonlyArray<Passage>, SqlError | DatabaseError | RetrievalError> =>
        Effect.flatMap(
          left > 0 ? tried(query, wanted, vector) : sql.withTransaction(tried(query, wanted, vector)),
          (found) => (found === undefined ? again(left - 1) : Effect.succeed(found))
        )
      return retrieval(reading(again(maxTries)))
    }
    if (!usesVectors) return searched(undefined)
    const asked = inTime(
      Effect.map(embedded(embedding.model, [query.query], "query"), ([vector]) => vector),
      embedding
    )
    return Effect.flatMap(
      embedding.onEmbeddingFailure === "fail"
        ? asked
        : Effect.catchAll(asked, ({ message }) =>
            Effect.as(Effect.logWarning(`Passages are found by their words alone. ${message}`), undefined)
          ),
      searched
    )
  }
}

/** Fails if the query is not embedded in the time that there is. */
const inTime = <A>(
  embedded: Effect.Effect<A, RetrievalError>,
  { embeddingTimeout, model }: Embedding
): Effect.Effect<A, RetrievalError> => {
  if (embeddingTimeout === undefined) return embedded
  const message = `The embedding model "${model.name}" took longer than ${Duration.format(embeddingTimeout)} for the query.`
  return timely(embeddingTimeout, () => failure("Timeout", message))(embedded)
}

/** Fails if a collection that is searched has other vectors than the query. */
const comparable = (
  { collections }: Loaded,
  filter: Filter | undefined,
  { length }: Float32Array,
  model: string
): Effect.Effect<void, RetrievalError> =>
  Effect.forEach(
    collections.filter(({ name }) => filter?.collection === undefined || name === filter.collection),
    (held) => Effect.zipRight(sameModel(held, held, model), sameSize(held, held, length)),
    { discard: true }
  )

const ranked = (
  chunks: Loaded,
  found: ReadonlyArray<Postings>,
  { filter, minScore, topK }: Query,
  vector: Float32Array | undefined,
  embedding: Embedding | undefined
): ReadonlyArray<Hit> => {
  const isAccepted = accepting(filter)
  const words = byWords(chunks, found, isAccepted)
  if (vector === undefined) return best(chunks.entries, words, topK, minScore)
  const { candidates, fusion, minSimilarity, weights } = embedding!
  const count = Math.max(candidates, topK)
  const vectors = byVectors(chunks, vector, minSimilarity, isAccepted)
  const lists = [
    { hits: best(chunks.entries, words, count, 0), weight: weights.words, nothing: 0 },
    { hits: best(chunks.entries, vectors, count, 0), weight: weights.vectors, nothing: usual(vectors) }
  ]
  return fused(
    lists.filter(({ weight }) => weight > 0),
    fusion
  )
    .filter(({ score }) => score >= minScore)
    .slice(0, topK)
}

/** Which chunks a filter lets through. A source is looked at once. */
const accepting = (filter: Filter | undefined): Accepts => {
  if (filter === undefined) return () => true
  const { sources, ...others } = filter
  const isOther = accepts(others)
  const isSource = accepts(sources === undefined ? {} : { sources })
  const known = new Map<string, boolean>()
  return ({ collection: { name: collection }, metadata, source }) => {
    if (!isOther({ collection, source, metadata })) return false
    const before = known.get(source)
    if (before !== undefined) return before
    const is = isSource({ collection, source, metadata })
    known.set(source, is)
    return is
  }
}
