/**
 * Memory: what the handler adds to a run.
 */
import { Agent, ChatModel } from "@heddle/core"
import { Conversations, Memory, Session, Summaries } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { assert, type Competitor, type Result, sample, summary } from "./measure.ts"

const name = "J: what the memory adds to a run"

/** More than a window's worth. */
const runsInSession = 25

const session = <E, R>(agent: Agent.Agent<string, E, R>) =>
  Effect.gen(function* () {
    for (let i = 0; i < runsInSession; i++) {
      const { text } = yield* Agent.run(agent, "a question of some words")
      assert(text === "the answer", "an answer")
    }
  })

/** Runs an agent in sessions, one run after the other. */
export const caseJ = async (): Promise<ReadonlyArray<Result>> => {
  const model = ChatModel.layer(() => ChatModel.reply("the answer"))
  const runtime = ManagedRuntime.make(
    // Conversations come and go, as they do in a service.
    Layer.mergeAll(model, Conversations.layerMemory({ maxConversations: 100 }), Summaries.layerNone)
  )
  const services = await runtime.runtime()
  const plain = Agent.make({ name: "plain", instructions: "Answer." })
  const remembering = Agent.make({ name: "remembering", instructions: "Answer.", handlers: Memory.handler() })
  let sessions = 0
  const competitor = <E>(
    agent: Agent.Agent<
      string,
      E,
      ChatModel.ChatModel | Conversations.Conversations | Session.Session | Summaries.Summaries
    >
  ): Competitor => ({
    case: name,
    subject: "heddle",
    unit: "µs",
    size: runsInSession,
    run: (times) =>
      Effect.gen(function* () {
        for (let n = 0; n < times; n++) {
          yield* Effect.provideService(session(agent), Session.Session, Session.make(`s${sessions++}`))
        }
      }).pipe(Effect.provide(services), Effect.runPromise)
  })
  const [plainly, remembered] = await sample([competitor(plain), competitor(remembering)])
  await runtime.dispose()
  const added = remembered!.map((µs, i) => µs - plainly![i]!)
  return [{ case: name, subject: "heddle", unit: "µs", ...summary(added) }]
}
