/**
 * Answers a question from the documents of this repository, and shows what
 * happens on the way: `npx -y pnpm@10 quickstart "a question"`.
 */
import { Agent, Pipeline } from "@heddle/core"
import { OfflineModel } from "@heddle/models"
import { Cause, Effect, Fiber, Layer, Stream } from "effect"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { librarian, pipeline } from "./app.ts"
import type { Library } from "./Library.ts"
import { reporter, sources, title } from "./report.ts"
import { clean, fromProcess, short, type Terminal } from "./terminal.ts"
import * as Timeline from "./timeline.ts"
import type { Span } from "./timing.ts"
import { ToolCache } from "./ToolCache.ts"

const library: Library = {
  root: path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../.."),
  include: ["README.md", "docs"]
}

const question = (argv: ReadonlyArray<string>): string => {
  const words = argv[0] === "--" ? argv.slice(1) : argv
  return words.length === 0 ? "In which order do the hooks run?" : words.join(" ").trim()
}

/** Asks the librarian and reports to the terminal. */
const ask = (question: string, terminal: Terminal) =>
  Effect.gen(function* () {
    let spans: ReadonlyArray<Span> = []
    const seen: Array<Pipeline.Seen> = []
    const handlers = pipeline(library, (all) => Effect.sync(() => void (spans = all)))
    const agent = librarian(library, Pipeline.observe(handlers, (one) => void seen.push(one)))

    title(terminal, "Pipeline")
    terminal.write(`${Pipeline.explain(handlers)}\n`)
    title(terminal, "Run")
    terminal.write(`  ${short(question === "" ? "(no question)" : question, terminal.columns - 2)}\n`)

    const tell = reporter(terminal)
    yield* Stream.runForEach(Agent.stream(agent, question), (event) =>
      Effect.sync(() => {
        tell(event)
        if (event._tag !== "Completed") return
        const from = sources(event.result.history, event.result.text)
        if (from.length > 0) terminal.write(`\n  Sources: ${clean(from.join(", "))}\n`)
      })
    )

    title(terminal, "Timeline: the calls")
    terminal.write(`${Timeline.calls(spans, terminal.columns)}\n`)
    title(terminal, "Timeline: the handlers' own time")
    terminal.write(`${Timeline.handlers(seen, terminal.columns)}\n`)
  })

const services = Layer.merge(OfflineModel.layer, ToolCache.layer({ capacity: 1_000, timeToLive: "10 minutes" }))

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

const fiber = Effect.runFork(
  ask(question(process.argv.slice(2)), fromProcess(process.stdout, process.env)).pipe(
    Effect.provide(services),
    Effect.catchAllCause(complain)
  )
)
process.once("SIGINT", () => Effect.runFork(Fiber.interrupt(fiber)))
