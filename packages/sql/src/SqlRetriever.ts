/**
 * An index of documents in one file, for `@heddle/rag`: SQLite as `@heddle/sql/libsql`
 * opens it, which finds words by FTS5. Postgres is refused.
 *
 * `layer` finds passages by their words and by their meaning, for which it needs an
 * `EmbeddingModel`. `layerLexical` needs none, and finds them by their words alone.
 *
 * What is searched is kept in memory but for the texts, of the tenants that were asked
 * last: about 500 bytes for a chunk, and 4 bytes for each number of its vector. So
 * 10,000 chunks with 384 numbers take some 20 MB. It is read at the first search, and
 * what has changed, by whomever, at the next one.
 *
 * @example
 * ```ts no-run
 * import { EmbeddingModel } from "@heddle/core"
 * import { SqlRetriever } from "@heddle/sql"
 * import * as libsql from "@heddle/sql/libsql"
 * import { Layer } from "effect"
 *
 * declare const embeddings: Layer.Layer<EmbeddingModel.EmbeddingModel>
 *
 * const file = libsql.layer({ filename: "data/heddle.db" })
 * const byWordsAndMeaning = SqlRetriever.layer().pipe(Layer.provide([embeddings, file]))
 * const byWords = SqlRetriever.layerLexical.pipe(Layer.provide(file))
 * ```
 */
import { SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { EmbeddingModel, Errors } from "@heddle/core"
import { RecencyMap, whole } from "@heddle/core/store"
import { stems, terms } from "@heddle/core/words"
import { type Collection, DocumentIndex, type IndexedDocument, type Service as Index } from "@heddle/rag/DocumentIndex"
import { RetrievalError } from "@heddle/rag/RagErrors"
import { type Filter, type Passage, type Query, Retriever, type Service as Search } from "@heddle/rag/Retriever"
import { accepts, checked } from "@heddle/rag/store"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { DatabaseError, fromCause } from "./DatabaseError.ts"
import { documentTable, type Loaded, type NewDocument, type Row } from "./internal/documentTable.ts"
import { type Accepts, best, byVectors, byWords, fused, type Hit, normalized, usual } from "./internal/ranking.ts"
import { rescued } from "./internal/rescued.ts"
import { upToDate } from "./internal/tables.ts"

/** How words and meaning are weighed against each other. */
export interface Options {
  /**
   * How much the order by words and the order by meaning count; what is not said counts
   * 1. With a weight of 0 the order is not looked at.
   */
  readonly weights?: { readonly words?: number; readonly vectors?: number }
  /**
   * What of the two orders is put together: how far up the scores are, or the reciprocal
   * ranks, with the constant 60. @default "scores"
   */
  readonly fusion?: "scores" | "ranks"
  /** How many of the best of each order are looked at; as many as are asked for at the least. @default 100 */
  readonly candidates?: number
  /** A passage whose meaning is no closer is not found by it: the cosine between the vectors, from -1 to 1. @default 0 */
  readonly minSimilarity?: number
  /**
   * What happens when the query cannot be embedded: the search fails with the reason
   * `Embedding`, or goes on by the words alone, as `layerLexical` does, with a warning
   * in the log. @default "fail"
   */
  readonly onEmbeddingFailure?: "fail" | "lexical"
  /** How the model is asked for the vectors of many chunks. */
  readonly batch?: EmbeddingModel.BatchOptions
}

/**
 * By words and by meaning. A score says how far up a passage is in both: by words, from
 * none to the best; by meaning, from the mean of all to the closest. So 1 is the first in
 * both, and 0.5 the first in one that is not in the other, where both weigh the same.
 *
 * A collection has the vectors of one embedding model. With another one, or with one
 * whose vectors have another size, indexing and searching fail with the reason
 * `OtherEmbedding`, and so they do where a collection was indexed without vectors: it
 * has to be cleared, and indexed anew.
 *
 * Fails with the reason `Newer` if a newer version of this package has written to the
 * file, and with `Unsupported` if the database is not SQLite. Throws a `DefinitionError`
 * if the options make no sense.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<DocumentIndex | Retriever, DatabaseError, SqlClient | EmbeddingModel.EmbeddingModel> => {
  const { batch, ...embedding } = settled(options)
  return Layer.effectContext(
    Effect.flatMap(EmbeddingModel.EmbeddingModel, (model) =>
      services({ ...embedding, model: EmbeddingModel.batched(model, batch) })
    )
  )
}

/**
 * By words alone, without an embedding model. A score is what it is in `LexicalIndex` of
 * `@heddle/rag`: the share of what a passage could reach at the most. Collections that
 * have vectors can be searched, and not be added to.
 *
 * Fails like `layer`.
 */
export const layerLexical: Layer.Layer<DocumentIndex | Retriever, DatabaseError, SqlClient> = Layer.effectContext(
  Effect.suspend(() => services(undefined))
)

interface Settled {
  readonly weights: { readonly words: number; readonly vectors: number }
  readonly fusion: "scores" | "ranks"
  readonly candidates: number
  readonly minSimilarity: number
  readonly onEmbeddingFailure: "fail" | "lexical"
}

interface Embedding extends Settled {
  readonly model: EmbeddingModel.Service
}

const settled = ({
  batch = {},
  candidates = 100,
  fusion = "scores",
  minSimilarity = 0,
  onEmbeddingFailure = "fail",
  weights
}: Options): Settled & { readonly batch: EmbeddingModel.BatchOptions } => {
  const { vectors = 1, words = 1 } = weights ?? {}
  if (![vectors, words].every((weight) => weight >= 0 && weight < Infinity) || vectors + words === 0) {
    throw new Errors.DefinitionError(
      `weights are numbers from 0 up, not both 0, but are ${words} for words and ${vectors} for vectors.`
    )
  }
  if (!(minSimilarity >= -1 && minSimilarity <= 1)) {
    throw new Errors.DefinitionError(`minSimilarity is a number from -1 to 1, but is ${minSimilarity}.`)
  }
  if (fusion !== "scores" && fusion !== "ranks") {
    throw new Errors.DefinitionError(`fusion is "scores" or "ranks", but is ${JSON.stringify(fusion)}.`)
  }
  if (onEmbeddingFailure !== "fail" && onEmbeddingFailure !== "lexical") {
    throw new Errors.DefinitionError(
      `onEmbeddingFailure is "fail" or "lexical", but is ${JSON.stringify(onEmbeddingFailure)}.`
    )
  }
  return {
    weights: { words, vectors },
    fusion,
    candidates: whole("candidates", candidates, 1),
    minSimilarity,
    onEmbeddingFailure,
    batch: {
      ...(batch.maxTexts !== undefined && { maxTexts: whole("batch.maxTexts", batch.maxTexts, 1) }),
      ...(batch.concurrency !== undefined && { concurrency: whole("batch.concurrency", batch.concurrency, 1) })
    }
  }
}

/** Tenants whose chunks are kept in memory. */
const maxTenants = 32

/** How often a search begins anew when others write, before it keeps them from it. */
const maxTries = 5

const services = (embedding: Embedding | undefined) =>
  Effect.gen(function* () {
    // The names of columns are ours, whatever the client does to those of others.
    const sql = (yield* SqlClient).withoutTransforms()
    if (!sql.onDialectOrElse({ sqlite: () => true, orElse: () => false })) {
      const message =
        "SqlRetriever finds words by FTS5, which only SQLite has. Give it a file of its own, by the layer of @heddle/sql/libsql."
      return yield* new DatabaseError({ reason: "Unsupported", message })
    }
    yield* upToDate(sql)
    const index = makeIndex(sql, embedding?.model)
    return Context.make(DocumentIndex, index).pipe(Context.add(Retriever, checked(makeSearch(sql, embedding))))
  })

// -----------------------------------------------------------------------------
// indexing
// -----------------------------------------------------------------------------

const makeIndex = (sql: SqlClient, model: EmbeddingModel.Service | undefined): Index => {
  const table = documentTable(sql)
  /** Changes a collection if there is such a one. */
  const changeKnown = (of: Collection, change: (row: Row) => Effect.Effect<boolean, SqlError>) =>
    Effect.gen(function* () {
      const row = yield* table.collection(of)
      if (row !== undefined && (yield* change(row))) yield* table.change(of.tenant)
    }).pipe(sql.withTransaction, retrieval)
  return {
    documents: (of) => retrieval(table.documents(of)),
    put: (of, documents) =>
      documents.length === 0
        ? Effect.void
        : Effect.gen(function* () {
            const known = yield* table.collection(of)
            // Better to know before the model is asked for thousands of vectors.
            if (known !== undefined) yield* sameModel(of, known, model?.name)
            const written = yield* prepared(documents, model)
            const size = written.flatMap(({ chunks }) => chunks.map(({ vector }) => vector?.length))[0]
            yield* sql.withTransaction(
              Effect.gen(function* () {
                const tenant = yield* table.change(of.tenant)
                const row = yield* table.begin(tenant, of, { model: model?.name ?? null, size: size ?? null })
                yield* sameModel(of, row, model?.name)
                yield* sameSize(of, row, size)
                yield* table.write(tenant, row, written)
              })
            )
          }).pipe(retrieval),
    remove: (of, sources) => changeKnown(of, ({ id }) => table.remove(id, sources)),
    clear: (of) => changeKnown(of, ({ id }) => Effect.as(table.clear(id), true))
  }
}

/** The documents with their words and vectors, the last of those that have one source. */
const prepared = (documents: ReadonlyArray<IndexedDocument>, model: EmbeddingModel.Service | undefined) =>
  Effect.gen(function* () {
    const all = Array.from(new Map(documents.map((document) => [document.source, document])).values())
    const texts = all.flatMap(({ chunks }) =>
      chunks.map(({ context, text }) => (context === "" ? text : `${context}\n${text}`))
    )
    const vectors = model === undefined || texts.length === 0 ? [] : yield* embedded(model, texts, "document")
    let n = 0
    return yield* Effect.forEach(all, ({ chunks, hash, source }) =>
      // Between documents others have their turn.
      Effect.sync((): NewDocument => {
        const written = chunks.map((chunk) => ({ ...chunk, words: stems(texts[n]!), vector: vectors[n++] }))
        return { source, hash, chunks: written }
      })
    )
  })

/** Vectors of length 1, all of one size. */
const embedded = (model: EmbeddingModel.Service, texts: ReadonlyArray<string>, purpose: EmbeddingModel.Purpose) =>
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

// -----------------------------------------------------------------------------
// one model for a collection
// -----------------------------------------------------------------------------

const wayOut = "Clear the collection and index it anew, or use the embedding model that it was indexed with."

const sameModel = (of: Pick<Collection, "name">, row: Pick<Row, "model">, model: string | undefined) => {
  const called = (name: string | null | undefined) =>
    typeof name === "string" ? `with the embedding model "${name}"` : "without an embedding model"
  if (row.model === (model ?? null)) return Effect.void
  const message = `The collection "${of.name}" was indexed ${called(row.model)}, and is used ${called(model)}. ${wayOut}`
  return Effect.fail(failure("OtherEmbedding", message))
}

const sameSize = (of: Pick<Collection, "name">, row: Pick<Row, "size">, size: number | undefined) => {
  if (row.size === null || size === undefined || row.size === size) return Effect.void
  const message = `The collection "${of.name}" has vectors of ${row.size} numbers, and the embedding model now gives ${size}. ${wayOut}`
  return Effect.fail(failure("OtherEmbedding", message))
}

// -----------------------------------------------------------------------------
// searching
// -----------------------------------------------------------------------------

const makeSearch = (sql: SqlClient, embedding: Embedding | undefined): Search["search"] => {
  const table = documentTable(sql)
  const usesVectors = embedding !== undefined && embedding.weights.vectors > 0
  const tenants = new RecencyMap<Loaded>()

  /** What is stored of a tenant, of which something older may be in memory. */
  const load = (tenant: string) =>
    Effect.flatMap(Effect.serviceOption(TransactionConnection), (transaction) =>
      Option.isSome(transaction)
        ? // What a transaction has written may be undone. So nobody else gets it, and it has nothing of others.
          table.load(tenant, undefined, usesVectors)
        : Effect.tap(table.load(tenant, tenants.get(tenant), usesVectors), (chunks) => {
            if (chunks === undefined) return
            tenants.set(tenant, chunks)
            if (tenants.size > maxTenants) tenants.delete(tenants.oldest!)
          })
    )

  const known = (tenant: string) =>
    Effect.flatMap(Effect.serviceOption(TransactionConnection), (transaction) => {
      const chunks = Option.isSome(transaction) ? undefined : tenants.use(tenant)
      return chunks === undefined ? load(tenant) : Effect.succeed(chunks)
    })

  /** Gives nothing if somebody has written in the meantime, so that what was read does not fit together. */
  const tried = (query: Query, words: ReadonlyArray<string>, vector: Float32Array | undefined) =>
    Effect.gen(function* () {
      let chunks = yield* known(query.tenant)
      if (chunks === undefined) return []
      const { found, revision } = yield* table.find(chunks.tenant, words)
      if (revision !== chunks.revision) {
        chunks = yield* load(query.tenant)
        if (chunks?.revision !== revision) return undefined
      }
      if (vector !== undefined) yield* comparable(chunks, query.filter, vector, embedding!.model.name)
      const hits = ranked(chunks, found, query, vector, embedding)
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
      return retrieval(again(maxTries))
    }
    if (!usesVectors) return searched(undefined)
    const asked = Effect.map(embedded(embedding.model, [query.query], "query"), ([vector]) => vector)
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

/** Fails if a collection that is searched has other vectors than the query. */
const comparable = (
  { entries }: Loaded,
  filter: Filter | undefined,
  { length }: Float32Array,
  model: string
): Effect.Effect<void, RetrievalError> => {
  const collections = new Set(entries.map(({ collection }) => collection))
  return Effect.forEach(
    Array.from(collections).filter(({ name }) => filter?.collection === undefined || name === filter.collection),
    (held) => Effect.zipRight(sameModel(held, held, model), sameSize(held, held, length)),
    { discard: true }
  )
}

const ranked = (
  chunks: Loaded,
  found: ReadonlyArray<ReadonlyArray<number>>,
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

// -----------------------------------------------------------------------------
// errors
// -----------------------------------------------------------------------------

const failure = (reason: RetrievalError["reason"], message: string, cause?: unknown): RetrievalError =>
  new RetrievalError({ reason, message, ...(cause !== undefined && { cause }) })

/** With the errors of retrieval. */
const retrieval = <A>(
  effect: Effect.Effect<A, SqlError | DatabaseError | RetrievalError>
): Effect.Effect<A, RetrievalError> =>
  Effect.mapError(rescued(effect), (error) => {
    if (error._tag === "RetrievalError") return error
    const cause = fromCause("The database", error)
    const isDamaged = cause.reason === "Damaged" || cause.reason === "NotADatabase"
    return failure(isDamaged ? "Damaged" : "Unavailable", cause.message, cause)
  })
