/**
 * One connection to a libSQL file, shared by all fibers.
 *
 * Statements run synchronously. What makes it safe to share is that its users take
 * turns: a statement outside of a transaction has a turn for itself, a transaction
 * one for all of its time. So no statement slips into a transaction that is not its
 * own. Who waits for another process does so between turns.
 */
import * as Client from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompilerSqlite } from "@effect/sql/Statement"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type Database from "libsql"
import { type DatabaseError, fromCause } from "../../DatabaseError.ts"
import { makeTurns, type Restore } from "./turns.ts"
import { makeWaiting } from "./waiting.ts"

/** Texts of statements that are kept prepared. */
const maxPrepared = 200

/** A client of an open database. `name` is what its errors call it. */
export const makeClient = (db: Database.Database, name: string, patience: Duration.DurationInput) =>
  Effect.gen(function* () {
    const turns = makeTurns()
    const wait = makeWaiting(patience)
    const run = runner(db, name)

    const alone = connection((sql, params, mode) =>
      Effect.uninterruptibleMask((restore) =>
        wait(Effect.zipRight(turns.take(restore), Effect.ensuring(run(sql, params, mode), turns.pass)), restore)
      )
    )

    const kept = connection((sql, params, mode) =>
      // A transaction that somebody has begun by hand cannot wait for one that waits for it.
      db.inTransaction
        ? run(sql, params, mode)
        : Effect.uninterruptibleMask((restore) => wait(run(sql, params, mode), restore))
    )
    const inside = connection((sql, params, mode) => {
      if (db.inTransaction) return run(sql, params, mode)
      // The database itself has undone it, as it may when there is no space. What comes after that must not be kept alone.
      return sql === rollback ? Effect.succeed([]) : Effect.fail(fromCause(name, undone))
    })
    /** Ends a turn. A commit that failed leaves its transaction open. */
    const end = Effect.suspend(() =>
      db.inTransaction ? Effect.ensuring(Effect.ignore(run(rollback, [], "rows")), turns.pass) : turns.pass
    )

    const begun = (restore: Restore) =>
      wait(
        Effect.zipRight(
          turns.take(restore),
          Effect.tapErrorCause(run(begin, [], "rows"), () => turns.pass)
        ),
        restore
      )
    const send = (text: string) => (connection: Connection) => connection.executeUnprepared(text, [], undefined)
    /** Is run where nothing can be interrupted but what is in `restore`. */
    const transaction = (restore: Restore) =>
      Client.makeWithTransaction({
        transactionTag: Client.TransactionConnection,
        spanAttributes,
        acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
          failing(begun(restore)).pipe(
            Effect.zipRight(Scope.addFinalizer(scope, end)),
            Effect.as([scope, inside] as const)
          )
        ),
        // It has begun when there is a connection.
        begin: () => Effect.void,
        savepoint: (connection, id) => send(`SAVEPOINT heddle_${id}`)(connection),
        commit: send("COMMIT"),
        rollback: send(rollback),
        rollbackSavepoint: (connection, id) => send(`ROLLBACK TO SAVEPOINT heddle_${id}`)(connection)
      })
    const interruptible = transaction(Effect.interruptible)
    const uninterruptible = transaction(identity)

    const client = yield* Client.make({
      acquirer: Effect.succeed(alone),
      transactionAcquirer: Effect.uninterruptibleMask((restore) =>
        turns.take(restore).pipe(Effect.zipRight(Effect.addFinalizer(() => end)), Effect.as(kept))
      ),
      compiler: makeCompilerSqlite(),
      spanAttributes
    })
    return Object.assign(client, {
      // The one of `make` has waits for a connection that cannot be interrupted, and begins with it taken.
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.checkInterruptible((can) => (can ? interruptible(effect) : uninterruptible(effect)))
    })
  })

const spanAttributes = [["db.system.name", "sqlite"]] as const

/** A transaction that begins by reading could find that another has written in the meantime. */
const begin = "BEGIN IMMEDIATE"

const rollback = "ROLLBACK"

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
