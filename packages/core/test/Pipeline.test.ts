import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, Errors, Handler, Pipeline, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Cause, Context, Effect, Exit, Fiber, Schema, TestClock } from "effect"
import { echo, onceEcho } from "./support.ts"

class Db extends Context.Tag("Db")<Db, string>() {}
class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}
class Cache extends Handler.Tag("Cache")<Cache, Denied>() {}

const names = (pipeline: Handler.Any) =>
  (pipeline as Pipeline.Pipeline).handlers.map((handler) => Handler.definition(handler).name)

describe("a pipeline", () => {
  const a = Handler.instructions("a", "a")
  const b = Handler.instructions("b", "b")

  it("is its handlers in order, however they are grouped", () => {
    expect(names(Pipeline.make(a, Pipeline.make(b, a), Pipeline.empty))).toEqual(["a", "b", "a"])
    expect(names(Pipeline.andThen(a, b))).toEqual(["a", "b"])
    expect(names(Pipeline.make(a).pipe(Pipeline.andThen(Pipeline.make(b))))).toEqual(["a", "b"])
    expect(Pipeline.isPipeline(Pipeline.empty)).toBe(true)
    expect(Pipeline.isPipeline(a)).toBe(false)
  })

  it("refuses what is no handler", () => {
    for (const garbage of [undefined, null, "text", {}, () => a]) {
      expect(() => Pipeline.make(garbage as unknown as Handler.Handler)).toThrow(Errors.DefinitionError)
      expect(() => Pipeline.make(garbage as unknown as Handler.Handler)).toThrow("A pipeline is made of handlers, and")
    }
  })
})

describe("explain", () => {
  it("says of each handler how long it lives, its hooks, what it provides, needs, fails with and answers", () => {
    const pipeline = Pipeline.make(
      Handler.catchError(Denied, () => "no"),
      Handler.provide(Db, Effect.succeed("db")),
      Handler.declare(
        Handler.make("guard", {
          wrapToolCall: (request, next) => next(request),
          beforeAgent: (run) => Effect.flatMap(Db, (db) => (db === "" ? new Denied() : Effect.succeed(run)))
        }),
        { needs: [Db], fails: [Denied] }
      ),
      Handler.effect("counter", Effect.succeed({})),
      Handler.declare(Handler.effect("timer", Effect.succeed({ afterModel: (history) => history })), {
        hooks: ["afterModel"]
      }),
      Cache,
      Handler.make("nothing", {})
    )
    expect(Pipeline.explain(pipeline)).toBe(
      [
        "1. catchError(Denied) (stateless)",
        "   hooks: wrapAgent",
        "   answers: Denied",
        "2. provide(Db) (built for each run)",
        "   provides: Db",
        "3. guard (stateless)",
        "   hooks: beforeAgent, wrapToolCall",
        "   needs: Db",
        "   may fail with: Denied",
        "4. counter (built for each run)",
        "   hooks: known when it is built",
        "5. timer (built for each run)",
        "   hooks: afterModel",
        "6. Cache (built once, by a layer)",
        "   hooks: known when it is built",
        "   needs: Cache",
        "7. nothing (stateless)"
      ].join("\n")
    )
  })

  it("says so of an empty pipeline, and of a single handler", () => {
    expect(Pipeline.explain(Pipeline.empty)).toBe("An empty pipeline: the agent runs as it is.")
    expect(Pipeline.explain(Handler.instructions("x"))).toBe("1. instructions (stateless)\n   hooks: beforeAgent")
  })

  it("aligns numbers of two digits", () => {
    const many = Array.from({ length: 10 }, (_, i) => Handler.make(`h${i}`, {}))
    expect(
      Pipeline.explain(Pipeline.make(...many))
        .split("\n")
        .slice(-2)
    ).toEqual([" 9. h8 (stateless)", "10. h9 (stateless)"])
  })
})

describe("observe", () => {
  const slow = (seconds: number) => Effect.sleep(`${seconds} seconds`)
  const pipeline = Pipeline.make(
    Handler.provide(Db, Effect.as(slow(1), "db")),
    Handler.effect(
      "built",
      Effect.succeed({
        beforeAgent: (run) => Effect.as(slow(2), run),
        wrapModelCall: (request, next) => Call.around(next(request), (effect) => Effect.zipLeft(effect, slow(3))),
        wrapToolCall: (request, next) => Call.around(next(request), (effect) => Effect.zipLeft(effect, slow(4)))
      })
    ),
    Handler.make("plain", {
      beforeModel: (history) => history,
      wrapAgent: (run, next) => next(run)
    })
  )
  const run = (handlers: typeof pipeline) =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers })
      const fiber = yield* Effect.fork(Effect.provide(Agent.run(agent, "go"), ScriptedModel.layer(onceEcho)))
      yield* TestClock.adjust("1 hour")
      return yield* Fiber.join(fiber)
    })

  it.effect("changes nothing in what a run comes to", () =>
    Effect.gen(function* () {
      expect(yield* run(Pipeline.observe(pipeline, () => {}))).toEqual(yield* run(pipeline))
      expect(Pipeline.explain(Pipeline.observe(pipeline, () => {}))).toBe(Pipeline.explain(pipeline))
    })
  )

  it.effect("tells when each hook began and ended, and what of it was its own", () =>
    Effect.gen(function* () {
      const seen: Array<Pipeline.Seen> = []
      yield* run(pipeline.pipe(Pipeline.observe((one) => void seen.push(one))))
      const own = seen.map(({ handler, hook, self, tool }) => [handler, hook, self / 1000, ...(tool ? [tool] : [])])
      expect(own).toEqual([
        ["provide(Db)", "provide", 1],
        ["built", "beforeAgent", 2],
        ["plain", "beforeModel", 0],
        ["built", "wrapModelCall", 3],
        ["built", "wrapToolCall", 4, "echo"],
        ["plain", "beforeModel", 0],
        ["built", "wrapModelCall", 3],
        ["plain", "wrapAgent", 0]
      ])
      for (const { endedAt, self, startedAt } of seen) expect(self).toBeLessThanOrEqual(endedAt - startedAt)
    })
  )

  it.effect("observes handlers that are services, and those that break", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const observed = Pipeline.observe(Cache, ({ handler, hook }) => void seen.push(`${handler}.${hook}`))
      const agent = Agent.make({ name: "a", handlers: observed })
      const error = yield* Effect.flip(
        Agent.run(agent, "go").pipe(
          Effect.provideService(Cache, { beforeAgent: () => new Denied() }),
          Effect.provide(ScriptedModel.layer([]))
        )
      )
      expect(error).toBeInstanceOf(Denied)
      expect(seen).toEqual(["Cache.beforeAgent"])
      const broken = Handler.fromDefinition({
        name: "broken",
        source: { _tag: "Stateless", hooks: { wrapModelCall: (() => 7) as never } },
        info: {}
      })
      const exit = yield* Effect.exit(
        Effect.provide(
          Agent.run(Agent.make({ name: "a", handlers: Pipeline.observe(broken, () => {}) }), "go"),
          ScriptedModel.layer(["ok"])
        )
      )
      expect(Exit.isFailure(exit) && String(Cause.squash(exit.cause))).toContain(
        'Handler "broken" returned 7 in wrapModelCall'
      )
    })
  )
})
