/**
 * Two runs of a newsroom in one session, the second with the first in mind:
 * `npx -y pnpm@10 example newsroom "the Jacquard machine" "punched cards as plain text"`.
 */
import { fromProcess, short } from "@heddle/example-quickstart/terminal.ts"
import { OfflineModel } from "@heddle/models"
import { Effect, Exit, Fiber } from "effect"
import { fileURLToPath } from "node:url"
import type { Screen } from "./progress.ts"
import { messageOf, session } from "./session.ts"

const library = { root: fileURLToPath(new URL("notes", import.meta.url)), include: ["."] }

const complain = (problem: string) => process.stderr.write(`newsroom: ${short(problem, 300)}\n`)

// Whoever reads the output may stop reading it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})

const words = process.argv.slice(2).filter((word, i) => !(i === 0 && word === "--"))
const [first = "the Jacquard machine", second = "punched cards as plain text", ...more] = words

if (more.length > 0) {
  complain('there are two runs: put each topic in quotation marks, such as "the Jacquard machine" "punched cards"')
  process.exitCode = 1
} else {
  const { stdout } = process
  const isLive = stdout.isTTY === true && process.env["TERM"] !== "dumb"
  const screen: Screen = { ...fromProcess(stdout, process.env), ...(isLive && { rows: stdout.rows ?? 24 }) }
  const fiber = Effect.runFork(session(library, [first, second], screen).pipe(Effect.provide(OfflineModel.layer)))
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit)) complain(messageOf(exit.cause))
    process.exitCode = Exit.isInterrupted(exit) ? 130 : Exit.isFailure(exit) || exit.value > 0 ? 1 : 0
  })
  process.once("SIGINT", () => Effect.runFork(Fiber.interrupt(fiber)))
}
