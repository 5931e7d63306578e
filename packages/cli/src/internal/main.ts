/** The command: what it can do, and how it ends. */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import type { CliApp } from "@effect/cli/CliApp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Asking } from "./Asking.ts"
import type { LineReader } from "./chat/Lines.ts"
import { agents } from "./commands/agents.ts"
import { chat } from "./commands/chat.ts"
import { init } from "./commands/init.ts"
import { lint } from "./commands/lint.ts"
import { run } from "./commands/run.ts"
import { schema } from "./commands/schema.ts"
import type { Environment } from "./Environment.ts"
import { CliError, messageOf, status } from "./failure.ts"
import type { Extensions } from "./Extensions.ts"
import { Output } from "./Output.ts"

const heddle = Command.make("heddle").pipe(
  Command.withDescription("Runs agents that are markdown files."),
  Command.withSubcommands([run, chat, agents, init, lint, schema])
)

const parsed = Command.run(heddle, { name: "heddle", version: "0.0.0" })

/** What the command needs of the world. */
export type World = CliApp.Environment | Environment | Output | Asking | Extensions | LineReader

/** Runs the command with its arguments, and gives its exit status. */
export const main = (args: ReadonlyArray<string>): Effect.Effect<number, never, World> => {
  const program = parsed(["node", "heddle", ...args]).pipe(
    Effect.as<number>(status.done),
    Effect.catchAllCause((cause) =>
      Effect.gen(function* () {
        const { err } = yield* Output
        const error = Cause.squash(cause)
        if (ValidationError.isValidationError(error)) return status.usage
        yield* err.write(`heddle: ${messageOf(cause)}\n`)
        if (args.includes("--debug")) yield* err.write(`${Cause.pretty(cause)}\n`)
        return error instanceof CliError ? error.status : status.failed
      })
    )
  )
  return program.pipe(Effect.provide(CliConfig.layer({ showBuiltIns: false })))
}
