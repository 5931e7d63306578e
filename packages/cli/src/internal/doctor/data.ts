/** Looks at what is kept, without leaving anything. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nearestFolder } from "../files.ts"
import { Project } from "../Project.ts"
import { stored } from "../services.ts"
import { type Check, check } from "./Check.ts"

/** The folder of the database, and the database. */
export const lookAtData = Effect.gen(function* () {
  const { database } = yield* Project
  const fs = yield* FileSystem
  const path = yield* Path
  const exists = (at: string) => Effect.orElseSucceed(fs.exists(at), () => false)
  const folder = path.dirname(database)

  // What is to be written in: the folder, or the nearest above that is there.
  const nearest = yield* nearestFolder(folder)
  // Some systems say that their folders can be written, and let nothing be made there.
  const isWritable = yield* fs
    .access(nearest, { writable: true })
    .pipe(
      Effect.zipRight(Effect.scoped(fs.makeTempDirectoryScoped({ directory: nearest, prefix: ".heddle-" }))),
      Effect.isSuccess
    )
  const isFolder = yield* Effect.orElseSucceed(
    Effect.map(fs.stat(nearest), ({ type }) => type === "Directory"),
    () => false
  )
  const inFolder = !isFolder
    ? check("broken", "data folder", `${nearest} is not a folder`, "Move it away, or name another file with --db.")
    : !isWritable
      ? check(
          "broken",
          "data folder",
          `${nearest} cannot be written`,
          "Give yourself the right to write there, or name another file with --db."
        )
      : check("ok", "data folder", nearest === folder ? folder : `${folder}, which is made when it is needed`)

  const inFile: Check = !(yield* exists(database))
    ? check("absent", "database", `${database}, which is made when something is kept`)
    : yield* Effect.scoped(Layer.build(stored(database))).pipe(
        Effect.as(check("ok", "database", `${database} can be read and written`)),
        // Each says what can be done.
        Effect.catchAll(({ message }) => Effect.succeed(check("broken", "database", message)))
      )
  return [inFolder, inFile]
})
