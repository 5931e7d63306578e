/**
 * Why a database could not be used, in a closed list of reasons and in words that
 * say what can be done. The layers of this package fail with it, and it is the
 * `cause` of the errors of the stores.
 *
 * @example
 * ```ts
 * import { DatabaseError } from "@heddle/sql"
 *
 * const hint = (error: DatabaseError.DatabaseError): string =>
 *   error.reason === "Locked" ? "Close the other program." : error.message
 *
 * console.log(hint(DatabaseError.fromCause("The file notes.db", { code: "SQLITE_BUSY" }))) // Close the other program.
 * ```
 */
import { SqlError } from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import { said, textOf } from "./internal/said.ts"

/**
 * - `Damaged`: what is in it is not what was written.
 * - `NotADatabase`: the file is something else.
 * - `Locked`: another program or transaction has it, and went on having it.
 * - `Newer`: a newer version of this package has written to it.
 * - `ReadOnly`: it may not be written.
 * - `Full`: there is no space left.
 * - `Unsupported`: it is of a kind that cannot do this.
 * - `Unavailable`: it is not there, cannot be opened, or went away.
 * - `Unknown`: anything else; `cause` is what the database says.
 */
export type DatabaseErrorReason =
  "Damaged" | "NotADatabase" | "Locked" | "Newer" | "ReadOnly" | "Full" | "Unsupported" | "Unavailable" | "Unknown"

/** A database could not be used. The message says what can be done. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly reason: DatabaseErrorReason
  readonly message: string
  readonly cause?: unknown
}> {}

/**
 * The error that tells of what a driver failed with. `database` is the subject of
 * its message. A cause that is, or that wraps, such an error is given as it is.
 */
export const fromCause = (database: string, cause: unknown): DatabaseError => {
  if (cause instanceof DatabaseError) return cause
  if (cause instanceof SqlError && cause.cause !== undefined) return fromCause(database, cause.cause)
  const reason = reasonOf(cause)
  return new DatabaseError({ reason, message: `${database} ${words[reason]}. ${said(cause)}`, cause })
}

const words: Record<DatabaseErrorReason, string> = {
  Damaged:
    "is damaged. Restore it from a backup, or save what can still be read, for a SQLite file with `sqlite3 FILE .recover`",
  NotADatabase: "is not a database. Check the path, or move the file away to begin a new database",
  Locked: "is in use by another program or transaction. Close that, or try again",
  Newer: "was written by a newer version. Update @heddle/sql",
  ReadOnly: "may not be written. Check the permissions of the file and its folder, or of the database user",
  Full: "has no space left. Free some, and try again",
  Unsupported: "is of a kind that cannot do this. Use one that can",
  Unavailable: "cannot be reached. Check that it is there, and that it may be opened",
  Unknown: "cannot do what was asked"
}

/** By the beginning of the code, SQLite's or Postgres's. The longest that fits counts. */
const reasons: ReadonlyArray<readonly [code: string, reason: DatabaseErrorReason]> = [
  ["SQLITE_CORRUPT", "Damaged"],
  ["SQLITE_NOTADB", "NotADatabase"],
  ["SQLITE_BUSY", "Locked"],
  ["SQLITE_LOCKED", "Locked"],
  ["SQLITE_READONLY", "ReadOnly"],
  ["SQLITE_PERM", "ReadOnly"],
  ["SQLITE_FULL", "Full"],
  ["SQLITE_CANTOPEN", "Unavailable"],
  ["SQLITE_IOERR", "Unavailable"],
  ["XX00", "Damaged"],
  ["XX000", "Unknown"],
  // Serialization failure and deadlock, lock not available.
  ["40", "Locked"],
  ["55P03", "Locked"],
  ["25006", "ReadOnly"],
  ["42501", "ReadOnly"],
  ["53100", "Full"],
  // Connection, authentication, database name, too many connections, shutdown.
  ["08", "Unavailable"],
  ["28", "Unavailable"],
  ["3D000", "Unavailable"],
  ["53300", "Unavailable"],
  ["57P", "Unavailable"],
  // Of the system.
  ["ENOSPC", "Full"],
  ["EDQUOT", "Full"],
  ["EROFS", "ReadOnly"],
  ...[
    "EACCES",
    "EADDR",
    "EIO",
    "ENFILE",
    "ENOTCONN",
    "EPROTO",
    "EAI_",
    "ECONN",
    "EEXIST",
    "EHOST",
    "EISDIR",
    "ELOOP",
    "EMFILE",
    "ENAMETOOLONG",
    "ENET",
    "ENOENT",
    "ENOTDIR",
    "ENOTFOUND",
    "EPERM",
    "EPIPE",
    "ETIMEDOUT"
  ].map((code) => [code, "Unavailable"] as const)
]

const reasonOf = (cause: unknown): DatabaseErrorReason => {
  const code = textOf(cause, "code")
  const fitting = reasons.filter(([start]) => code.startsWith(start)).toSorted(([a], [b]) => b.length - a.length)
  if (fitting[0] !== undefined) return fitting[0][1]
  // What the Postgres driver and its pool say of connections has no code.
  return code === "" && /connect|timed? ?out|not queryable/i.test(textOf(cause, "message")) ? "Unavailable" : "Unknown"
}
