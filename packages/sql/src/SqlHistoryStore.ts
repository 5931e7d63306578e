/**
 * The history of runs of `@heddle/workflow` in a SQL database: SQLite as
 * `@heddle/sql/libsql` opens it, or Postgres.
 *
 * All runs are kept until their session is removed. The tables (`heddle_*`) are made
 * when the layer is built. In a transaction of another client, a store reads its own
 * database as if none was open, and does not write.
 *
 * @example
 * ```ts no-run
 * import { SqlConversations, SqlHistoryStore } from "@heddle/sql"
 * import * as libsql from "@heddle/sql/libsql"
 * import { Layer } from "effect"
 *
 * const layer = Layer.mergeAll(SqlConversations.layer, SqlHistoryStore.layer).pipe(
 *   Layer.provide(libsql.layer({ filename: "data/heddle.db" }))
 * )
 * ```
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { whole } from "@heddle/core/store"
import { storableText, storedText } from "@heddle/memory/store"
import { HistoryStore, RunRecord, WorkflowErrors } from "@heddle/workflow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type DatabaseError, fromCause } from "./DatabaseError.ts"
import { type Database, database } from "./internal/database.ts"
import { isDuplicate } from "./internal/duplicate.ts"
import { hashOf, listed } from "./internal/names.ts"
import { rescued } from "./internal/rescued.ts"
import { clamped, decoded, encoded } from "./internal/rows.ts"
import { upToDate } from "./internal/tables.ts"

/** Fails with the reason `Newer` if a newer version of this package has written to the database. */
export const layer: Layer.Layer<HistoryStore.HistoryStore, DatabaseError, SqlClient> = Layer.effect(
  HistoryStore.HistoryStore,
  Effect.map(Effect.flatMap(database, upToDate), (database) => make(database))
)

const make = ({ reading, sql, writing }: Database): HistoryStore.Service => {
  const listedSessions = listed(sql, "session")

  /** Counts a run more, in a session that may be new. Positions follow one another, since runs go with their session only. */
  const counted = ({ endedAt, sessionId }: RunRecord.RunRecord) => sql`INSERT INTO heddle_sessions
    (hash, session, runs, last_ended_at) VALUES (${hashOf(sessionId)}, ${storableText(sessionId)}, 1, ${endedAt})
    ON CONFLICT (hash) DO UPDATE SET runs = heddle_sessions.runs + 1, last_ended_at = excluded.last_ended_at
    RETURNING id, runs`

  const runColumns = sql.literal("run, run_hash, status, record")
  const runValues = ({ runId, status }: RunRecord.RunRecord, text: string) =>
    sql`${storableText(runId)}, ${hashOf(runId)}, ${status}, ${text}`

  const append = sql.onDialectOrElse({
    pg: () => (record: RunRecord.RunRecord, text: string) => sql`WITH session AS (${counted(record)})
      INSERT INTO heddle_runs (session, position, ${runColumns})
      SELECT id, runs, ${runValues(record, text)} FROM session`,
    orElse: () => (record: RunRecord.RunRecord, text: string) =>
      sql.withTransaction(
        Effect.flatMap(
          counted(record),
          ([row]) => sql`INSERT INTO heddle_runs (session, position, ${runColumns})
            VALUES (${row?.["id"]}, ${row?.["runs"]}, ${runValues(record, text)})`
        )
      )
  })

  return {
    append: (record) =>
      Effect.flatMap(textOf(record), (text) => append(record, text)).pipe(
        writing,
        unavailable("append", record.sessionId, record.runId),
        Effect.asVoid
      ),
    last: (sessionId, count, statuses) =>
      Effect.suspend(() => {
        const limit = clamped(whole("count", count, 0))
        if (statuses.length === 0) return Effect.succeed([])
        const rows = sql`SELECT record FROM heddle_runs
          WHERE session = (SELECT id FROM heddle_sessions WHERE hash = ${hashOf(sessionId)})
          AND ${sql.in("status", statuses)}
          ORDER BY position DESC LIMIT ${limit}`
        return Effect.flatMap(rows, (found) => Effect.forEach(found.toReversed(), decodeRecord)).pipe(
          reading,
          unavailable("last", sessionId)
        )
      }),
    remove: (sessionId) =>
      Effect.gen(function* () {
        const [row] = yield* sql`DELETE FROM heddle_sessions WHERE hash = ${hashOf(sessionId)} RETURNING id`
        if (row === undefined) return false
        yield* sql`DELETE FROM heddle_runs WHERE session = ${row["id"]}`
        return true
      }).pipe(sql.withTransaction, writing, unavailable("remove", sessionId)),
    sessions: ({ after, limit }) =>
      Effect.suspend(() => {
        const most = whole("limit", limit, 1)
        const from =
          after === undefined
            ? sql``
            : sql`WHERE ${listedSessions.from(storableText(after))} AND session > ${storableText(after)}`
        // One more than the page has says whether there is another page.
        const rows = sql`SELECT session, runs, last_ended_at FROM heddle_sessions ${from}
          ORDER BY ${listedSessions.order} LIMIT ${clamped(most + 1)}`
        return Effect.flatMap(rows, (found) => Effect.forEach(found, decodeSession)).pipe(
          Effect.map((found) => {
            const sessions = found.slice(0, limit)
            return { sessions, ...(found.length > limit && { next: sessions.at(-1)!.sessionId }) }
          }),
          reading,
          unavailable("sessions")
        )
      })
  }
}

const textOf = encoded("The run", (record: RunRecord.RunRecord) => JSON.stringify(record))

const validRecord = Schema.decodeUnknownSync(RunRecord.RunRecord)

const decodeRecord = decoded("A run", (row): RunRecord.RunRecord => {
  const record: unknown = JSON.parse(Schema.decodeUnknownSync(Schema.Struct({ record: Schema.String }))(row).record)
  // What the schema gives is a copy, which has lost keys such as "__proto__".
  validRecord(record)
  return record as RunRecord.RunRecord
})

const SessionRow = Schema.Struct({ session: Schema.String, runs: Schema.Number, last_ended_at: Schema.Number })

const decodeSession = decoded("The row of a session", (row): HistoryStore.SessionInfo => {
  const { last_ended_at, runs, session } = Schema.decodeUnknownSync(SessionRow)(row)
  return { sessionId: storedText(session), runs, lastEndedAt: last_ended_at }
})

/** With the errors of a store. */
const unavailable =
  (operation: WorkflowErrors.HistoryUnavailable["operation"], sessionId?: string, runId?: string) =>
  <A>(effect: Effect.Effect<A, SqlError | DatabaseError>): Effect.Effect<A, WorkflowErrors.HistoryUnavailable> =>
    Effect.mapError(rescued(effect), (error) => {
      const cause = isDuplicate(error)
        ? new Error(`It has a run ${JSON.stringify(runId)} already.`, { cause: error })
        : fromCause("The database", error)
      return new WorkflowErrors.HistoryUnavailable({ operation, cause, ...(sessionId !== undefined && { sessionId }) })
    })
