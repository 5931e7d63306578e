/**
 * The statements on the tables of documents. Those that change something are for a
 * transaction; those that read are one statement, which sees one moment.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { storableText, storedText } from "@heddle/memory/store"
import type { Chunk, Collection, DocumentInfo } from "@heddle/rag/DocumentIndex"
import type { Metadata } from "@heddle/rag/Retriever"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DatabaseError } from "../DatabaseError.ts"
import { hashOf } from "./names.ts"
import type { Chunks, Entry, Held } from "./ranking.ts"
import { decoded } from "./rows.ts"

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

/** The chunks of a tenant as they were at a revision. */
export interface Loaded extends Chunks {
  readonly tenant: number
  readonly revision: number
}

/** Chunks of one statement. */
const batch = 500

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
      }),

    /**
     * The chunks of a tenant, `undefined` if there is no such tenant. What was loaded
     * before is not read again. Vectors are read only where they are asked for.
     */
    load: (
      tenant: string,
      before: Loaded | undefined,
      withVectors: boolean
    ): Effect.Effect<Loaded | undefined, SqlError | DatabaseError> => {
      const last = before?.entries.at(-1)?.id ?? 0
      const rows = sql`SELECT revision AS id, id AS chunk, NULL AS metadata, NULL AS words, NULL AS vector,
          NULL AS source, NULL AS collection, NULL AS name, NULL AS model, NULL AS size
        FROM heddle_index_tenants WHERE hash = ${hashOf(tenant)}
        UNION ALL
        SELECT c.id, n.chunk, n.metadata, n.words, CASE WHEN ${withVectors} THEN n.vector END,
          d.source, k.id, k.name, k.model, k.size
        FROM heddle_index_tenants t
        JOIN heddle_chunks c ON c.tenant = t.id
        LEFT JOIN heddle_chunks n ON n.id = c.id AND c.id > ${last}
        LEFT JOIN heddle_documents d ON d.id = n.document
        LEFT JOIN heddle_collections k ON k.id = n.collection
        WHERE t.hash = ${hashOf(tenant)}`.values
      return Effect.flatMap(rows, ([first, ...others]) =>
        first === undefined ? Effect.succeed(undefined) : decodeLoaded({ first, others, before })
      )
    },

    /**
     * The revision of a tenant, and for each word the ids of chunks that have it, as
     * often as they have it.
     */
    find: (
      tenant: number,
      words: ReadonlyArray<string>
    ): Effect.Effect<
      { readonly revision: number; readonly found: ReadonlyArray<ReadonlyArray<number>> },
      SqlError | DatabaseError
    > =>
      // Numbers in one text take a tenth of the time that they take as rows.
      Effect.flatMap(
        sql`SELECT -1, revision FROM heddle_index_tenants WHERE id = ${tenant}
          UNION ALL
          SELECT key, (SELECT json_group_array(doc) FROM heddle_word_places WHERE term = value)
          FROM json_each(${JSON.stringify(termsOf(tenant, words))})`.values,
        decodeFound
      ),

    /** The texts of chunks that are still there. */
    texts: (ids: ReadonlyArray<number>): Effect.Effect<ReadonlyMap<number, string>, SqlError | DatabaseError> =>
      Effect.flatMap(
        sql`SELECT id, text FROM heddle_chunks WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
        decodeTexts
      )
  }
}

/** A tenant's words. Its id ends where the first letter is that is no digit. */
const termsOf = (tenant: number, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.map((word) => `${tenant}x${word}`)

const batches = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / batch) }, (_, n) => all.slice(n * batch, (n + 1) * batch))

/** The vectors one after the other; nothing if there are none. */
const bytesOf = (chunks: ReadonlyArray<NewChunk>): Uint8Array | null => {
  const size = chunks[0]?.vector?.length
  if (size === undefined) return null
  const all = new Float32Array(chunks.length * size)
  for (const [n, { vector }] of chunks.entries()) if (vector !== undefined) all.set(vector, n * size)
  return Buffer.from(all.buffer)
}

// -----------------------------------------------------------------------------
// metadata
// -----------------------------------------------------------------------------

/** Numbers that JSON does not have are written in another way. */
const textOfMetadata = (metadata: Metadata): string =>
  JSON.stringify(metadata, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value
  )

const metadataOf = (text: string): Metadata =>
  // It is what `textOfMetadata` has written. An object is the way in which the other numbers are.
  JSON.parse(text, (key, value: unknown) =>
    key !== "" && typeof value === "object" ? Number(Reflect.get(value!, "number")) : value
  ) as Metadata

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

const Found = Schema.Array(Schema.Tuple(Schema.Number, Schema.Union(Schema.Number, Schema.String)))

const decodeFound = decoded("The index of words", (rows) => {
  const [[, revision], ...words] = Schema.decodeUnknownSync(Found)(rows) as [
    [number, number],
    ...Array<[number, string]>
  ]
  // The database itself has made these texts.
  return { revision, found: words.map(([, ids]) => JSON.parse(ids) as ReadonlyArray<number>) }
})

const Texts = Schema.Array(Schema.Struct({ id: Schema.Number, text: Schema.String }))

const decodeTexts = decoded(
  "The text of a chunk",
  (rows): ReadonlyMap<number, string> =>
    new Map(Schema.decodeUnknownSync(Texts)(rows).map(({ id, text }) => [id, storedText(text)]))
)

interface Read {
  readonly first: ReadonlyArray<unknown>
  readonly others: ReadonlyArray<ReadonlyArray<unknown>>
  readonly before: Loaded | undefined
}

const First = Schema.Tuple([Schema.Number, Schema.Number], Schema.Unknown)

/** Of a chunk that is new. Vectors are looked at by themselves. */
const Fresh = Schema.Tuple(
  Schema.Number,
  Schema.String,
  Schema.String,
  Schema.Number,
  Schema.NullOr(Schema.Uint8ArrayFromSelf),
  Schema.String,
  Schema.Number,
  Schema.String,
  Schema.NullOr(Schema.String),
  Schema.NullOr(Schema.Number)
)

const decodeFirst = Schema.decodeUnknownSync(First)
const decodeFresh = Schema.decodeUnknownSync(Fresh)

const decodeLoaded = decoded("The rows of chunks", (read): Loaded => {
  // It is given what `load` has read.
  const { before, first, others } = read as Read
  const [revision, tenant] = decodeFirst(first)
  const there = new Set(others.map(([id]) => id))
  const kept = before?.entries.filter(({ id }) => there.has(id)) ?? []
  const last = before?.entries.at(-1)?.id ?? 0
  const fresh = others.filter(([id]) => Number(id) > last).map((row) => decodeFresh(row))

  const size =
    kept.reduce((sum, entry) => sum + sizeOf(entry), 0) + fresh.reduce((sum, row) => sum + lengthOf(row[4]), 0)
  const vectors = new Float32Array(size)
  let end = 0
  const entries = kept.map((entry): Entry => {
    if (entry.at < 0) return entry
    const at = end
    vectors.set(before!.vectors.subarray(entry.at, entry.at + sizeOf(entry)), at)
    end += sizeOf(entry)
    return at === entry.at ? entry : { ...entry, at }
  })

  // Texts that many chunks have are there once.
  const collections = new Map<number, Held>()
  const sources = new Map<string, string>()
  for (const [id, chunk, metadata, words, vector, source, collection, name, model, size] of fresh) {
    const held = collections.get(collection) ?? {
      name: storedText(name),
      model: model === null ? null : storedText(model),
      size
    }
    collections.set(collection, held)
    const known = sources.get(source) ?? storedText(source)
    sources.set(source, known)
    if (vector !== null) {
      if (lengthOf(vector) !== size) throw new Error(`a vector of chunk ${id} has ${vector.byteLength} bytes`)
      new Uint8Array(vectors.buffer, end * Float32Array.BYTES_PER_ELEMENT, vector.byteLength).set(vector)
    }
    const at = vector === null ? -1 : end
    end += lengthOf(vector)
    entries.push({
      id,
      chunk: storedText(chunk),
      source: known,
      metadata: metadataOf(metadata),
      collection: held,
      words,
      at
    })
  }
  entries.sort((a, b) => a.id - b.id)
  return {
    tenant,
    revision,
    entries,
    places: new Map(entries.map(({ id }, place) => [id, place])),
    vectors,
    averageWords: entries.reduce((sum, { words }) => sum + words, 0) / entries.length
  }
})

/** Numbers of the vector of a chunk. */
const sizeOf = ({ at, collection }: Entry): number => (at < 0 ? 0 : (collection.size ?? 0))

const lengthOf = (vector: Uint8Array | null): number => (vector?.byteLength ?? 0) / Float32Array.BYTES_PER_ELEMENT
