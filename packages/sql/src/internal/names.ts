/**
 * Names of any length in indexes. Postgres refuses to index what has more than some
 * 2,700 bytes, so names are found by a hash, and listed by how they begin.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import { createHash } from "node:crypto"

/** Of one or more names, in this order; other names have another. 64 hexadecimal digits. */
export const hashOf = (...names: ReadonlyArray<string>): string =>
  // JSON has them apart, and halves of characters, which UTF-8 has not.
  createHash("sha256").update(JSON.stringify(names)).digest("hex")

/** How a column or a value begins. Texts that are in order are in the order of their beginnings. */
export const beginning = (sql: SqlClient, text: Fragment): Fragment =>
  // A number that is no parameter, or the expression is not that of the index.
  sql`substr(${text}, 1, ${sql.literal("200")})`

/** Whether the column has the value, and whether it has that or more, for lists that use an index of beginnings. */
export const listed = (sql: SqlClient, column: string) => {
  const begins = beginning(sql, sql.literal(column))
  const value = (text: string) => beginning(sql, sql`CAST(${text} AS TEXT)`)
  return {
    is: (text: string) => sql`${begins} = ${value(text)} AND ${sql.literal(column)} = ${text}`,
    /** What comes after the text, or is the same, and some more that stands close before it. */
    from: (text: string) => sql`${begins} >= ${value(text)}`,
    order: sql`${begins}, ${sql.literal(column)}`
  }
}
