/**
 * Rows that a database refuses.
 */
import { SqlError } from "@effect/sql/SqlError"
import { DatabaseError } from "../DatabaseError.ts"
import { textOf } from "./said.ts"

/** Whether a row was refused since there is one like it. */
export const isDuplicate = (cause: unknown): boolean =>
  cause instanceof SqlError || cause instanceof DatabaseError
    ? isDuplicate(cause.cause)
    : /^(23505|SQLITE_CONSTRAINT(_UNIQUE|_PRIMARYKEY)?)$/.test(textOf(cause, "code"))
