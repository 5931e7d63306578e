/** What a workflow is given. */
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { Environment } from "../Environment.ts"
import { type CliError, usage } from "../failure.ts"
import { fileText, textOf } from "../given.ts"
import { Output } from "../Output.ts"
import { paint } from "../text.ts"

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
    const said = input.isTerminal ? "" : yield* textOf("Standard input", yield* input.read)
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
