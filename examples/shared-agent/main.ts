import { Instructions } from "@heddle/core"
import { Console, Effect } from "effect"
import { agent, countWrong, modelFor, runFor } from "./runs.ts"

const users = 1_000

const program = Effect.gen(function* () {
  const wrong = yield* countWrong(users)
  const { text } = yield* runFor(7)
  yield* Console.log(`One of the runs saw:\n  ${text.replaceAll("\n\n", "\n  ")}`)
  yield* Console.log(`The agent still says:\n  ${Instructions.render(agent.instructions)}`)
  yield* Console.log(`${users} runs at once of one agent, ${wrong} with wrong instructions`)
})

await Effect.runPromise(program.pipe(Effect.provide(modelFor(users))))
