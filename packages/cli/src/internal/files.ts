/** Makes folders and files of which nobody else has to read anything. */
import type { PlatformError } from "@effect/platform/Error"
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"

/** The rights of what is made: those of its user alone. */
const modes = { folder: 0o700, file: 0o600 } as const

/** The folder, or the nearest above it that is there. */
export const nearestFolder = (folder: string): Effect.Effect<string, never, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    for (let at = folder; ; at = path.dirname(at)) {
      if (at === path.dirname(at) || (yield* Effect.orElseSucceed(fs.exists(at), () => false))) return at
    }
  })

/** Makes a folder with those above it. What is there is left as it is. */
export const makeFolder = (folder: string): Effect.Effect<void, PlatformError, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const nearest = yield* nearestFolder(folder)
    const missing: Array<string> = []
    for (let at = folder; at !== nearest; at = path.dirname(at)) missing.unshift(at)
    // One by one: to make all at once does not come to an end where the system allows none, as below /proc.
    for (const at of missing) yield* orThere(fs.makeDirectory(at, { mode: modes.folder }))
  })

/** Makes an empty file, with its folder. What is there is left as it is. */
export const makeFile = (file: string): Effect.Effect<void, PlatformError, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    if (yield* Effect.orElseSucceed(fs.exists(file), () => false)) return
    yield* makeFolder(path.dirname(file))
    yield* orThere(fs.writeFile(file, new Uint8Array(), { flag: "wx", mode: modes.file }))
  })

/** Somebody else may have made it in the same moment. */
const orThere = (made: Effect.Effect<void, PlatformError>): Effect.Effect<void, PlatformError> =>
  Effect.catchIf(
    made,
    (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
    () => Effect.void
  )
