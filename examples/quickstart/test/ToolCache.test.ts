import { Agent, Tool, Tools } from "@heddle/core"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Ref, Schema, TestClock } from "effect"
import { ToolCache } from "../ToolCache.ts"
import { calling, lastOutcome } from "./support.ts"

class Oops extends Schema.TaggedError<Oops>()("Oops", {}) {}

const agentWith = <R>(execute: (key: string) => Effect.Effect<string, Oops, R>, readOnly = true) =>
  Agent.make({
    name: "a",
    tools: Tools.make(
      Tool.make({
        name: "work",
        description: "",
        parameters: Schema.Struct({ key: Schema.String }),
        success: Schema.String,
        failure: Oops,
        annotations: { readOnly },
        execute: ({ key }) => execute(key)
      })
    ),
    handlers: ToolCache
  })

const layer = ToolCache.layer({ capacity: 100, timeToLive: "1 minute" })
const call = (key: string) => calling("work", { key })

describe("ToolCache", () => {
  it.effect("1,000 concurrent runs do the work once for each distinct call", () =>
    Effect.gen(function* () {
      const work = yield* Ref.make(0)
      const agent = agentWith((key) =>
        Ref.update(work, (n) => n + 1).pipe(Effect.zipRight(Effect.yieldNow()), Effect.as(`did ${key}`))
      )
      const texts = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, i) => i % 10),
        (key) =>
          Agent.run(agent, "?").pipe(
            Effect.provide(call(`key ${key}`)),
            Effect.map((result) => [key, result.text] as const)
          ),
        { concurrency: "unbounded" }
      )
      expect(texts.filter(([key, text]) => text !== `did key ${key}`)).toEqual([])
      expect(yield* Ref.get(work)).toBe(10)
    }).pipe(Effect.provide(layer))
  )

  it.effect("what is kept is kept for its time", () =>
    Effect.gen(function* () {
      const work = yield* Ref.make(0)
      const agent = agentWith(() =>
        Effect.as(
          Ref.update(work, (n) => n + 1),
          "done"
        )
      )
      const run = Agent.run(agent, "?").pipe(Effect.provide(call("k")))
      yield* run
      yield* run
      expect(yield* Ref.get(work)).toBe(1)
      yield* TestClock.adjust("2 minutes")
      yield* run
      expect(yield* Ref.get(work)).toBe(2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("failures and calls that change something are not kept", () =>
    Effect.gen(function* () {
      const work = yield* Ref.make(0)
      const failing = agentWith(() =>
        Effect.zipRight(
          Ref.update(work, (n) => n + 1),
          new Oops()
        )
      )
      const writing = agentWith(
        () =>
          Effect.as(
            Ref.update(work, (n) => n + 1),
            "done"
          ),
        false
      )
      const both = Effect.zip(Agent.run(failing, "?"), Agent.run(writing, "?")).pipe(Effect.provide(call("k")))
      const [first] = yield* both
      expect(lastOutcome(first.history)).toMatchObject({ _tag: "Failed" })
      yield* both
      expect(yield* Ref.get(work)).toBe(4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run that is cancelled while it works for another does not cancel the other", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const work = yield* Ref.make(0)
      const agent = agentWith(() =>
        Effect.flatMap(
          Ref.updateAndGet(work, (n) => n + 1),
          (n) => (n === 1 ? Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never) : Effect.succeed("done"))
        )
      )
      const run = Agent.run(agent, "?").pipe(Effect.provide(call("k")))
      const first = yield* Effect.fork(run)
      yield* Deferred.await(begun)
      const second = yield* Effect.fork(run)
      yield* Effect.yieldNow({ priority: 10 })
      yield* Fiber.interrupt(first)
      expect((yield* Fiber.join(second)).text).toBe("done")
    }).pipe(Effect.provide(layer))
  )

  it.effect("the work is done with the services of the run that asks", () =>
    Effect.gen(function* () {
      class User extends Context.Tag("User")<User, string>() {}
      const agent = agentWith(() => User)
      const result = yield* Agent.run(agent, "?").pipe(Effect.provide(call("k")), Effect.provideService(User, "Ada"))
      expect(result.text).toBe("Ada")
    }).pipe(Effect.provide(layer))
  )
})
