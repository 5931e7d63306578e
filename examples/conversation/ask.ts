/**
 * One question to one agent: what its model call saw, what it answered, and what was
 * added to the conversations.
 */
import type { AgentRun } from "@heddle/core"
import { Conversations, Session } from "@heddle/memory"
import { Effect } from "effect"
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
export const asked = <E, R>(label: string, agent: string, run: Effect.Effect<AgentRun.AgentResult, E, R>) =>
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
