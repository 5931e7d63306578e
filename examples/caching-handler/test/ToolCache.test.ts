import { Agent, Call, Message, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Ref, Schema, TestClock } from "effect"
import { makeAgent, Model } from "../agent.ts"
import { ToolCache } from "../ToolCache.ts"

const Live = ToolCache.layer({ capacity: 100, timeToLive: "1 hour" })
const words = Array.from({ length: 20 }, (_, i) => "x".repeat(i + 1))

/** Runs the agent 1,000 times at once on 20 words; gives the answers and how often each word was looked up. */
const thousandRuns = Effect.gen(function* () {
  const counts = new Map<string, number>()
  const agent = makeAgent((word) => Effect.sync(() => counts.set(word, (counts.get(word) ?? 0) + 1)))
  const answers = yield* Effect.forEach(
    Array.from({ length: 1_000 }, (_, i) => words[i % words.length]!),
    (word) => Effect.map(Agent.run(agent, word), ({ text }) => [word, text] as const),
    { concurrency: "unbounded" }
  )
  return { answers, counts: words.map((word) => counts.get(word)) }
})

it.effect(
  "1,000 runs at once make each distinct call once, and each gets the answer to its own",
  () =>
    Effect.gen(function* () {
      const { answers, counts } = yield* thousandRuns
      expect(counts).toEqual(words.map(() => 1))
      expect(answers.filter(([word, text]) => text !== `${word}: a word of ${word.length} letters`)).toEqual([])
    }).pipe(Effect.provide([Live, Model])),
  30_000
)

it.effect(
  "another layer is another handler: off, every call is made",
  () =>
    Effect.gen(function* () {
      const { counts } = yield* thousandRuns
      expect(counts).toEqual(words.map(() => 50))
    }).pipe(Effect.provide([ToolCache.Off, Model])),
  30_000
)

it.effect("another layer is another handler: canned, no call is made", () =>
  Effect.gen(function* () {
    const { text } = yield* Agent.run(
      makeAgent(() => Effect.die("looked up")),
      "warp"
    )
    expect(text).toBe("canned")
  }).pipe(
    Effect.provide([Layer.succeed(ToolCache, { wrapToolCall: () => Call.succeed(Message.succeeded("canned")) }), Model])
  )
)

it.effect("an answer is looked up again when its time is over", () =>
  Effect.gen(function* () {
    const lookUps = yield* Ref.make(0)
    const agent = makeAgent(() => Ref.update(lookUps, (n) => n + 1))
    yield* Agent.run(agent, "warp")
    yield* TestClock.adjust("59 minutes")
    yield* Agent.run(agent, "warp")
    expect(yield* Ref.get(lookUps)).toBe(1)
    yield* TestClock.adjust("2 minutes")
    yield* Agent.run(agent, "warp")
    expect(yield* Ref.get(lookUps)).toBe(2)
  }).pipe(Effect.provide([Live, Model]))
)

it.effect("when the run that asked first is cancelled, one of those that wait makes the call", () =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<void>()
    const lookUps = yield* Ref.make(0)
    const agent = makeAgent(() =>
      Effect.flatMap(
        Ref.updateAndGet(lookUps, (n) => n + 1),
        (n) => (n === 1 ? Effect.zipRight(Deferred.succeed(first, undefined), Effect.never) : Effect.void)
      )
    )
    const leader = yield* Effect.fork(Agent.run(agent, "warp"))
    yield* Deferred.await(first)
    const others = yield* Effect.fork(
      Effect.replicateEffect(Agent.run(agent, "warp"), 100, { concurrency: "unbounded" })
    )
    for (let i = 0; i < 100; i++) yield* Effect.yieldNow()
    expect(yield* Ref.get(lookUps)).toBe(1)
    yield* Fiber.interrupt(leader)
    const answers = yield* Fiber.join(others)
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(["warp: a word of 4 letters"]))
    expect(yield* Ref.get(lookUps)).toBe(2)
  }).pipe(Effect.provide([Live, Model]))
)

class Down extends Schema.TaggedError<Down>()("Down", {}) {}
class Tenant extends Context.Tag("Tenant")<Tenant, string>() {}

const twice = ScriptedModel.layer((_, turn) => (turn % 2 === 0 ? { calls: [{ tool: "probe" }] } : "Done."))

/** Runs an agent with one tool twice, one after the other, and gives the outcomes of its calls. */
const outcomesOf = <E, R>(tool: Tool.Tool<E, R>) =>
  Effect.replicateEffect(
    Effect.map(
      Agent.run(Agent.make({ name: "twice", tools: Tools.make(tool), handlers: ToolCache }), "Go."),
      ({ history }) => history.flatMap(Message.toolCalls).map((call) => call.outcome._tag)
    ),
    2
  ).pipe(
    Effect.map((runs) => runs.flat()),
    Effect.provide([Live, twice])
  )

it.effect("a failure is not remembered", () =>
  Effect.gen(function* () {
    let calls = 0
    const probe = Tool.make({
      name: "probe",
      description: "Fails at first.",
      annotations: { readOnly: true },
      failure: Down,
      execute: () => (calls++ === 0 ? new Down() : Effect.succeed("up"))
    })
    expect(yield* outcomesOf(probe)).toEqual(["Failed", "Succeeded"])
  })
)

it.effect("a tool that does more than read is called each time", () =>
  Effect.gen(function* () {
    let calls = 0
    yield* outcomesOf(Tool.make({ name: "probe", description: "Counts.", execute: () => ++calls }))
    expect(calls).toBe(2)
  })
)

it.effect("a tool behind the cache is given the services of its run, which the cache itself does not have", () =>
  Effect.gen(function* () {
    const probe = Tool.make({
      name: "probe",
      description: "Says for whom.",
      annotations: { readOnly: true },
      execute: () => Tenant
    })
    const agent = Agent.make({ name: "tenant", tools: Tools.make(probe), handlers: ToolCache })
    const { history } = yield* Agent.run(agent, "Go.").pipe(Effect.provideService(Tenant, "ada"))
    expect(history.flatMap(Message.toolCalls)[0]?.outcome).toEqual(Message.succeeded("ada"))
  }).pipe(Effect.provide([Live, twice]))
)
