/** The command: what it can do, and how it ends. */
import * as CliConfig from "@effect/cli/CliConfig"
import type { CliApp } from "@effect/cli/CliApp"
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import { stripVTControlCharacters } from "node:util"
import { beforeDashes, wrongWith } from "./arguments.ts"
import type { Asking } from "./Asking.ts"
import type { LineReader } from "./chat/Lines.ts"
import { agents } from "./commands/agents.ts"
import { chat } from "./commands/chat.ts"
import { doctor } from "./commands/doctor.ts"
import { explain } from "./commands/explain.ts"
import { index } from "./commands/indexing.ts"
import { init } from "./commands/init.ts"
import { lint } from "./commands/lint.ts"
import { run } from "./commands/run.ts"
import { schema } from "./commands/schema.ts"
import { sessions } from "./commands/sessions.ts"
import { workflow } from "./commands/workflow.ts"
import type { Environment } from "./Environment.ts"
import type { Extensions } from "./Extensions.ts"
import { CliError, messageOf, status } from "./failure.ts"
import { commandAt, grouping, helpOf, helpText } from "./help.ts"
import { logging } from "./logging.ts"
import { Output, type Sheet } from "./Output.ts"
import { clean } from "./text.ts"

const commands = [run, chat, agents, workflow, index, sessions, explain, init, lint, schema, doctor] as const

/** The command with all that it can do. */
export const heddle = grouping(
  Command.make("heddle").pipe(
    Command.withDescription("Runs agents that are markdown files."),
    Command.withSubcommands(commands)
  ),
  commands
)

// As seen from the sources, from what is built of them and from the bundle alike.
const { version } = createRequire(import.meta.url)("../../package.json") as { readonly version: string }

const parsed = Command.run(heddle, { name: "heddle", version })

/** What the command needs of the world. */
export type World = CliApp.Environment | Environment | Output | Asking | Extensions | LineReader

/** Runs the command with its arguments, and gives its exit status. */
export const main = (given: ReadonlyArray<string>): Effect.Effect<number, never, World> =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const debug = beforeDashes(given).includes("--debug")
    const args = given.filter((arg, i) => arg !== "--debug" || i >= beforeDashes(given).length)
    const { command, path } = commandAt(heddle.descriptor, "heddle", args)
    const help = helpOf(command, path)
    if (args.length === 0 || beforeDashes(args).some((arg) => arg === "--help" || arg === "-h")) {
      yield* out.write(helpText(help, out))
      return status.done
    }
    const wrong = wrongWith(args.slice(path.length - 1), help)
    if (wrong !== undefined) {
      yield* err.write(`heddle: ${clean(wrong)}\nheddle: see ${path.join(" ")} --help\n`)
      return status.usage
    }
    return yield* parsed(["node", "heddle", ...args]).pipe(
      Effect.as<number>(status.done),
      Effect.catchAllCause((cause) => {
        if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        // The library has said what is wrong.
        if (ValidationError.isValidationError(error))
          return Effect.as(err.write(`heddle: see ${path.join(" ")} --help\n`), status.usage)
        const told = debug
          ? `${messageOf(cause)}\n${Cause.pretty(cause, { renderErrorCause: true })}`
          : messageOf(cause)
        return Effect.as(
          err.write(`heddle: ${clean(told)}\n`),
          error instanceof CliError ? error.status : status.failed
        )
      }),
      Effect.withConsole(consoleOf(out, err)),
      Effect.provide(logging(debug)),
      Effect.provide(CliConfig.layer({ showBuiltIns: false, isCaseSensitive: true }))
    )
  })

/** What the library has to say goes where all else goes. */
const consoleOf = (out: Sheet, err: Sheet): Console.Console => {
  const write = (sheet: Sheet) => (line: string) =>
    sheet.write(`${sheet.colours ? line : stripVTControlCharacters(line)}`.trimEnd() + "\n")
  const nothing = () => Effect.void
  return {
    [Console.TypeId]: Console.TypeId,
    log: (...args) => write(out)(args.join(" ")),
    info: (...args) => write(out)(args.join(" ")),
    error: (...args) => write(err)(`heddle: ${args.join(" ")}`),
    warn: (...args) => write(err)(args.join(" ")),
    debug: nothing,
    trace: nothing,
    assert: nothing,
    clear: Effect.void,
    count: nothing,
    countReset: nothing,
    dir: nothing,
    dirxml: nothing,
    group: nothing,
    groupEnd: Effect.void,
    table: nothing,
    time: nothing,
    timeEnd: nothing,
    timeLog: nothing,
    unsafe: console
  }
}
