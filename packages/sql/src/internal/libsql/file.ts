/**
 * A libSQL file as the driver has it: statements are run synchronously, and what the
 * driver does not take well is kept from it.
 */
import { SafeIntegers } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type Database from "libsql"
import { DatabaseError, fromCause } from "../../DatabaseError.ts"

/** Texts of statements that are kept prepared. */
const maxPrepared = 200

type Mode = "rows" | "values" | "raw"

/** Runs one statement. */
export type Run = (
  sql: string,
  params: ReadonlyArray<unknown>,
  mode: Mode
) => Effect.Effect<ReadonlyArray<object>, DatabaseError>

/** A database that is closed when the scope is. The driver ends the process when it is used after that. */
export interface File {
  readonly run: Run
  /** Runs what gives nothing back, and is not kept prepared. */
  readonly execute: (sql: string) => Effect.Effect<void, DatabaseError>
  readonly inTransaction: () => boolean
}

/** The file of an open database, for the scope. `name` is what its errors call it. */
export const openFile = (db: Database.Database, name: string): Effect.Effect<File, never, Scope.Scope> => {
  let isOpen = true
  const closed = new DatabaseError({ reason: "Unavailable", message: `${name} was closed with its layer.` })
  const attempt = <A>(f: () => A): Effect.Effect<A, DatabaseError> =>
    Effect.try({
      try: () => {
        if (!isOpen) throw closed
        return f()
      },
      catch: (cause) => fromCause(name, cause)
    })

  const prepared = new Map<string, Database.Statement>()
  const prepare = (sql: string): Database.Statement => {
    const known = prepared.get(sql)
    const statement = known ?? db.prepare(sql)
    if (known !== undefined) prepared.delete(sql)
    else if (prepared.size >= maxPrepared) prepared.delete(prepared.keys().next().value!)
    prepared.set(sql, statement)
    return statement
  }
  const file: File = {
    run: (sql, params, mode) =>
      Effect.withFiberRuntime((fiber) =>
        attempt(() => {
          const statement = prepare(sql)
          statement.safeIntegers(Context.get(fiber.currentContext, SafeIntegers))
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
        })
      ),
    execute: (sql) => attempt(() => void db.exec(sql)),
    inTransaction: () => isOpen && db.inTransaction
  }
  return Effect.as(
    Effect.addFinalizer(() => Effect.sync(() => (isOpen = false))),
    file
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
