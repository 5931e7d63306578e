import { layer, type Options } from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is there until the scope ends. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "heddle-sql-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A path for a file that is there until the scope ends. */
export const file = Effect.map(folder, (path) => join(path, "test.db"))

/** A client of a file of its own. */
export const ownFile = (options?: Omit<Options, "filename">) =>
  Layer.unwrapScoped(Effect.map(file, (filename) => layer({ ...options, filename })))
