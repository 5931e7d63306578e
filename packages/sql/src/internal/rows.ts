/**
 * From values to columns, and from rows to values.
 */
import * as Effect from "effect/Effect"
import { DatabaseError } from "../DatabaseError.ts"
import { said } from "./said.ts"

/** The greatest count or position that a column has. */
export const most = 2 ** 31 - 1

/** A count or a position, `Infinity` included, as a column can be compared with. */
export const clamped = (n: number): number => Math.min(n, most)

/** Rows for one statement each: a database takes so many values at once. */
export const batches = <A>(rows: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const size = 500
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) => rows.slice(n * size, (n + 1) * size))
}

/** The text that is written of a value. A value that is no JSON has the reason `Unknown`. */
export const encoded =
  <A>(what: string, encode: (value: A) => string) =>
  (value: A): Effect.Effect<string, DatabaseError> =>
    Effect.try({
      try: () => encode(value),
      catch: (cause) => new DatabaseError({ reason: "Unknown", message: `${what} is no JSON. ${said(cause)}`, cause })
    })

/** What a row has. A row that is not what was written has the reason `Damaged`. */
export const decoded =
  <A>(what: string, decode: (row: unknown) => A) =>
  (row: unknown): Effect.Effect<A, DatabaseError> =>
    Effect.try({
      try: () => decode(row),
      catch: (cause) => {
        const message = `${what} is not what was written. Restore the database from a backup. ${said(cause)}`
        return new DatabaseError({ reason: "Damaged", message, cause })
      }
    })
