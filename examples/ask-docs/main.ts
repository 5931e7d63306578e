/**
 * Indexes a folder of documents and answers a question from them, with sources, in two
 * modes: `npx -y pnpm@10 example ask-docs ["a question"]`. Works offline; with an API
 * key in the environment a real model answers.
 */
import { complain, runMain } from "@heddle/example-quickstart/runMain.ts"
import { fromProcess } from "@heddle/example-quickstart/terminal.ts"
import { Effect } from "effect"
import { argumentsOf, usage } from "./arguments.ts"
import { askDocs } from "./askDocs.ts"

const given = argumentsOf(process.argv.slice(2))
if (typeof given === "string") {
  complain("ask-docs", given)
  process.stderr.write(`${usage}\n`)
  process.exitCode = 1
} else {
  const live = process.stderr.isTTY ? fromProcess(process.stderr, process.env) : undefined
  runMain("ask-docs", Effect.as(askDocs(given, fromProcess(process.stdout, process.env), live, process.env), 0))
}
