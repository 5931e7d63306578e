/**
 * Opening and closing a libSQL file, with errors that say what is wrong with it.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import Database from "libsql"
import { mkdirSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { DatabaseError, fromCause } from "../../DatabaseError.ts"
import type { Settled } from "./options.ts"
import { makeWaiting } from "./waiting.ts"

/** A file, in bytes, up to which it is checked unless something else is said. */
const maxChecked = 64 * 1024 * 1024

/**
 * With pages of this size, in bytes, three exchanges of 2 KB share one; the usual
 * 4096 hold one or two, and leave nearly half of the file empty.
 */
const pageSize = 8192

/** An open database, and what its errors call it. It is closed with the scope. */
export const open = (
  options: Settled
): Effect.Effect<{ readonly db: Database.Database; readonly name: string }, DatabaseError, Scope.Scope> => {
  const path = options.filename === ":memory:" ? options.filename : resolve(options.filename)
  const name = path === ":memory:" ? "The database in memory" : `The file ${path}`
  const opened = Effect.try({
    try: () => {
      const size = path === ":memory:" ? 0 : prepareFile(path, name)
      const db = connect(path, name)
      try {
        configure(db, options, size)
        return db
      } catch (cause) {
        db.close()
        throw cause
      }
    },
    catch: (cause) => fromCause(name, cause)
  })
  return Effect.uninterruptibleMask((restore) =>
    makeWaiting(options.busyTimeout)(opened, restore).pipe(
      Effect.tap((db) => Effect.addFinalizer(() => Effect.sync(() => close(db)))),
      Effect.map((db) => ({ db, name }))
    )
  )
}

/** Makes the folder, and gives the size of the file: 0 if there is none. */
const prepareFile = (path: string, name: string): number => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) mkdirSync(dirname(path), { recursive: true })
  if (found?.isDirectory() === true) {
    throw new DatabaseError({ reason: "Unavailable", message: `${name} is a folder. Give the path of a file.` })
  }
  return found?.size ?? 0
}

const connect = (path: string, name: string): Database.Database => {
  try {
    return new Database(path)
  } catch (cause) {
    // The driver gives no code for it.
    throw fromCause(name, { code: "SQLITE_CANTOPEN", message: cause instanceof Error ? cause.message : "", cause })
  }
}

const configure = (db: Database.Database, { integrityCheck, synchronous }: Settled, size: number): void => {
  // `makeWaiting` waits.
  pragma(db, "busy_timeout = 0")
  pragma(db, `page_size = ${pageSize}`)
  const check = integrityCheck ?? (size <= maxChecked ? "quick" : "none")
  if (check !== "none" && size > 0) {
    const found = pragma(db, check === "quick" ? "quick_check(1)" : "integrity_check(1)")
    if (found !== "ok") throw Object.assign(new Error(String(found)), { code: "SQLITE_CORRUPT" })
  }
  pragma(db, "journal_mode = WAL")
  pragma(db, `synchronous = ${synchronous}`)
  checkWritable(db)
}

/** Tells at once if the file may not be written. A transaction alone does not: it begins, and only reads. */
const checkWritable = (db: Database.Database): void => {
  try {
    db.exec("BEGIN IMMEDIATE")
  } catch (cause) {
    // Somebody else writes, so it can be written.
    if (fromCause("", cause).reason === "Locked") return
    throw cause
  }
  try {
    db.exec("PRAGMA user_version = 1")
  } finally {
    db.exec("ROLLBACK")
  }
}

/** Runs a pragma, and gives the first value that it answers with. */
const pragma = (db: Database.Database, text: string): unknown => {
  const rows = db.prepare(`PRAGMA ${text}`).all()
  return Object.values(rows[0] ?? {})[0]
}

const close = (db: Database.Database): void => {
  try {
    // What is in the log goes into the file. Others may be reading it: then it goes there later.
    pragma(db, "wal_checkpoint(TRUNCATE)")
  } catch {
    // Closing has to come to an end, and nothing is lost.
  }
  // The driver lets go of the file when the statements are collected as garbage.
  db.close()
}
