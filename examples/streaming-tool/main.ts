import { Agent, Message } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Console, Effect, Stream } from "effect"
import { agent } from "./agent.ts"

const Model = () => ScriptedModel.layer([{ calls: [{ tool: "read_log" }, { tool: "deploy" }] }, "All is well."])

const program = Effect.gen(function* () {
  yield* Console.log("streamed:")
  yield* Agent.stream(agent, "Deploy.").pipe(
    Stream.runForEach((event) => {
      switch (event._tag) {
        case "ToolText":
          return Console.log(`  read_log says   ${JSON.stringify(event.text)}`)
        case "ToolProgress":
          return Console.log(`  deploy is at    ${JSON.stringify(event.value)}`)
        case "ToolFinished":
          return Console.log(`  ${event.name.padEnd(8)} ended  ${JSON.stringify(event.outcome)}`)
        default:
          return Effect.void
      }
    }),
    Effect.provide(Model())
  )
  yield* Console.log("\nrun:")
  const { history } = yield* Agent.run(agent, "Deploy.").pipe(Effect.provide(Model()))
  for (const call of history.flatMap(Message.toolCalls)) {
    yield* Console.log(`  ${call.name.padEnd(8)} ended  ${JSON.stringify(call.outcome)}`)
  }
})

await Effect.runPromise(program)
