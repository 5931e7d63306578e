/**
 * One connection to a libSQL file, shared by all fibers.
 *
 * Statements run synchronously. What makes it safe to share is that its users take
 * turns: a statement outside of a transaction has a turn for itself, a transaction
 * one for all of its time. Who has a turn for more than a statement has a connection
 * that is refused when the turn is over, as a fiber may go on having it. So no
 * statement slips into a transaction that is not its own. Who waits for another
 * process does so between turns.
 */
import * as Client from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as Chunk from "effect/Chunk"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type Database from "libsql"
import { type DatabaseError, fromCause } from "../../DatabaseError.ts"
import { foreign } from "../database.ts"
import { type File, openFile, type Run } from "./file.ts"
import { makeTurns, type Restore, type Turns } from "./turns.ts"
import { makeWaiting, type Waiting } from "./waiting.ts"

/** A client of an open database, for the scope. `name` is what its errors call it. */
export const makeClient = (db: Database.Database, name: string, patience: Duration.DurationInput) =>
  Effect.gen(function* () {
    const shared: Shared = {
      name,
      file: yield* openFile(db, name),
      turns: makeTurns(),
      wait: makeWaiting(patience),
      transactions: new WeakMap(),
      FileConnection: connectionClass()
    }
    const { file, FileConnection, turns, wait } = shared

    const alone = new FileConnection((sql, params, mode) =>
      Effect.uninterruptibleMask((restore) =>
        wait(Effect.zipRight(turns.take(restore), Effect.ensuring(file.run(sql, params, mode), turns.pass)), restore)
      )
    )
    /** Of who has a turn, and keeps it while a statement waits. */
    const reserved = (turn: Turn) => {
      const run = during(turn, shared)
      return new FileConnection((sql, params, mode) =>
        Effect.uninterruptibleMask((restore) =>
          // What is in a transaction already need not wait.
          file.inTransaction() ? run(sql, params, mode) : wait(run(sql, params, mode), restore)
        )
      )
    }
    const compiler = Statement.makeCompilerSqlite()
    const client = yield* Client.make({
      acquirer: Effect.succeed(alone),
      transactionAcquirer: Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(turns.take(restore), () => {
          const turn = { isOver: false }
          return Effect.as(
            Effect.addFinalizer(() => end(turn, shared)),
            reserved(turn)
          )
        })
      ),
      compiler,
      spanAttributes
    })

    // Those of `make` would go to the transaction of another client.
    const statements = Statement.make(
      Effect.map(Effect.serviceOption(Client.TransactionConnection), (current) =>
        Option.isSome(current) && current.value[0] instanceof FileConnection ? current.value[0] : alone
      ),
      compiler,
      spanAttributes,
      undefined
    )

    const interruptible = transaction(shared, Effect.interruptible)
    const uninterruptible = transaction(shared, identity)
    const own: Client.SqlClient = Object.assign(statements, {
      ...client,
      ...statements,
      // That of `make` would keep the turn while it waits, and could not be interrupted then.
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.checkInterruptible((can) => nested(shared, can ? interruptible(effect) : uninterruptible(effect)))
    })
    return Object.assign(own, { safe: own })
  })

/** What statements and transactions of a connection have in common. */
interface Shared {
  readonly name: string
  readonly file: File
  readonly turns: Turns
  readonly wait: Waiting
  /** By the connection that is used in it. `@effect/sql` gives that of another client for ours. */
  readonly transactions: WeakMap<Connection, Transaction>
  readonly FileConnection: ReturnType<typeof connectionClass>
}

/** A turn that is kept for more than a statement. */
interface Turn {
  isOver: boolean
}

interface Transaction extends Turn {
  /** How many transactions within it have not ended. */
  open: number
}

/** Runs statements until the turn is over. */
const during =
  (turn: Turn, { file, name }: Shared): Run =>
  (sql, params, mode) =>
    Effect.suspend(() => (turn.isOver ? Effect.fail(fromCause(name, over)) : file.run(sql, params, mode)))

/** Transactions that begin when they have their turn and nobody else writes. Waiting for that is in `restore`. */
const transaction = (shared: Shared, restore: Restore) => {
  const { file, FileConnection, name, transactions, turns, wait } = shared
  const send = (connection: Connection, sql: string) => connection.executeUnprepared(sql, [], undefined)
  const undo = (connection: Connection, sql: string) =>
    // Else nothing of it is left.
    Effect.suspend(() => (isOpen(connection) ? send(connection, sql) : Effect.void))
  const isOpen = (connection: Connection) => transactions.get(connection)?.isOver === false && file.inTransaction()

  const inside = (turn: Turn) => {
    const run = during(turn, shared)
    return new FileConnection((sql, params, mode) =>
      Effect.suspend(() =>
        // The database itself has undone it, as it may when there is no space. What comes after that must not be kept alone.
        turn.isOver || file.inTransaction() ? run(sql, params, mode) : Effect.fail(fromCause(name, undone))
      )
    )
  }
  const tried = Effect.zipRight(
    turns.take(restore),
    // A text is never left in the middle, as a statement would be that finds the file locked.
    Effect.tapErrorCause(file.execute(begin), () => turns.pass)
  )
  const begun = failing(wait(tried, restore))
  return Client.makeWithTransaction({
    transactionTag: Client.TransactionConnection,
    spanAttributes,
    // Is run where nothing can be interrupted.
    acquireConnection: Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* begun
      const turn = { isOver: false, open: 0 }
      yield* Scope.addFinalizer(scope, end(turn, shared))
      const connection = inside(turn)
      transactions.set(connection, turn)
      return [scope, connection] as const
    }),
    begin: () => Effect.void,
    savepoint: (connection, id) =>
      transactions.has(connection)
        ? send(connection, `SAVEPOINT heddle_${id}`)
        : failing(Effect.fail(fromCause(name, { message: foreign }))),
    commit: (connection) =>
      Effect.suspend(() =>
        transactions.get(connection)?.open === 0
          ? send(connection, "COMMIT")
          : failing(Effect.fail(fromCause(name, halfway)))
      ),
    rollback: (connection) => undo(connection, rollback),
    rollbackSavepoint: (connection, id) => undo(connection, `ROLLBACK TO SAVEPOINT heddle_${id}`)
  })
}

/** Counts a transaction that is within another, which can be over before it: then nothing of it is kept. */
const nested = <A, E, R>({ name, transactions }: Shared, within: Effect.Effect<A, E | SqlError, R>) =>
  Effect.flatMap(Effect.serviceOption(Client.TransactionConnection), (current) => {
    const outer = Option.isSome(current) ? transactions.get(current.value[0]) : undefined
    if (outer === undefined) return within
    return Effect.acquireUseRelease(
      Effect.sync(() => outer.open++),
      () =>
        Effect.zipLeft(
          within,
          Effect.suspend(() => (outer.isOver ? failing(Effect.fail(fromCause(name, over))) : Effect.void))
        ),
      () => Effect.sync(() => outer.open--)
    )
  })

/** Passes the turn on. A commit that failed leaves its transaction open. */
const end = (turn: Turn, { file, turns }: Shared): Effect.Effect<void> =>
  Effect.suspend(() => {
    turn.isOver = true
    const undone = file.inTransaction() ? Effect.ignore(file.run(rollback, [], "rows")) : Effect.void
    return Effect.ensuring(undone, turns.pass)
  })

const spanAttributes = [["db.system.name", "sqlite"]] as const

/** A transaction that begins by reading could find that another has written in the meantime. */
const begin = "BEGIN IMMEDIATE"

const rollback = "ROLLBACK"

const undone = { message: "the transaction was undone" }
const over = { message: "its transaction or scope has ended: start after that what goes on after it" }
const halfway = { message: "a transaction within this one has not ended" }

/** A class for the connections of one client, by which it is known whose a connection is. */
const connectionClass = () =>
  class FileConnection implements Connection {
    readonly #run: Run

    constructor(run: Run) {
      this.#run = run
    }

    readonly execute: Connection["execute"] = (sql, params, transform) => {
      const rows = failing(this.#run(sql, params, "rows"))
      return transform === undefined ? rows : Effect.map(rows, transform)
    }

    readonly executeUnprepared = this.execute

    // Rows are arrays in this mode.
    readonly executeValues: Connection["executeValues"] = (sql, params) =>
      failing(this.#run(sql, params, "values") as Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, DatabaseError>)

    readonly executeRaw: Connection["executeRaw"] = (sql, params) => failing(this.#run(sql, params, "raw"))

    // All at once: an open cursor would keep others from writing.
    readonly executeStream: Connection["executeStream"] = (sql, params, transform) =>
      Stream.fromIterableEffect(Effect.map(this.execute(sql, params, transform), Chunk.unsafeFromArray))
  }

const failing = <A>(effect: Effect.Effect<A, DatabaseError>): Effect.Effect<A, SqlError> =>
  Effect.mapError(effect, (cause) => new SqlError({ cause, message: cause.message }))
