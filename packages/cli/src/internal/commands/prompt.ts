/** What an agent is asked: an argument, a file, standard input. */
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { Environment } from "../Environment.ts"
import { type CliError, usage } from "../failure.ts"
import { fileText, textOf } from "../given.ts"
import { Output } from "../Output.ts"

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
      ...(input.isTerminal ? [] : [yield* Effect.flatMap(inputBytes, (bytes) => textOf("Standard input", bytes))])
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
