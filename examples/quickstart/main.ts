/**
 * Answers a question from the documents of this repository, and shows what
 * happens on the way: `npx -y pnpm@10 quickstart "a question"`.
 */
import { Cause, Effect, Fiber } from "effect"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { ask, services } from "./ask.ts"
import * as Documents from "./Library.ts"
import { fromProcess, short } from "./terminal.ts"

const library: Documents.Library = {
  root: path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../.."),
  include: ["README.md", "docs"]
}

const question = (argv: ReadonlyArray<string>): string => {
  const words = argv[0] === "--" ? argv.slice(1) : argv
  return words.length === 0 ? "In which order do the hooks run?" : words.join(" ").trim()
}

const complain = (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    const error = Cause.squash(cause)
    const interrupted = Cause.isInterruptedOnly(cause)
    const problem = interrupted ? "cancelled" : error instanceof Error ? error.message : String(error)
    process.stderr.write(`quickstart: ${short(problem, 300)}\n`)
    process.exitCode = interrupted ? 130 : 1
  })

// Whoever reads the output may stop reading it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})

const program = Effect.gen(function* () {
  const documents = yield* Documents.list(library)
  if (documents.length === 0) return yield* Effect.fail(`there are no documents in ${library.include.join(" or ")}`)
  yield* ask(library, question(process.argv.slice(2)), fromProcess(process.stdout, process.env))
})

const fiber = Effect.runFork(program.pipe(Effect.provide(services), Effect.catchAllCause(complain)))
process.once("SIGINT", () => Effect.runFork(Fiber.interrupt(fiber)))
