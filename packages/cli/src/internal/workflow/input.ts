/** What a workflow is given. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { Environment } from "../Environment.ts"
import { type CliError, failed, usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { paint } from "../text.ts"

/** The text of bytes. `what`: where they come from, for a person. */
const textOf = (bytes: Uint8Array, what: string): Effect.Effect<string, CliError> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => usage(`${what} is no text in UTF-8.`)
  })

/** The text of a file, by its path from the folder on in which the command was called. */
export const fileText = (file: string): Effect.Effect<string, CliError, Environment | FileSystem | Path> =>
  Effect.gen(function* () {
    const { cwd } = yield* Environment
    const fs = yield* FileSystem
    const path = yield* Path
    const bytes = yield* Effect.mapError(fs.readFile(path.resolve(cwd, file)), (error) => {
      if (error._tag !== "SystemError") return failed(error.message, error)
      if (error.reason === "NotFound") return usage(`There is no file "${file}".`)
      return usage(`The file "${file}" cannot be read: ${error.message}`)
    })
    return yield* textOf(bytes, `The file "${file}"`)
  })

/**
 * JSON as what it says, and anything else as text. What is given as an argument counts;
 * then a file; then standard input, without the end of its last line. Without any of
 * them it is `null`, and that is said.
 */
export const readInput = (given: {
  readonly text: string | undefined
  readonly file: string | undefined
}): Effect.Effect<unknown, CliError, Environment | Output | FileSystem | Path> =>
  Effect.gen(function* () {
    const { file, text } = given
    if (text !== undefined && file !== undefined) {
      return yield* usage("There are an input and an --input-file: give one of them.")
    }
    if (text !== undefined) return valueOf(text)
    if (file !== undefined) return valueOf(yield* fileText(file))
    const { input } = yield* Environment
    const said = input.isTerminal ? "" : yield* textOf(yield* input.read, "Standard input")
    if (said.trim() !== "") return valueOf(said)
    const { err } = yield* Output
    yield* err.write(`${paint(err, "dim", "The workflow is given no input: its input is null.")}\n`)
    return null
  })

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text.replace(/\r?\n$/, "")
  }
}
