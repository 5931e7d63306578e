/**
 * The first half: the main conversation, the same question to an agent of each mode,
 * and the two ways in which a mode is more than a setting of an agent.
 */
import type { Terminal } from "@heddle/example-quickstart/terminal.ts"
import { Conversations, Summaries } from "@heddle/memory"
import { Effect } from "effect"
import { askEach, askOtherwise } from "./ask.ts"
import { exchanges, paragraph, table, title } from "./table.ts"
import { begin, session } from "./talk.ts"

export const beforeRestart = (question: string, terminal: Terminal) =>
  Effect.gen(function* () {
    const conversations = yield* Conversations.Conversations
    const read = conversations.read(Conversations.main(session))

    const before = yield* begin
    const main = yield* read
    title(terminal, `The main conversation${before === 0 ? "" : `: ${before} exchanges from an earlier run`}`)
    exchanges(terminal, main.exchanges)
    if (main.summary !== undefined) {
      title(terminal, `A summary of 1–${main.summary.through}, written in the background`)
      paragraph(terminal, main.summary.text)
    }

    title(terminal, `Asked in each mode: ${question}`)
    table(terminal, yield* askEach(question))

    title(terminal, "The same question, for one call in another mode, and from inside of a run")
    table(terminal, yield* askOtherwise(question))
    paragraph(terminal, 'isolated → shared is the isolated agent, called with Memory.call({ mode: "shared" }).')
    paragraph(
      terminal,
      "The fork is a tool of host here: it sees the exchange that is going on now, and what main gets is that exchange of host."
    )

    title(terminal, "Added to the main conversation")
    exchanges(terminal, (yield* read).exchanges.slice(main.exchanges.length))
    // Closing the file would abandon a summary that is being written.
    yield* Effect.flatMap(Summaries.Summaries, ({ settled }) => settled)
  })
