/** A file that is gone afterwards, and a process that opens it anew. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** A path in a new folder, which is removed with the scope. */
export const temporaryFile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(path.join(tmpdir(), "conversation-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
).pipe(Effect.map((folder) => path.join(folder, "conversations.db")))

/** Runs a program of this folder in a process of its own, to its end, and gives its status. */
export const newProcess = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.async<number, Error>((resume) => {
    const file = fileURLToPath(new URL(program, import.meta.url))
    // The options of this process are those with which it runs TypeScript.
    const child = spawn(process.execPath, [...process.execArgv, file, ...args], {
      stdio: ["ignore", "inherit", "inherit"]
    })
    child.on("error", (error) => resume(Effect.fail(error)))
    child.on("close", (status) => resume(Effect.succeed(status ?? 1)))
    return Effect.sync(() => void child.kill())
  })
