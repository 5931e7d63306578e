/**
 * The tables, and how a database gets them.
 *
 * Each layout adds to the one before. Which of them a database has is written down
 * in it, so that several programs can begin at once, and so that a program that is
 * too old for a database leaves it alone.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { DatabaseError, fromCause } from "../DatabaseError.ts"
import type { Database } from "./database.ts"
import { beginning } from "./names.ts"
import { rescued } from "./rescued.ts"

/** The statements of a layout, in their order. */
type Layout = (sql: SqlClient) => ReadonlyArray<Effect.Effect<unknown, SqlError>>

/**
 * A conversation's row has its counters, so that neither appending nor reading has to
 * count. `agent` is empty for the main conversation, which so comes first. It is found
 * by the `hash` of its key, an exchange by its place alone.
 */
const conversations: Layout = (sql) => {
  const { id, reference, text } = types(sql)
  return [
    sql`CREATE TABLE heddle_conversations (
      id ${id} PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      tenant ${text} NOT NULL,
      session ${text} NOT NULL,
      agent ${text} NOT NULL,
      generation TEXT NOT NULL,
      created_at DOUBLE PRECISION NOT NULL,
      accessed_at DOUBLE PRECISION NOT NULL,
      exchanges INTEGER NOT NULL,
      messages INTEGER NOT NULL,
      summarized INTEGER NOT NULL,
      summary_text TEXT,
      summary_at DOUBLE PRECISION
    )`,
    sql`CREATE INDEX heddle_conversations_list ON heddle_conversations
      (${beginning(sql, sql.literal("tenant"))}, ${beginning(sql, sql.literal("session"))})`,
    sql`CREATE TABLE heddle_exchanges (
      conversation ${reference} NOT NULL,
      position INTEGER NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (conversation, position)
    )`
  ]
}

/** A session is found by the `hash` of its name, and one of its runs by that of the run's. */
const history: Layout = (sql) => {
  const { id, reference, text } = types(sql)
  return [
    sql`CREATE TABLE heddle_sessions (
      id ${id} PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      session ${text} NOT NULL,
      runs INTEGER NOT NULL,
      last_ended_at DOUBLE PRECISION NOT NULL
    )`,
    sql`CREATE INDEX heddle_sessions_list ON heddle_sessions (${beginning(sql, sql.literal("session"))})`,
    sql`CREATE TABLE heddle_runs (
      session ${reference} NOT NULL,
      position INTEGER NOT NULL,
      run TEXT NOT NULL,
      run_hash TEXT NOT NULL,
      status TEXT NOT NULL,
      record TEXT NOT NULL,
      PRIMARY KEY (session, position),
      UNIQUE (session, run_hash)
    )`
  ]
}

/**
 * Only SQLite has these. A tenant's `revision` counts its changes, so that who has its
 * chunks in memory knows when they are no more what is stored. Ids of collections and
 * of chunks are never used again, and a chunk is never changed.
 *
 * A word in `heddle_words` begins with the id of its tenant, so that nothing is read of
 * others. It has no text of its own: rows are chunks, by their id.
 */
const documents: Layout = (sql) =>
  sql.onDialectOrElse({
    sqlite: () => [
      sql`CREATE TABLE heddle_index_tenants (
        id INTEGER PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        tenant TEXT NOT NULL,
        revision INTEGER NOT NULL
      )`,
      sql`CREATE TABLE heddle_collections (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant INTEGER NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        model TEXT,
        size INTEGER
      )`,
      sql`CREATE TABLE heddle_documents (
        id INTEGER PRIMARY KEY,
        collection INTEGER NOT NULL,
        source_hash TEXT NOT NULL,
        source TEXT NOT NULL,
        hash TEXT NOT NULL,
        chunks INTEGER NOT NULL,
        UNIQUE (collection, source_hash)
      )`,
      sql`CREATE TABLE heddle_chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant INTEGER NOT NULL,
        collection INTEGER NOT NULL,
        document INTEGER NOT NULL,
        chunk TEXT NOT NULL,
        metadata TEXT NOT NULL,
        words INTEGER NOT NULL,
        vector BLOB,
        text TEXT NOT NULL,
        context TEXT NOT NULL
      )`,
      sql`CREATE INDEX heddle_chunks_tenant ON heddle_chunks (tenant)`,
      sql`CREATE INDEX heddle_chunks_document ON heddle_chunks (document)`,
      sql`CREATE VIRTUAL TABLE heddle_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii')`,
      sql`CREATE VIRTUAL TABLE heddle_word_places USING fts5vocab (heddle_words, instance)`
    ],
    orElse: () => []
  })

/** Layout 1 stands first. One that was released is never changed. */
const layouts: ReadonlyArray<Layout> = [conversations, history, documents]

/** What SQLite and Postgres call differently. Texts are ordered by code point, in every language. */
const types = (sql: SqlClient) =>
  sql.onDialectOrElse({
    pg: () => ({
      id: sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY"),
      reference: sql.literal("BIGINT"),
      text: sql.literal(`TEXT COLLATE "C"`)
    }),
    orElse: () => ({
      id: sql.literal("INTEGER"),
      reference: sql.literal("INTEGER"),
      text: sql.literal("TEXT")
    })
  })

/** Brings a database to the last layout, and gives it back. Fails with the reason `Newer` if it is beyond that. */
export const upToDate = (database: Database): Effect.Effect<Database, DatabaseError> =>
  Effect.gen(function* () {
    const { sql } = database
    // In most cases there is nothing to do, and so nothing to lock, and no right to make tables is needed.
    const isDone = (yield* hasLayouts(sql)) && (yield* layoutOf(sql)) === layouts.length
    if (!isDone) yield* sql.withTransaction(migrate(sql))
    return database
  }).pipe(
    // Tables are nothing that a transaction has to undo.
    database.reading,
    rescued,
    Effect.mapError((error) => fromCause("The database", error))
  )

const migrate = (sql: SqlClient) =>
  Effect.gen(function* () {
    // SQLite has one transaction that writes at a time. The number is the name of the lock, and has no meaning.
    yield* sql.onDialectOrElse({
      pg: () => sql`SELECT pg_advisory_xact_lock(7243392650)`,
      orElse: () => Effect.void
    })
    yield* sql`CREATE TABLE IF NOT EXISTS heddle_layouts (layout INTEGER PRIMARY KEY)`
    const layout = yield* layoutOf(sql)
    for (const [n, statements] of layouts.entries()) {
      if (n < layout) continue
      yield* Effect.all(statements(sql), { discard: true })
      yield* sql`INSERT INTO heddle_layouts (layout) VALUES (${n + 1})`
    }
  })

const hasLayouts = (sql: SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql.onDialectOrElse({
      pg: () => sql`SELECT 1 WHERE to_regclass('heddle_layouts') IS NOT NULL`,
      orElse: () => sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'heddle_layouts'`
    }),
    (rows) => rows.length > 0
  )

/** The last layout that the database has got; 0 if none. */
const layoutOf = (sql: SqlClient): Effect.Effect<number, SqlError | DatabaseError> =>
  Effect.flatMap(sql<{ readonly layout: number | null }>`SELECT MAX(layout) AS layout FROM heddle_layouts`, ([row]) => {
    const layout = Number(row?.layout ?? 0)
    if (layout <= layouts.length) return Effect.succeed(layout)
    const message =
      `The database has tables of layout ${layout}, and this version of @heddle/sql knows them up to ` +
      `layout ${layouts.length}. Update @heddle/sql, or use another database.`
    return Effect.fail(new DatabaseError({ reason: "Newer", message }))
  })
