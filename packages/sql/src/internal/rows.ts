/**
 * From numbers to columns, and from rows to values.
 */
import * as Effect from "effect/Effect"
import { DatabaseError } from "../DatabaseError.ts"

/** The greatest count or position that a column has. */
export const most = 2 ** 31 - 1

/** A count or a position, `Infinity` included, as a column can be compared with. */
export const clamped = (n: number): number => Math.min(n, most)

/** What a row has. A row that is not what was written has the reason `Damaged`. */
export const decoded =
  <A>(what: string, decode: (row: unknown) => A) =>
  (row: unknown): Effect.Effect<A, DatabaseError> =>
    Effect.try({
      try: () => decode(row),
      catch: (cause) => {
        const message = `${what} is not what was written. Restore the database from a backup. (${String(cause)})`
        return new DatabaseError({ reason: "Damaged", message, cause })
      }
    })
