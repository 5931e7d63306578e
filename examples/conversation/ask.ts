/**
 * One question to one agent: what its model call saw, what it answered, and what was
 * added to the conversations.
 */
import { Agent, type AgentRun } from "@heddle/core"
import { Conversations, Memory, Session } from "@heddle/memory"
import { Effect } from "effect"
import { agents, host } from "./agents.ts"
import { Notes, type Seen, seen } from "./seen.ts"
import { session } from "./talk.ts"

/** How many exchanges there are. */
export interface Sizes {
  readonly main: number
  readonly own: number
  /** Exchanges of the main conversation that its summary covers. */
  readonly summarized: number
}

/** What became of a question. */
export interface Report {
  readonly label: string
  /** The conversations as they were before. */
  readonly before: Sizes
  readonly after: Sizes
  readonly seen: Seen
  readonly answer: string
}

const sizes = (agent: string) =>
  Effect.gen(function* () {
    const conversations = yield* Conversations.Conversations
    const main = yield* conversations.read(Conversations.main(session), { last: 0 })
    const own = yield* conversations.read(Conversations.own(session, agent), { last: 0 })
    return {
      main: main.info?.exchanges ?? 0,
      own: own.info?.exchanges ?? 0,
      summarized: main.info?.summarized ?? 0
    } satisfies Sizes
  })

/** Runs something in which the agent called `agent` is asked, and looks at what that agent's model call saw. */
const asked = <E, R>(label: string, agent: string, run: Effect.Effect<AgentRun.AgentResult, E, R>) =>
  Effect.gen(function* () {
    const notes: Notes["Type"] = []
    const before = yield* sizes(agent)
    const { text, warnings } = yield* Effect.provideService(run, Notes, notes)
    // What could not be kept does not fail a run, but there is nothing to show then.
    if (warnings?.[0] !== undefined) return yield* Effect.fail(warnings[0].error)
    const noted = notes.find((note) => note.agent === agent)
    if (noted === undefined) return yield* Effect.fail(`The agent ${agent} was not asked.`)
    const after = yield* sizes(agent)
    return { label, before, after, seen: seen(noted.request), answer: text } satisfies Report
  }).pipe(Session.within(session))

/** The same question to each agent, one after the other. */
export const askEach = (question: string) =>
  Effect.forEach(Object.values(agents), (agent) => asked(agent.name, agent.name, Agent.run(agent, question)))

/** An agent in another mode for one call, and the fork from inside of a run of `host`. */
export const askOtherwise = (question: string) =>
  Effect.all([
    asked("isolated → shared", "isolated", Agent.run(agents.isolated, question, Memory.call({ mode: "shared" }))),
    asked("fork, by host", "fork", Agent.run(host, question))
  ])
