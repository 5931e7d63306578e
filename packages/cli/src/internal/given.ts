/** Texts that the command is given: files that are named, and standard input. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { quoted } from "@heddle/core/names"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Environment } from "./Environment.ts"
import { type CliError, usage } from "./failure.ts"
import { utf8 } from "./readText.ts"
import { clean } from "./text.ts"

/** Bytes of a file at the most. */
const most = 64 * 1024 * 1024

/** The text of a file, by its path from the folder on in which the command was called. */
export const fileText = (file: string): Effect.Effect<string, CliError, Environment | FileSystem | Path> =>
  Effect.gen(function* () {
    const { cwd } = yield* Environment
    const fs = yield* FileSystem
    const path = (yield* Path).resolve(cwd, file)
    const shown = clean(quoted(file))
    // A pipe has no size, and may be what `<(…)` of a shell is.
    const parts = yield* Stream.runCollect(fs.stream(path, { bytesToRead: most + 1 })).pipe(
      Effect.mapError((error) =>
        usage(
          error._tag === "SystemError" && error.reason === "NotFound"
            ? `There is no file ${shown}.`
            : `The file ${shown} cannot be read: ${clean(error.message)}`
        )
      )
    )
    const bytes = Buffer.concat(Chunk.toReadonlyArray(parts))
    if (bytes.length > most) return yield* usage(`The file ${shown} is larger than 64 MB.`)
    return yield* textOf(`The file ${shown}`, bytes)
  })

/** The text of bytes, without a mark of the byte order. `what`: where they come from, for a person. */
export const textOf = (what: string, bytes: Uint8Array): Effect.Effect<string, CliError> => {
  const text = utf8(bytes)
  return text === undefined
    ? usage(`${what} is not in UTF-8. Convert it, with iconv for example.`)
    : Effect.succeed(text.replace(/^\ufeff/, ""))
}
