/** Asks the agent in a mode, and shows the answer with its sources. */
import { Agent, type ChatModel } from "@heddle/core"
import { describe } from "@heddle/example-quickstart/runMain.ts"
import { paint, short, type Terminal, wrapping } from "@heddle/example-quickstart/terminal.ts"
import { Rag, type RagSettings } from "@heddle/rag"
import { Effect, Stream } from "effect"

/** An agent that answers from documents. What it may search, and how, a call can say. */
export const guide = Agent.make({
  name: "guide",
  instructions: "You answer questions from the documents that you are shown, briefly.",
  handlers: Rag.handler({ settings: { topK: 6 } })
})

const list = (terminal: Terminal, head: string, passages: ReadonlyArray<Rag.Shown>): void => {
  terminal.write(`\n  ${paint(terminal, "dim", head)}\n`)
  for (const { metadata, number, score, source } of passages) {
    const heading = metadata["heading"] === undefined ? "" : ` › ${String(metadata["heading"])}`
    const place = short(`${source}${heading}`, terminal.columns - 16)
    terminal.write(`    [${number}] ${place} ${paint(terminal, "dim", score.toFixed(2))}\n`)
  }
}

/** Asks in a mode. What the model says is shown as it comes. */
export const ask = (question: string, mode: RagSettings.RagMode, calls: ReadonlyArray<string>, terminal: Terminal) =>
  Effect.gen(function* () {
    const before = calls.length
    terminal.write(`\n${paint(terminal, "bold", mode)}\n`)
    const text = wrapping(terminal)
    yield* Agent.stream(guide, question, Rag.call({ settings: { mode } })).pipe(
      Stream.runForEach((event) =>
        Effect.sync(() => {
          switch (event._tag) {
            case "Text":
              return text.push(event.text)
            case "Warning":
              return terminal.write(`  ${paint(terminal, "yellow", "warning")} ${short(describe(event.error), 200)}\n`)
            case "Completed": {
              text.end()
              const { result } = event
              const cited = Rag.citations(result)
              const shown = Rag.shown(result)
              if (cited.length > 0) list(terminal, "sources:", cited)
              else if (shown.length > 0) list(terminal, "shown to the model:", shown)
              else terminal.write(`\n  ${paint(terminal, "dim", "nothing was found")}\n`)
              const made = calls.slice(before)
              const counts = Array.from(
                new Set(made),
                (purpose) => `${made.filter((other) => other === purpose).length} × ${purpose}`
              )
              return terminal.write(`  ${paint(terminal, "dim", `calls of the model: ${counts.join(", ")}`)}\n`)
            }
          }
        })
      )
    )
  })

/** A model that notes what its calls are for. */
export const noting = (model: ChatModel.Service, calls: Array<string>): ChatModel.Service => ({
  call: (request) => {
    calls.push(request.purpose)
    return model.call(request)
  }
})
