/** What an agent is asked: an argument, a file, standard input. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { quoted } from "@heddle/core/names"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Environment } from "../Environment.ts"
import { type CliError, usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { clean } from "../text.ts"

/** Bytes of a file at the most. */
const most = 64 * 1024 * 1024

/** Says that standard input is waited for, when it does not end: whoever started the command may not know. */
const patience = "3 seconds"

/** What an agent is asked: what of all three is there, with blank lines between. */
export const promptOf = (given: {
  readonly prompt: Option.Option<string>
  readonly file: Option.Option<string>
}): Effect.Effect<string, CliError, Environment | Output | FileSystem | Path> =>
  Effect.gen(function* () {
    const { input } = yield* Environment
    const parts = [
      ...Option.toArray(given.prompt),
      ...(Option.isSome(given.file) ? [yield* fileText(given.file.value)] : []),
      ...(input.isTerminal ? [] : [yield* Effect.flatMap(inputBytes, (bytes) => decoded("Standard input", bytes))])
    ]
    const text = parts.filter((part) => part.trim() !== "").join("\n\n")
    if (text !== "") return text
    return yield* usage("Nothing is asked. Give a prompt as an argument, with --file, or on standard input.")
  })

const inputBytes = Effect.gen(function* () {
  const { input } = yield* Environment
  const { err } = yield* Output
  const line = "heddle: reading standard input to its end (use </dev/null if nothing is to come from there)\n"
  const hint = yield* Effect.fork(Effect.zipRight(Effect.sleep(patience), err.write(line)))
  return yield* Effect.ensuring(input.read, Fiber.interrupt(hint))
})

const fileText = (file: string): Effect.Effect<string, CliError, Environment | FileSystem | Path> =>
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
    return yield* decoded(`The file ${shown}`, bytes)
  })

const decoded = (what: string, bytes: Uint8Array): Effect.Effect<string, CliError> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => usage(`${what} is not in UTF-8. Convert it, with iconv for example.`)
  })
