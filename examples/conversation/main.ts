/**
 * The six context modes side by side over one conversation, in one file, before and
 * after a restart: `npx -y pnpm@10 example conversation [--db file] ["a question"]`.
 */
import { complain, runMain } from "@heddle/example-quickstart/runMain.ts"
import { fromProcess } from "@heddle/example-quickstart/terminal.ts"
import { Effect } from "effect"
import { argumentsOf, usage } from "./arguments.ts"
import { beforeRestart } from "./beforeRestart.ts"
import { newProcess, temporaryFile } from "./process.ts"
import { onFile } from "./world.ts"

const program = (db: string | undefined, question: string) =>
  Effect.gen(function* () {
    const filename = db ?? (yield* temporaryFile)
    yield* Effect.provide(beforeRestart(question, fromProcess(process.stdout, process.env)), onFile(filename))
    return yield* newProcess("afterRestart.ts", filename)
  })

const given = argumentsOf(process.argv.slice(2))
if (typeof given === "string") {
  complain("conversation", given)
  process.stderr.write(`${usage}\n`)
  process.exitCode = 1
} else runMain("conversation", Effect.scoped(program(given.db, given.question)))
