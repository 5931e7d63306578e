import { Agent } from "@heddle/core"
import { Console, Effect, Ref } from "effect"
import { makeAgent, Model } from "./agent.ts"
import { ToolCache } from "./ToolCache.ts"

const words = ["warp", "weft", "heddle", "shuttle", "reed"]

const program = Effect.gen(function* () {
  const lookUps = yield* Ref.make(0)
  const agent = makeAgent(() => Ref.update(lookUps, (n) => n + 1))
  const answers = yield* Effect.forEach(
    Array.from({ length: 1_000 }, (_, i) => words[i % words.length]!),
    (word) => Agent.run(agent, word),
    { concurrency: "unbounded" }
  )
  const distinct = new Set(answers.map((answer) => answer.text))
  yield* Console.log([...distinct].join("\n"))
  yield* Console.log(`${answers.length} runs at once, ${yield* Ref.get(lookUps)} look-ups`)
})

const Live = ToolCache.layer({ capacity: 100, timeToLive: "1 hour" })

await Effect.runPromise(
  Effect.gen(function* () {
    yield* Console.log("With the cache:")
    yield* program.pipe(Effect.provide(Live))
    yield* Console.log("\nWithout, by another layer:")
    yield* program.pipe(Effect.provide(ToolCache.Off))
  }).pipe(Effect.provide(Model))
)
