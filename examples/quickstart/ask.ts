/**
 * One question, asked and reported.
 */
import { Agent, Pipeline } from "@heddle/core"
import { OfflineModel } from "@heddle/models"
import { Effect, Layer, Stream } from "effect"
import { librarian, pipeline } from "./app.ts"
import type { Library } from "./Library.ts"
import { reporter, sources, title } from "./report.ts"
import { clean, short, type Terminal } from "./terminal.ts"
import * as Timeline from "./timeline.ts"
import type { Span } from "./timing.ts"
import { ToolCache } from "@heddle/example-caching-handler/ToolCache.ts"

/** Asks the librarian and reports to the terminal. */
export const ask = (library: Library, question: string, terminal: Terminal) =>
  Effect.gen(function* () {
    let spans: ReadonlyArray<Span> = []
    const seen: Array<Pipeline.Seen> = []
    const handlers = pipeline(library, (all) => Effect.sync(() => void (spans = all)))
    const agent = librarian(
      library,
      Pipeline.observe(handlers, (one) => void seen.push(one))
    )

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

/** What asking needs: a model, and the cache that all questions share. */
export const services = Layer.merge(OfflineModel.layer, ToolCache.layer({ capacity: 1_000, timeToLive: "10 minutes" }))
