/**
 * Two runs of a newsroom in one session, the second with the first in mind:
 * `npx -y pnpm@10 example newsroom "the Jacquard machine" "punched cards as plain text"`.
 */
import { complain, runMain } from "@heddle/example-quickstart/runMain.ts"
import { fromProcess } from "@heddle/example-quickstart/terminal.ts"
import { OfflineModel } from "@heddle/models"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import type { Screen } from "./progress.ts"
import { session } from "./session.ts"

const library = { root: fileURLToPath(new URL("notes", import.meta.url)), include: ["."] }

const words = process.argv.slice(2).filter((word, i) => !(i === 0 && word === "--"))
const [first = "the Jacquard machine", second = "punched cards as plain text", ...more] = words

if (more.length > 0) {
  const hint = 'there are two runs: put each topic in quotation marks, such as "the Jacquard machine" "punched cards"'
  complain("newsroom", hint)
  process.exitCode = 1
} else {
  const { stdout } = process
  const isLive = stdout.isTTY === true && process.env["TERM"] !== "dumb"
  const screen: Screen = { ...fromProcess(stdout, process.env), ...(isLive && { rows: stdout.rows ?? 24 }) }
  const failures = session(library, [first, second], screen)
  runMain(
    "newsroom",
    failures.pipe(
      Effect.map((n) => Math.min(n, 1)),
      Effect.provide(OfflineModel.layer)
    )
  )
}
