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
import { makeTurns, type Restore, type Turns } from "./turns.ts"
import { makeWaiting, type Waiting } from "./waiting.ts"

/** Texts of statements that are kept prepared. */
const maxPrepared = 200

/** A client of an open database. `name` is what its errors call it. */
export const makeClient = (db: Database.Database, name: string, patience: Duration.DurationInput) =>
  Effect.gen(function* () {
    const shared: Shared = { db, name, run: runner(db, name), turns: makeTurns(), wait: makeWaiting(patience) }
    const { run, turns, wait } = shared

    const alone = connection((sql, params, mode) =>
      Effect.uninterruptibleMask((restore) =>
        wait(Effect.zipRight(turns.take(restore), Effect.ensuring(run(sql, params, mode), turns.pass)), restore)
      )
    )
    /** Of who has a turn, and keeps it while a statement waits. */
    const reserved = connection((sql, params, mode) =>
      Effect.uninterruptibleMask((restore) =>
        // What is in a transaction already need not wait.
        db.inTransaction ? run(sql, params, mode) : wait(run(sql, params, mode), restore)
      )
    )
    const client = yield* Client.make({
      acquirer: Effect.succeed(alone),
      transactionAcquirer: Effect.uninterruptibleMask((restore) =>
        turns.take(restore).pipe(Effect.zipRight(Effect.addFinalizer(() => end(shared))), Effect.as(reserved))
      ),
      compiler: makeCompilerSqlite(),
      spanAttributes
    })

    const interruptible = transaction(shared, Effect.interruptible)
    const uninterruptible = transaction(shared, identity)
    return Object.assign(client, {
      // That of `make` would keep the turn while it waits, and could not be interrupted then.
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.checkInterruptible((can) => (can ? interruptible(effect) : uninterruptible(effect)))
    })
  })

/** What statements and transactions of a connection have in common. */
interface Shared {
  readonly db: Database.Database
  readonly name: string
  readonly run: Run
  readonly turns: Turns
  readonly wait: Waiting
}

/** Transactions that begin when they have their turn and nobody else writes. Waiting for that is in `restore`. */
const transaction = ({ db, name, run, turns, wait }: Shared, restore: Restore) => {
  const inside = connection((sql, params, mode) =>
    Effect.suspend(() => {
      if (db.inTransaction) return run(sql, params, mode)
      // The database itself has undone it, as it may when there is no space. What comes after that must not be kept alone.
      return sql === rollback ? Effect.succeed([]) : Effect.fail(fromCause(name, undone))
    })
  )
  const send = (sql: string) => inside.executeUnprepared(sql, [], undefined)
  // A text is never left in the middle, as a statement would be that finds the file locked.
  const beginning = Effect.try({ try: () => void db.exec(begin), catch: (cause) => fromCause(name, cause) })
  const tried = Effect.zipRight(
    turns.take(restore),
    Effect.tapErrorCause(beginning, () => turns.pass)
  )
  const begun = failing(wait(tried, restore))
  return Client.makeWithTransaction({
    transactionTag: Client.TransactionConnection,
    spanAttributes,
    // Is run where nothing can be interrupted.
    acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
      begun.pipe(
        Effect.zipRight(Scope.addFinalizer(scope, end({ db, run, turns }))),
        Effect.as([scope, inside] as const)
      )
    ),
    begin: () => Effect.void,
    savepoint: (_connection, id) => send(`SAVEPOINT heddle_${id}`),
    commit: () => send("COMMIT"),
    rollback: () => send(rollback),
    rollbackSavepoint: (_connection, id) => send(`ROLLBACK TO SAVEPOINT heddle_${id}`)
  })
}

/** Passes the turn on. A commit that failed leaves its transaction open. */
const end = ({ db, run, turns }: Pick<Shared, "db" | "run" | "turns">): Effect.Effect<void> =>
  Effect.suspend(() =>
    db.inTransaction ? Effect.ensuring(Effect.ignore(run(rollback, [], "rows")), turns.pass) : turns.pass
  )

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
          try {
            if (statement.reader) return statement.raw(mode === "values").all(bound) as ReadonlyArray<object>
            const done = statement.run(bound)
            return mode === "raw" ? [done] : []
          } catch (cause) {
            const error = fromCause(name, cause)
            if (error.reason === "Locked" && !db.inTransaction) stop(db, statement, bound)
            throw error
          }
        },
        catch: (cause) => fromCause(name, cause)
      })
    )
}

/**
 * The driver leaves a statement that found the file locked in the middle, and then no
 * transaction can be committed. One that may not write comes to its end.
 */
const stop = (db: Database.Database, statement: Database.Statement, bound: ReadonlyArray<unknown>): void => {
  db.exec("PRAGMA query_only = 1")
  try {
    if (statement.reader) statement.all(bound)
    else statement.run(bound)
  } catch {
    // As it should.
  } finally {
    db.exec("PRAGMA query_only = 0")
  }
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
