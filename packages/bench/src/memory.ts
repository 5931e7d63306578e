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

/** Runs an agent in a session that has a window's worth of exchanges and more. */
export const caseJ = async (): Promise<ReadonlyArray<Result>> => {
  const model = ChatModel.layer(() => ChatModel.reply("the answer"))
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      model,
      Conversations.layerMemory(),
      Summaries.layerNone,
      Layer.succeed(Session.Session, Session.make("s"))
    )
  )
  const services = await runtime.runtime()
  const plain = Agent.make({ name: "plain", instructions: "Answer." })
  const remembering = Agent.make({ name: "remembering", instructions: "Answer.", handlers: Memory.handler() })
  const competitor = <E>(
    agent: Agent.Agent<
      string,
      E,
      ChatModel.ChatModel | Conversations.Conversations | Session.Session | Summaries.Summaries
    >
  ): Competitor => {
    return {
      case: name,
      subject: "heddle",
      unit: "µs",
      run: async (times) => {
        await Effect.runPromise(
          Effect.provide(
            Effect.gen(function* () {
              for (let i = 0; i < times; i++) {
                const { text } = yield* Agent.run(agent, "a question of some words")
                assert(text === "the answer", "an answer")
              }
            }),
            services
          )
        )
      }
    }
  }
  const [plainly, remembered] = await sample([competitor(plain), competitor(remembering)])
  await runtime.dispose()
  const added = remembered!.map((µs, i) => µs - plainly![i]!)
  return [{ case: name, subject: "heddle", unit: "µs", ...summary(added) }]
}
