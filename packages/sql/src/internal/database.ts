/**
 * The database of a store, which may be asked while a transaction of another one is open.
 *
 * All clients of `@effect/sql` keep the open transaction in one place, and take what is
 * there for their own. So a statement could reach a database that it is not for.
 */
import { SqlClient, TransactionConnection } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type DatabaseError, fromCause } from "../DatabaseError.ts"

export interface Database {
  readonly sql: SqlClient
  /** What reads, in a transaction of another database as if none was open. */
  readonly reading: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What writes, refused in a transaction of another database, which could not undo it. */
  readonly writing: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | DatabaseError, R>
}

/** The database of the client that is there. The names of columns are ours, whatever the client does to those of others. */
export const database: Effect.Effect<Database, never, SqlClient> = Effect.gen(function* () {
  const sql = (yield* SqlClient).withoutTransforms()
  const kind = yield* kindOf(sql)
  const isForeign = Effect.map(
    Effect.serviceOption(TransactionConnection),
    (open) => kind !== undefined && Option.isSome(open) && open.value[0].constructor !== kind
  )
  return {
    sql,
    reading: (effect) => Effect.flatMap(isForeign, (is) => (is ? outside(effect) : effect)),
    writing: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(isForeign, (is): Effect.Effect<A, E | DatabaseError, R> =>
        is ? Effect.fail(fromCause("The database", { message: foreign })) : effect
      )
  }
})

/** What an error says of a transaction that is not the client's. */
export const foreign = "the open transaction is one of another database"

/** As if no transaction was open. */
const outside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.mapInputContext(
    effect,
    // Nobody has it as a requirement: clients look whether it is there.
    (context: Context.Context<R>) => Context.omit(TransactionConnection)(context) as Context.Context<R>
  )

/**
 * The class of a client's connections, of which each client has its own. With clients
 * that have none, or do not give a connection at once, as in a transaction of their own,
 * every transaction is taken for the client's.
 */
const kindOf = (sql: SqlClient): Effect.Effect<unknown> => {
  // It is there, but its type does not say so.
  const { acquirer } = sql`SELECT 1` as { acquirer?: Connection.Acquirer }
  if (acquirer === undefined) return Effect.succeed(undefined)
  const kind = Effect.map(acquirer, (connection): unknown => connection.constructor)
  return Effect.raceFirst(
    Effect.scoped(outside(Effect.interruptible(kind))).pipe(Effect.orElseSucceed(() => undefined)),
    Effect.as(Effect.yieldNow(), undefined)
  )
}
