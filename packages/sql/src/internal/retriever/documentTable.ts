/**
 * The statements on the tables of documents by which these are indexed. Those that
 * change something are for a transaction.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { storableText, storedText } from "@heddle/memory/store"
import type { Chunk, Collection, DocumentInfo } from "@heddle/rag/DocumentIndex"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DatabaseError } from "../../DatabaseError.ts"
import { hashOf } from "../names.ts"
import { batches, decoded } from "../rows.ts"
import { termsOf, textOfMetadata } from "./written.ts"

/** A document, ready to be written. */
export interface NewDocument {
  readonly source: string
  readonly hash: string
  readonly chunks: ReadonlyArray<NewChunk>
}

/** A chunk, with its words and its vector of length 1. */
interface NewChunk extends Chunk {
  readonly words: ReadonlyArray<string>
  readonly vector: Float32Array | undefined
}

/** A collection's row, or what a new one would have. */
export interface Row {
  readonly id: number
  readonly model: string | null
  readonly size: number | null
}

export const documentTable = (sql: SqlClient) => {
  /** Removes documents, and with them their chunks. */
  const drop = (documents: ReadonlyArray<unknown>) =>
    Effect.gen(function* () {
      const ids = JSON.stringify(documents)
      yield* sql`DELETE FROM heddle_words WHERE rowid IN
        (SELECT id FROM heddle_chunks WHERE document IN (SELECT value FROM json_each(${ids})))`
      yield* sql`DELETE FROM heddle_chunks WHERE document IN (SELECT value FROM json_each(${ids}))`
      yield* sql`DELETE FROM heddle_documents WHERE id IN (SELECT value FROM json_each(${ids}))`
    })

  const idsOf = (collection: number, sources: ReadonlyArray<string>) =>
    Effect.map(
      sql`SELECT id FROM heddle_documents WHERE collection = ${collection}
        AND source_hash IN (SELECT value FROM json_each(${JSON.stringify(sources.map((source) => hashOf(source)))}))`,
      (rows) => rows.map(({ id }) => id)
    )

  return {
    documents: ({ name, tenant }: Collection): Effect.Effect<ReadonlyArray<DocumentInfo>, SqlError | DatabaseError> =>
      Effect.flatMap(
        sql`SELECT d.source, d.hash, d.chunks FROM heddle_documents d
          JOIN heddle_collections c ON c.id = d.collection WHERE c.hash = ${hashOf(tenant, name)}`,
        (rows) =>
          Effect.map(Effect.forEach(rows, decodeInfo), (infos) =>
            infos.toSorted((a, b) => (a.source < b.source ? -1 : 1))
          )
      ),

    /** What is known of a collection, if there is such a one. */
    collection: ({ name, tenant }: Collection): Effect.Effect<Row | undefined, SqlError | DatabaseError> =>
      Effect.flatMap(
        sql`SELECT id, model, size FROM heddle_collections WHERE hash = ${hashOf(tenant, name)}`,
        ([row]) => (row === undefined ? Effect.succeed(undefined) : decodeCollection(row))
      ),

    /** Counts a change of a tenant that may be new, and gives its id. */
    change: (tenant: string): Effect.Effect<number, SqlError> =>
      Effect.map(
        sql`INSERT INTO heddle_index_tenants (hash, tenant, revision)
          VALUES (${hashOf(tenant)}, ${storableText(tenant)}, 1)
          ON CONFLICT (hash) DO UPDATE SET revision = revision + 1 RETURNING id`,
        ([row]) => Number(row?.["id"])
      ),

    /** A collection that may be new, with what is then known of it. What it has already, it keeps. */
    begin: (
      tenantId: number,
      { name, tenant }: Collection,
      { model, size }: Omit<Row, "id">
    ): Effect.Effect<Row, SqlError | DatabaseError> =>
      Effect.flatMap(
        sql`INSERT INTO heddle_collections (tenant, hash, name, model, size)
          VALUES (${tenantId}, ${hashOf(tenant, name)}, ${storableText(name)},
            ${model === null ? null : storableText(model)}, ${size})
          ON CONFLICT (hash) DO UPDATE SET size = COALESCE(size, excluded.size) RETURNING id, model, size`,
        ([row]) => decodeCollection(row)
      ),

    /** Writes documents, each in the place of the one with its source. No two have the same. */
    write: (tenant: number, collection: Row, documents: ReadonlyArray<NewDocument>): Effect.Effect<void, SqlError> =>
      Effect.gen(function* () {
        yield* drop(
          yield* idsOf(
            collection.id,
            documents.map(({ source }) => source)
          )
        )
        const rows = documents.map(({ chunks, hash, source }) => [
          hashOf(source),
          storableText(source),
          storableText(hash),
          chunks.length
        ])
        const written = yield* sql`INSERT INTO heddle_documents (collection, source_hash, source, hash, chunks)
          SELECT ${collection.id}, value ->> 0, value ->> 1, value ->> 2, value ->> 3
          FROM json_each(${JSON.stringify(rows)}) RETURNING id, source_hash`
        const ids = new Map(written.map(({ id, source_hash }) => [source_hash, id]))
        const [last] = yield* sql`SELECT seq FROM sqlite_sequence WHERE name = 'heddle_chunks'`
        let next = Number(last?.["seq"] ?? 0) + 1
        const all = documents.flatMap(({ chunks, source }) => {
          const document = ids.get(hashOf(source))
          return chunks.map((chunk) => ({ ...chunk, document }))
        })
        for (const some of batches(all)) {
          const fields = some.map(({ context, document, id, metadata, text, words }) => [
            document,
            storableText(id),
            textOfMetadata(metadata),
            new Set(words).size,
            storableText(text),
            storableText(context)
          ])
          const bytes = (collection.size ?? 0) * Float32Array.BYTES_PER_ELEMENT
          yield* sql`INSERT INTO heddle_chunks
            (id, tenant, collection, document, chunk, metadata, words, text, context, vector)
            SELECT ${next} + key, ${tenant}, ${collection.id}, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
              value ->> 4, value ->> 5, substr(${bytesOf(some)}, 1 + key * ${bytes}, ${bytes})
            FROM json_each(${JSON.stringify(fields)})`
          yield* sql`INSERT INTO heddle_words (rowid, words)
            SELECT ${next} + key, value
            FROM json_each(${JSON.stringify(some.map(({ words }) => termsOf(tenant, words).join(" ")))})`
          next += some.length
        }
      }),

    /** Says whether there was one of them. */
    remove: (collection: number, sources: ReadonlyArray<string>): Effect.Effect<boolean, SqlError> =>
      Effect.gen(function* () {
        const ids = yield* idsOf(collection, sources)
        yield* drop(ids)
        return ids.length > 0
      }),

    clear: (collection: number): Effect.Effect<void, SqlError> =>
      Effect.gen(function* () {
        const rows = yield* sql`SELECT id FROM heddle_documents WHERE collection = ${collection}`
        yield* drop(rows.map(({ id }) => id))
        yield* sql`DELETE FROM heddle_collections WHERE id = ${collection}`
      })
  }
}

/** The vectors one after the other; nothing if there are none. */
const bytesOf = (chunks: ReadonlyArray<NewChunk>): Uint8Array | null => {
  const size = chunks[0]?.vector?.length
  if (size === undefined) return null
  const all = new Float32Array(chunks.length * size)
  for (const [n, { vector }] of chunks.entries()) if (vector !== undefined) all.set(vector, n * size)
  return Buffer.from(all.buffer)
}

// -----------------------------------------------------------------------------
// rows
// -----------------------------------------------------------------------------

const Info = Schema.Struct({ source: Schema.String, hash: Schema.String, chunks: Schema.Number })

const decodeInfo = decoded("The row of a document", (row): DocumentInfo => {
  const { chunks, hash, source } = Schema.decodeUnknownSync(Info)(row)
  return { source: storedText(source), hash: storedText(hash), chunks }
})

const CollectionRow = Schema.Struct({
  id: Schema.Number,
  model: Schema.NullOr(Schema.String),
  size: Schema.NullOr(Schema.Number)
})

const decodeCollection = decoded("The row of a collection", (row): Row => {
  const { id, model, size } = Schema.decodeUnknownSync(CollectionRow)(row)
  return { id, model: model === null ? null : storedText(model), size }
})
