import { History, Message } from "@heddle/core"
import { Console, Effect, Exit } from "effect"
import { duringModelCall, duringToolCalls, type Report } from "./runs.ts"

const show = (title: string, { exit, history, log }: Report) =>
  Effect.gen(function* () {
    yield* Console.log(`${title}\n  ${log.join("\n  ")}`)
    yield* Console.log(`  exit: ${Exit.isInterrupted(exit) ? "interrupted" : exit._tag}`)
    for (const call of history.flatMap(Message.toolCalls)) {
      yield* Console.log(`  ${call.name.padEnd(7)} → ${call.outcome._tag}`)
    }
    yield* Console.log(`  ${history.length} messages, every call with an outcome: ${History.isPaired(history)}\n`)
  })

const program = Effect.gen(function* () {
  yield* show("Cancelled while the model speaks", yield* duringModelCall)
  yield* show("Cancelled while tools are at work", yield* duringToolCalls)
})

await Effect.runPromise(program)
