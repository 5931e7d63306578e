/** `heddle init`: a small project that works at once. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Environment } from "../Environment.ts"
import { type CliError, failed } from "../failure.ts"
import { Output } from "../Output.ts"
import { why } from "../readText.ts"
import { starter } from "../starter.ts"
import { paint } from "../text.ts"

const folder = Args.directory({ name: "folder" }).pipe(
  Args.withDescription("The folder of the project, made if it is not there: the current one unless said."),
  Args.optional
)

/** `heddle init` */
export const init = Command.make("init", { folder }, (given) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const { cwd } = yield* Environment
    const path = yield* Path
    const root = path.resolve(
      cwd,
      Option.getOrElse(given.folder, () => ".")
    )
    for (const [file, text] of Object.entries(starter)) {
      const at = path.join(root, file)
      const shown = path.relative(cwd, at)
      const isMade = (yield* isAgentElsewhere(root, file)) ? false : yield* write(at, text)
      yield* isMade ? out.write(`${shown}\n`) : err.write(`heddle: ${shown} is left as it is.\n`)
    }
    const below = path.relative(cwd, root)
    const commands = [
      ...(below === "" ? [] : [`cd ${/^[\w./-]+$/.test(below) ? below : JSON.stringify(below)}`]),
      "heddle index docs",
      'heddle run librarian "When does the office open?"',
      "heddle chat"
    ]
    yield* err.write(`\nTry it:\n${commands.map((command) => `  ${paint(err, "bold", command)}\n`).join("")}`)
  })
).pipe(Command.withDescription("Makes a small project that works at once. Nothing is overwritten."))

/** An agent of this name may be in the other folder of the project. */
const isAgentElsewhere = (root: string, file: string): Effect.Effect<boolean, never, FileSystem | Path> =>
  Effect.gen(function* () {
    if (!file.startsWith("agents/")) return false
    const fs = yield* FileSystem
    const path = yield* Path
    return yield* Effect.orElseSucceed(fs.exists(path.join(root, ".heddle", file)), () => false)
  })

/** Writes a file if it is not there, and says whether it was written. */
const write = (at: string, text: string): Effect.Effect<boolean, CliError, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    yield* fs.makeDirectory(path.dirname(at), { recursive: true })
    yield* fs.writeFileString(at, text, { flag: "wx" })
    return true
  }).pipe(
    Effect.catchAll((error) =>
      error._tag === "SystemError" && error.reason === "AlreadyExists"
        ? Effect.succeed(false)
        : failed(`${at} cannot be written: ${why(error)}.`, error)
    )
  )
