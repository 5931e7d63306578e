/**
 * Putting documents into the index, and taking them out.
 */
import type { SqlError } from "@effect/sql/SqlError"
import type { EmbeddingModel } from "@heddle/core"
import { stems } from "@heddle/core/words"
import type { Collection, IndexedDocument, Service as Index } from "@heddle/rag/DocumentIndex"
import * as Effect from "effect/Effect"
import type { Database } from "../database.ts"
import { documentTable, type NewDocument, type Row } from "./documentTable.ts"
import { embedded, sameModel, sameSize } from "./embedding.ts"
import { retrieval } from "./failure.ts"

/** With a model, chunks get their vectors. */
export const makeIndex = ({ reading, sql, writing }: Database, model: EmbeddingModel.Service | undefined): Index => {
  const table = documentTable(sql)
  /** Changes a collection if there is such a one. */
  const changeKnown = (of: Collection, change: (row: Row) => Effect.Effect<boolean, SqlError>) =>
    Effect.gen(function* () {
      const row = yield* table.collection(of)
      if (row !== undefined && (yield* change(row))) yield* table.change(of.tenant)
    }).pipe(sql.withTransaction, writing, retrieval)
  return {
    documents: (of) => retrieval(reading(table.documents(of))),
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
          }).pipe(writing, retrieval),
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
