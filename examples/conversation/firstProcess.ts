/**
 * The first half: the main conversation, the same question to an agent of each mode,
 * and the two ways in which a mode is more than a setting of an agent.
 */
import { Agent } from "@heddle/core"
import { paint, short, type Terminal, wrapping } from "@heddle/example-quickstart/terminal.ts"
import { Conversations, Memory, Summaries } from "@heddle/memory"
import { Effect } from "effect"
import { agents, host } from "./agents.ts"
import { asked } from "./ask.ts"
import { exchanges, table } from "./table.ts"
import { begin, session } from "./talk.ts"

/** The same question to each agent, one after the other. */
export const askEach = (question: string) =>
  Effect.forEach(Object.values(agents), (agent) => asked(agent.name, agent.name, Agent.run(agent, question)))

/** An agent in another mode for one call, and the fork from inside of a run of `host`. */
export const askOtherwise = (question: string) =>
  Effect.all([
    asked("isolated → shared", "isolated", Agent.run(agents.isolated, question, Memory.call({ mode: "shared" }))),
    asked("fork, by host", "fork", Agent.run(host, question))
  ])

/** All of it, told to a terminal. */
export const firstProcess = (question: string, terminal: Terminal) =>
  Effect.gen(function* () {
    const conversations = yield* Conversations.Conversations
    const summaries = yield* Summaries.Summaries
    const title = (text: string) => terminal.write(`\n${paint(terminal, "bold", text)}\n`)
    const say = (text: string) => {
      const words = wrapping(terminal)
      words.push(text)
      words.end()
    }
    const read = conversations.read(Conversations.main(session))

    const before = yield* begin
    const main = yield* read
    title(before === 0 ? "The main conversation" : `The main conversation, ${before} exchanges of it from before`)
    exchanges(terminal, main.exchanges)
    if (main.summary !== undefined) {
      title(`Its summary, of 1–${main.summary.through}, written in the background`)
      say(main.summary.text)
    }

    title(`Asked in each mode: ${short(question, terminal.columns - 20)}`)
    table(terminal, yield* askEach(question))

    title("The same, called otherwise")
    table(terminal, yield* askOtherwise(question))
    say('isolated → shared: Memory.call({ mode: "shared" }), for this call only.')
    say("fork, by host: a tool of host. It sees what goes on now, too. What main gets is host's own exchange.")

    title("Added to the main conversation")
    exchanges(terminal, (yield* read).exchanges.slice(main.exchanges.length))
    yield* summaries.settled
  })
