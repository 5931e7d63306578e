/**
 * What was typed into chats, for the arrow keys: a file in the data folder that its
 * user alone can read. A line that begins with a space is not kept.
 */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { makeFolder } from "../files.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { paint } from "../text.ts"
import type { History } from "./Lines.ts"

/** Lines that are kept, and characters of a line: one that is longer is not kept. */
const most = { lines: 1000, characters: 10_000 }
const mode = 0o600

/** Whether a line is for the history at all. */
const isKept = (line: string): boolean =>
  line.trim() !== "" && !/^\s/.test(line) && !line.includes("\n") && line.length <= most.characters

/** Opens the history. It is there for this chat alone where it cannot be kept in the file. */
export const open: Effect.Effect<History, never, Project | FileSystem | Path | Output> = Effect.gen(function* () {
  const { dataFolder } = yield* Project
  const fs = yield* FileSystem
  const path = yield* Path
  const { err } = yield* Output
  const file = path.join(dataFolder, "chat-history")
  const makeDataFolder = Effect.provide(makeFolder(dataFolder), yield* Effect.context<FileSystem | Path>())
  let told = false
  const orTold = (effect: Effect.Effect<void, Error>) =>
    Effect.catchAll(effect, ({ message }) => {
      if (told) return Effect.void
      told = true
      return err.write(`${paint(err, "yellow", "What you type is not kept for later chats:")} ${message}\n`)
    })

  const found = (yield* Effect.orElseSucceed(fs.readFileString(file), () => ""))
    .split("\n")
    .filter((line) => line !== "")
  const lines = found.slice(-most.lines).toReversed()
  // Each chat adds its lines at the end; who comes later takes away what is too much.
  if (found.length > 2 * most.lines) {
    const [next, kept] = [`${file}.new`, `${lines.toReversed().join("\n")}\n`]
    yield* orTold(Effect.zipRight(fs.writeFileString(next, kept, { mode }), fs.rename(next, file)))
  }
  return {
    lines: () => lines,
    add: (line, isLasting) =>
      Effect.suspend(() => {
        if (!isKept(line) || line === lines[0]) return Effect.void
        lines.unshift(line)
        if (lines.length > most.lines) lines.pop()
        return isLasting
          ? orTold(
              makeDataFolder.pipe(
                Effect.zipRight(fs.writeFileString(file, `${line}\n`, { flag: "a", mode })),
                Effect.zipRight(fs.chmod(file, mode))
              )
            )
          : Effect.void
      })
  }
})
