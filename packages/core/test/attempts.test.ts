import { Agent, type AgentEvent, AgentEvent as Events, Call, Handler, Instructions, Pipeline } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Effect, Ref, Schema, Stream } from "effect"

class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}

const eventsOf = (handlers: Handler.Handler<never, Denied>) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent | Call.Reset> = []
    const agent = Agent.make({ name: "tried", handlers })
    yield* Agent.stream(agent, "Hi").pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.exit,
      Effect.provide(ScriptedModel.layer(() => "Hello."))
    )
    return events
  })

it.effect("a run whose second attempt fails ends with one Failed, which says whose failure it is", () =>
  Effect.gen(function* () {
    const again = Handler.wrapAgent((run, next) => Call.retry(next(run), { times: 1 }), "again")
    const guard = Handler.make("guard", { beforeModel: () => new Denied() })
    const events = yield* eventsOf(
      Pipeline.make(
        again,
        Handler.wrapAgent((run, next) => next(run)),
        guard
      )
    )
    const sinceReset = events.slice(events.findLastIndex((event) => event._tag === "Reset") + 1)
    expect(events.filter((event) => event._tag === "Reset")).toHaveLength(1)
    expect(sinceReset.map((event) => event._tag)).toEqual(["Failed"])
    expect(sinceReset[0]).toMatchObject({ handler: "guard", hook: "beforeModel" })
  })
)

it.effect("attempts at the same time release what they acquired, each when it ends", () =>
  Effect.gen(function* () {
    const open = yield* Ref.make(0)
    const most = yield* Ref.make(0)
    const acquiring = Handler.beforeAgent(
      (run) =>
        Effect.acquireRelease(
          Effect.flatMap(
            Ref.updateAndGet(open, (n) => n + 1),
            (n) => Ref.update(most, (m) => Math.max(m, n))
          ),
          () => Ref.update(open, (n) => n - 1)
        ).pipe(Effect.zipRight(Effect.yieldNow()), Effect.as(run)),
      "acquiring"
    )
    const both = Handler.wrapAgent(
      (run, next) =>
        Call.fromEffect(
          Effect.map(
            Effect.all([Call.run(next(run), Events.fold()), Call.run(next(run), Events.fold())], { concurrency: 2 }),
            ([one]) => one
          )
        ),
      "both"
    )
    const agent = Agent.make({ name: "doubled", handlers: Pipeline.make(both, acquiring) })
    const { text } = yield* Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(() => "Hello.")))
    expect(text).toBe("Hello.")
    expect(yield* Ref.get(most)).toBe(2)
    expect(yield* Ref.get(open)).toBe(0)
  })
)

it.effect("a handler that is built for a run reads what the handlers before it made of the instructions", () =>
  Effect.gen(function* () {
    const seen = yield* Ref.make("")
    const reader = Handler.effect(
      "reader",
      Effect.as(
        Effect.flatMap(Instructions.current, (i) => Ref.set(seen, Instructions.render(i))),
        {}
      )
    )
    const agent = Agent.make({
      name: "read",
      instructions: "Base.",
      handlers: Pipeline.make(Handler.instructions("More."), reader)
    })
    yield* Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(["Hello."])))
    expect(yield* Ref.get(seen)).toBe("Base.\n\nMore.")
  })
)
