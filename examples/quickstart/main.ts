/**
 * Answers a question from the documents of this repository, and shows what
 * happens on the way: `npx -y pnpm@10 quickstart "a question"`.
 */
import { Effect } from "effect"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { ask, services } from "./ask.ts"
import * as Documents from "./Library.ts"
import { runMain } from "./runMain.ts"
import { fromProcess } from "./terminal.ts"

const library: Documents.Library = {
  root: path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../.."),
  include: ["README.md", "docs"]
}

const question = (argv: ReadonlyArray<string>): string => {
  const words = argv[0] === "--" ? argv.slice(1) : argv
  return words.length === 0 ? "In which order do the hooks run?" : words.join(" ").trim()
}

const program = Effect.gen(function* () {
  const documents = yield* Documents.list(library)
  if (documents.length === 0) return yield* Effect.fail(`there are no documents in ${library.include.join(" or ")}`)
  yield* ask(library, question(process.argv.slice(2)), fromProcess(process.stdout, process.env))
  return 0
})

runMain("quickstart", program.pipe(Effect.provide(services)))
