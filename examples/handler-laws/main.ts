import { Agent, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Console, Effect } from "effect"
import { callLimit } from "./callLimit.ts"

const dice = Tool.make({ name: "dice", description: "Rolls a die.", execute: () => 4 })

const agent = Agent.make({ name: "gambler", tools: Tools.make(dice), handlers: callLimit(2) })

const Model = ScriptedModel.layer([
  { calls: [{ tool: "dice" }, { tool: "dice" }] },
  { calls: [{ tool: "dice" }] },
  "I have to stop."
])

const program = Effect.gen(function* () {
  yield* Console.log(Pipeline.explain(agent.pipeline))
  const { history } = yield* Agent.run(agent, "Roll until you win.")
  for (const call of history.flatMap(Message.toolCalls)) {
    yield* Console.log(`${call.id}: ${call.name} → ${Message.renderOutcome(call.outcome)}`)
  }
  yield* Console.log("\nIts laws are checked in test/callLimit.test.ts.")
})

await Effect.runPromise(program.pipe(Effect.provide(Model)))
