/**
 * One connection to a libSQL file, shared by all fibers.
 *
 * Statements run synchronously. What makes it safe to share is one permit: a
 * statement outside of a transaction takes it for itself, a transaction for all of
 * its time. So no statement slips into a transaction that is not its own.
 */
import * as Client from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompilerSqlite } from "@effect/sql/Statement"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type Database from "libsql"
import { type DatabaseError, fromCause } from "../../DatabaseError.ts"

/** Texts of statements that are kept prepared. */
const maxPrepared = 200

/**
 * Tries again while another connection has the file, for as long as `patience`. The
 * driver could wait by itself, but it would stop the whole thread, also for the one
 * that is waited for if that is in this process. Waits by the real clock: what a
 * program takes for the time is nothing to another process.
 */
export const waiting =
  (patience: Duration.DurationInput) =>
  <A>(effect: Effect.Effect<A, DatabaseError>): Effect.Effect<A, DatabaseError> => {
    const again = Schedule.jittered(Schedule.spaced("5 millis")).pipe(
      Schedule.upTo(patience),
      Schedule.whileInput((error: DatabaseError) => error.reason === "Locked")
    )
    const retried = Effect.retry(effect, again)
    return Effect.catchAll(effect, (error) =>
      error.reason === "Locked" ? Effect.withClock(retried, Clock.make()) : Effect.fail(error)
    )
  }

/** A client of an open database. `name` is what its errors call it. */
export const makeClient = (db: Database.Database, name: string, patience: Duration.DurationInput) =>
  Effect.gen(function* () {
    const permit = yield* Effect.makeSemaphore(1)
    const wait = waiting(patience)
    const run = runner(db, name)

    // Between two tries others have their turn: a read need not wait for whoever writes.
    const alone = connection((sql, params, mode) => wait(permit.withPermits(1)(run(sql, params, mode))))
    /** Whether whoever has the permit has begun a transaction. */
    let begun = false
    const inside = connection((sql, params, mode) =>
      Effect.suspend(() => {
        if (sql === begin) return Effect.tap(wait(run(sql, params, mode)), () => void (begun = true))
        if (db.inTransaction) return run(sql, params, mode)
        // It could not begin, or the database itself has undone it, as it may when there is no space.
        if (sql === "ROLLBACK") return Effect.succeed([])
        // What comes after that must not be kept alone.
        return begun ? Effect.fail(fromCause(name, undone)) : run(sql, params, mode)
      })
    )
    const transaction = Effect.uninterruptibleMask((restore) =>
      restore(permit.take(1)).pipe(
        Effect.zipRight(
          Effect.addFinalizer(() => {
            begun = false
            // A commit that failed leaves its transaction open.
            const end = db.inTransaction ? Effect.ignore(run("ROLLBACK", [], "rows")) : Effect.void
            return Effect.zipRight(end, permit.release(1))
          })
        ),
        Effect.as(inside)
      )
    )
    return yield* Client.make({
      acquirer: Effect.succeed(alone),
      transactionAcquirer: transaction,
      beginTransaction: begin,
      compiler: makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    })
  })

/** A transaction that begins by reading could find that another has written in the meantime. */
const begin = "BEGIN IMMEDIATE"

const undone = { message: "the transaction was undone" }

type Mode = "rows" | "values" | "raw"
type Run = (
  sql: string,
  params: ReadonlyArray<unknown>,
  mode: Mode
) => Effect.Effect<ReadonlyArray<object>, DatabaseError>

const runner = (db: Database.Database, name: string): Run => {
  const prepared = new Map<string, Database.Statement>()
  const prepare = (sql: string): Database.Statement => {
    const known = prepared.get(sql)
    const statement = known ?? db.prepare(sql)
    if (known !== undefined) prepared.delete(sql)
    else if (prepared.size >= maxPrepared) prepared.delete(prepared.keys().next().value!)
    prepared.set(sql, statement)
    return statement
  }
  return (sql, params, mode) =>
    Effect.withFiberRuntime((fiber) =>
      Effect.try({
        try: () => {
          const statement = prepare(sql)
          statement.safeIntegers(Context.get(fiber.currentContext, Client.SafeIntegers))
          const bound = params.map(toColumn)
          // A row is an object, or an array of its values.
          if (statement.reader) return statement.raw(mode === "values").all(bound) as ReadonlyArray<object>
          const done = statement.run(bound)
          return mode === "raw" ? [done] : []
        },
        catch: (cause) => fromCause(name, cause)
      })
    )
}

/** The driver takes every number for a real one, and ends the process over a boolean. */
const toColumn = (value: unknown): unknown => {
  if (Number.isSafeInteger(value)) return BigInt(value as number)
  if (typeof value === "boolean") return value ? 1n : 0n
  return value instanceof Date ? BigInt(value.getTime()) : value
}

const connection = (run: Run): Connection => {
  const execute: Connection["execute"] = (sql, params, transform) => {
    const rows = failing(run(sql, params, "rows"))
    return transform === undefined ? rows : Effect.map(rows, transform)
  }
  return {
    execute,
    executeUnprepared: execute,
    // Rows are arrays in this mode.
    executeValues: (sql, params) =>
      failing(run(sql, params, "values") as Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, DatabaseError>),
    executeRaw: (sql, params) => failing(run(sql, params, "raw")),
    // All at once: an open cursor would keep others from writing.
    executeStream: (sql, params, transform) =>
      Stream.fromIterableEffect(Effect.map(execute(sql, params, transform), Chunk.unsafeFromArray))
  }
}

const failing = <A>(effect: Effect.Effect<A, DatabaseError>): Effect.Effect<A, SqlError> =>
  Effect.mapError(effect, (cause) => new SqlError({ cause, message: cause.message }))
