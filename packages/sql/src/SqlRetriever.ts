/**
 * An index of documents in one file, for `@heddle/rag`: SQLite as `@heddle/sql/libsql`
 * opens it, which finds words by FTS5. Postgres is refused.
 *
 * `layer` finds passages by their words and by their meaning, for which it needs an
 * `EmbeddingModel`. `layerLexical` needs none, and finds them by their words alone. Of
 * a long query both look for the words that `LexicalIndex` of `@heddle/rag` looks for.
 *
 * What is searched is kept in memory but for the texts, of the tenants that were asked
 * last: about 500 bytes for a chunk, and 4 bytes for each number of its vector. So
 * 10,000 chunks with 384 numbers take some 21 MB. It is read at the first search, and
 * what has changed, by whomever, at the next one. In a transaction of another client, the
 * index is read as if none was open, and nothing is put into it.
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
import { SqlClient } from "@effect/sql/SqlClient"
import { EmbeddingModel } from "@heddle/core"
import { DocumentIndex } from "@heddle/rag/DocumentIndex"
import { Retriever } from "@heddle/rag/Retriever"
import { checked } from "@heddle/rag/store"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DatabaseError } from "./DatabaseError.ts"
import { database } from "./internal/database.ts"
import { makeIndex } from "./internal/retriever/indexing.ts"
import { type Embedding, settled } from "./internal/retriever/options.ts"
import { makeSearch } from "./internal/retriever/searching.ts"
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
  /**
   * How long the embedding of a query may take, more than 0. One that takes longer has
   * failed: with the reason `Timeout`, or the search goes on by the words. Without it, a
   * search waits for a model that hangs, whatever `onEmbeddingFailure` says. @default none
   */
  readonly embeddingTimeout?: Duration.DurationInput
  /** How the model is asked for the vectors of many chunks. */
  readonly batch?: EmbeddingModel.BatchOptions
}

/**
 * By words and by meaning. A score says how far up a passage is in both: by words, from
 * none to the best; by meaning, from the mean of all that are closer than `minSimilarity`
 * to the closest. So 1 is the first in both, and 0.5 the first in one that is not in the
 * other, where both weigh the same.
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

const services = (embedding: Embedding | undefined) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    if (!sql.onDialectOrElse({ sqlite: () => true, orElse: () => false })) {
      const message =
        "SqlRetriever finds words by FTS5, which only SQLite has. Give it a file of its own, by the layer of @heddle/sql/libsql."
      return yield* new DatabaseError({ reason: "Unsupported", message })
    }
    const file = yield* Effect.flatMap(database, upToDate)
    const index = makeIndex(file, embedding?.model)
    return Context.make(DocumentIndex, index).pipe(Context.add(Retriever, checked(makeSearch(file, embedding))))
  })
