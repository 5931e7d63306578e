/**
 * The second half, a program of its own: it opens the file that it is given, and asks
 * each agent what it was asked before. `main.ts` starts it as a new process.
 */
import { Agent } from "@heddle/core"
import { runMain } from "@heddle/example-quickstart/runMain.ts"
import { fromProcess, paint } from "@heddle/example-quickstart/terminal.ts"
import { Effect } from "effect"
import { askEach } from "./firstProcess.ts"
import { table } from "./table.ts"
import { onFile } from "./world.ts"

const [filename = ""] = process.argv.slice(2)
const question = "What was I asked before?"

const program = Effect.gen(function* () {
  const terminal = fromProcess(process.stdout, process.env)
  terminal.write(`\n${paint(terminal, "bold", `In a new process: ${question}`)}\n`)
  table(terminal, yield* askEach(question))
  return 0
})

runMain("conversation", program.pipe(Effect.provide(onFile(filename))))
