import { Pipeline } from "@heddle/core"
import { Console, Effect, Layer } from "effect"
import { ask, Live, pipeline } from "./agent.ts"
import { Model } from "./model.ts"

const program = Effect.gen(function* () {
  yield* Console.log(Pipeline.explain(pipeline))
  for (const [token, question] of [
    ["t-1", "How warm is it?"],
    ["t-1", "How warm is it in Atlantis?"],
    ["t-2", "How warm is it?"]
  ] as const) {
    const { text } = yield* ask(token, question)
    yield* Console.log(`\n${token}: ${question}\n  → ${text}`)
  }
})

await Effect.runPromise(program.pipe(Effect.provide(Layer.merge(Live, Model))))
