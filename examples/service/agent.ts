/**
 * The agent that all requests share. What differs between them comes from
 * `CurrentUser` and from scoped instructions, never from a change of the agent.
 */
import { Agent, Handler, Instructions, Pipeline, Tool, Tools } from "@heddle/core"
import { Effect, SubscriptionRef } from "effect"
import { Journal } from "./Journal.ts"
import { CurrentUser } from "./Users.ts"

/** Counts the runs under way. What is acquired here is released when the run has ended, however it did. */
const count = Handler.beforeAgent(
  (run) =>
    Effect.gen(function* () {
      const { active } = yield* Journal
      yield* Effect.acquireRelease(
        SubscriptionRef.update(active, (n) => n + 1),
        () => SubscriptionRef.update(active, (n) => n - 1)
      )
      return run
    }),
  "count"
)

/** Tells the journal how each run ended, cancelled ones included. */
const journal = Handler.onExit(
  (end) =>
    Effect.gen(function* () {
      const { ended } = yield* Journal
      yield* ended(yield* CurrentUser, end)
    }),
  "journal"
)

const greet = Handler.mapInstructions(
  (instructions) =>
    Effect.map(CurrentUser, ({ name }) => Instructions.append(instructions, `You are speaking with ${name}.`)),
  "greet"
)

const whoami = Tool.make({
  name: "whoami",
  description: "The name of the user.",
  execute: () => Effect.map(CurrentUser, (user) => user.name)
})

/** Needs a `CurrentUser`, the `Journal` and a model. */
export const agent = Agent.make({
  name: "concierge",
  instructions: "You are the concierge.",
  tools: Tools.make(whoami),
  handlers: Pipeline.make(count, journal, greet)
})
