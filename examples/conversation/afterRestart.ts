/**
 * The second half, a program of its own: it opens the file that it is given, and asks
 * each agent what it was asked before. `main.ts` starts it as a new process.
 */
import { complain, runMain } from "@heddle/example-quickstart/runMain.ts"
import { fromProcess } from "@heddle/example-quickstart/terminal.ts"
import { Conversations } from "@heddle/memory"
import { Effect } from "effect"
import { askEach } from "./ask.ts"
import { exchanges, table, title } from "./table.ts"
import { session } from "./talk.ts"
import { onFile } from "./world.ts"

const question = "What was I asked before?"

const program = Effect.gen(function* () {
  const terminal = fromProcess(process.stdout, process.env)
  title(terminal, `After a restart, in a new process: ${question}`)
  const reports = yield* askEach(question)
  table(terminal, reports)

  title(terminal, "Added to the main conversation")
  const conversations = yield* Conversations.Conversations
  const { exchanges: main } = yield* conversations.read(Conversations.main(session))
  exchanges(terminal, main.slice(reports[0]?.before.main))
  return 0
})

const [filename] = process.argv.slice(2)
if (filename === undefined) {
  complain("conversation", "the path of a file is needed")
  process.exitCode = 1
} else runMain("conversation", program.pipe(Effect.provide(onFile(filename))))
