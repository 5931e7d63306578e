/** How runs end: the last event, what is kept, and who is to blame. */
import {
  Agent,
  AgentEvent,
  Call,
  ChatModel,
  Errors,
  Handler,
  Instructions,
  Message,
  Pipeline,
  Tool,
  Tools
} from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Ref, Schema, Stream } from "effect"

class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}
class Other extends Schema.TaggedError<Other>()("Other", {}) {}

const broken = new Errors.ModelError({ reason: "Network", message: "the line broke" })
const echo = Tool.make({ name: "echo", description: "Says it.", execute: () => "echo" })

/** The events of a run, and how its stream ended. */
const watch = <P, E>(
  handlers: Handler.Handler<P, E>,
  script: ScriptedModel.Script,
  change: Instructions.Change = (i) => i
) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent | Call.Reset> = []
    const agent = Agent.make({ name: "watched", tools: Tools.make(echo), handlers })
    const exit = yield* Agent.stream(agent, "Hi").pipe(
      Instructions.scoped(change),
      Stream.runForEach((event) => Effect.sync(() => void events.push(event))),
      Effect.provide(ScriptedModel.layer(script)),
      Effect.exit
    )
    return { events, exit, last: events.at(-1)! }
  })

it.effect("the last event says how the run really ended: with what a handler made of a failure", () =>
  Effect.gen(function* () {
    const mapped = Handler.wrapAgent((run, next) =>
      Call.around(
        next(run),
        Effect.mapError(() => new Other())
      )
    )
    const { events, last } = yield* watch(mapped, [broken])
    expect(last).toMatchObject({ _tag: "Failed", error: new Other() })
    expect(events.filter((event) => event._tag === "Failed")).toHaveLength(1)
  })
)

it.effect("the last event says how the run really ended: with a timeout and not as cancelled", () =>
  Effect.gen(function* () {
    const timed = Handler.wrapAgent((run, next) =>
      Call.around(next(run), (effect) => Effect.raceFirst(effect, Effect.zipRight(Effect.yieldNow(), new Other())))
    )
    const never = Handler.beforeModel((history) => Effect.as(Effect.never, history))
    const { events, last } = yield* watch(Pipeline.make(timed, never), ["Hello."])
    expect(last).toMatchObject({ _tag: "Failed", error: new Other() })
    expect(events.map((event) => event._tag)).not.toContain("Cancelled")
  })
)

it.effect("a finalizer that dies hides no failure, and the run still has its last event", () =>
  Effect.gen(function* () {
    const dying = Handler.beforeAgent((run) =>
      Effect.as(
        Effect.acquireRelease(Effect.void, () => Effect.die("finalizer")),
        run
      )
    )
    const failing = yield* watch(dying, [broken])
    expect(Exit.isFailure(failing.exit) && Array.from(Cause.failures(failing.exit.cause))).toEqual([broken])
    expect(failing.last._tag).toBe("Failed")
    const ending = yield* watch(dying, ["Hello."])
    expect(ending.last).toMatchObject({ _tag: "Failed", error: "finalizer" })
  })
)

it.effect("a run leaves nothing in the context around it, also when a finalizer dies", () =>
  Effect.gen(function* () {
    const dying = Handler.beforeAgent((run) =>
      Effect.as(
        Effect.acquireRelease(Effect.void, () => Effect.die("finalizer")),
        run
      )
    )
    const agent = Agent.make({ name: "leaky", instructions: "LEAK", handlers: dying })
    yield* Effect.exit(Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(["Hello."]))))
    expect(Instructions.render(yield* Instructions.current)).toBe("")
  })
)

it.effect("what throws while a call is put together is a failure of its handler", () =>
  Effect.gen(function* () {
    const boom = () => {
      throw new Error("boom")
    }
    const agentSide = yield* watch(
      Handler.make("outer", { wrapAgent: (run, next) => Call.transform(next(run), boom) }),
      ["Hello."]
    )
    expect(agentSide.last).toMatchObject({ _tag: "Failed", handler: "outer", hook: "wrapAgent" })
    const modelSide = yield* watch(
      Handler.make("inner", { wrapModelCall: (request, next) => Call.transform(next(request), boom) }),
      ["Hello."]
    )
    expect(modelSide.last).toMatchObject({ _tag: "Failed", handler: "inner", hook: "wrapModelCall" })
    expect((yield* watch(Pipeline.empty, ["Hello."], boom)).last._tag).toBe("Failed")
  })
)

it.effect("a part function that throws is blamed on its handler, not on the model and not on another", () =>
  Effect.gen(function* () {
    const throwing = Handler.make("throwing", {
      wrapModelCall: (request, next) =>
        Call.map(next(request), (): ChatModel.ModelPart => {
          throw new Error("boom")
        })
    })
    const inner = Handler.make("inner", { wrapModelCall: (request, next) => next(request) })
    const { last } = yield* watch(Pipeline.make(throwing, inner), ["Hello."])
    expect(last).toMatchObject({ _tag: "Failed", handler: "throwing", hook: "wrapModelCall" })
  })
)

it.effect("an error that was caught and comes back from another handler is that one's", () =>
  Effect.gen(function* () {
    const shared = new Denied()
    const first = Handler.make("first", { wrapModelCall: () => Call.fail(shared) })
    const saving = Handler.make("saving", {
      wrapModelCall: (request, next) => Call.orElse(next(request), () => ChatModel.reply("saved"))
    })
    const second = Handler.make("second", { afterModel: () => Effect.fail(shared) })
    const { last } = yield* watch(Pipeline.make(saving, first, second), [])
    expect(last).toMatchObject({ _tag: "Failed", error: shared, handler: "second", hook: "afterModel" })
  })
)

it.effect("a finish or a failure after the run inside keeps what was said and spent", () =>
  Effect.gen(function* () {
    const script = [{ text: "Hello.", usage: { inputTokens: 3, outputTokens: 4 } }]
    const agent = Agent.make({ name: "kept", handlers: Handler.afterAgent(() => Handler.finish("Bye.")) })
    const result = yield* Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(script)))
    expect(result).toMatchObject({ text: "Bye.", end: "finish", steps: 1, usage: script[0]!.usage })
    expect(result.history.map(Message.text)).toEqual(["Hi", "Hello.", "Bye."])
    const { last } = yield* watch(
      Handler.afterAgent(() => new Denied()),
      script
    )
    expect(last).toMatchObject({ _tag: "Failed", steps: 1, usage: script[0]!.usage })
  })
)

it.effect("a second attempt is seen by the handlers before a provided service, too", () =>
  Effect.gen(function* () {
    class Service extends Context.Tag("Service")<Service, number>() {}
    const seen = yield* Ref.make<ReadonlyArray<string>>([])
    const reading = Handler.beforeModel((history) =>
      Effect.flatMap(Instructions.current, (i) =>
        Effect.as(
          Ref.update(seen, (all) => [...all, Instructions.render(i)]),
          history
        )
      )
    )
    const twice = Handler.wrapAgent((run, next) =>
      Call.unwrap(
        Effect.as(
          Call.run(next({ ...run, instructions: Instructions.make("first") }), AgentEvent.fold()),
          next({ ...run, instructions: Instructions.make("second") })
        )
      )
    )
    const handlers = Pipeline.make(twice, reading, Handler.provide(Service, Effect.succeed(1)))
    yield* watch(handlers, () => "Hello.")
    expect(yield* Ref.get(seen)).toEqual(["first", "second"])
  })
)

it.effect("run and stream give one history for replies of several texts, and for tools that a provider has run", () =>
  Effect.gen(function* () {
    const done = Message.toolCall("c1", "echo", {}, Message.succeeded("by the provider"))
    const texts = ["a", "b", ""].map((text) => ({ _tag: "Text" as const, text }))
    const model = ChatModel.layer((request) =>
      ChatModel.reply(request.history.length === 1 ? [...texts, done] : [...texts])
    )
    const agent = Agent.make({ name: "parity", tools: Tools.make(echo) })
    const run = yield* Agent.run(agent, "Hi").pipe(Effect.provide(model))
    const events = yield* Stream.runCollect(Agent.stream(agent, "Hi")).pipe(Effect.provide(model))
    const streamed = Array.from(events).findLast((event) => event._tag === "Completed")
    expect(streamed?.result).toEqual(run)
    expect(run.history[1]!.content).toEqual([{ _tag: "Text", text: "ab" }, done])
    expect(run.text).toBe("ab")
  })
)

it.effect("a tool that was hidden from the model does not run, also when a guard writes the reply anew", () =>
  Effect.gen(function* () {
    const danger = Tool.make({ name: "danger", description: "Harm.", execute: () => "harm" })
    const guard = Handler.wrapModelCall((request, next) =>
      Call.gate(next(request), (reply) => ChatModel.replyValue(reply.content))
    )
    const hiding = Handler.wrapModelCall((request, next) =>
      next({ ...request, tools: Tools.remove(request.tools, "danger") })
    )
    const agent = Agent.make({ name: "safe", tools: Tools.make(danger), handlers: Pipeline.make(guard, hiding) })
    const { history } = yield* Agent.run(agent, "Hi").pipe(
      Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "danger" }] }, "Done."]))
    )
    expect(history.flatMap(Message.toolCalls)[0]!.outcome._tag).toBe("Failed")
  })
)

it.effect("the events of an agent that runs as a tool say no more of a defect than that there was one", () =>
  Effect.gen(function* () {
    const inner = Agent.make({ name: "inner", handlers: Handler.beforeModel(() => Effect.die("password")) })
    const outer = Agent.make({ name: "outer", tools: Tools.make(Agent.asTool(inner, { description: "Inner." })) })
    const lines: Array<string> = []
    yield* Agent.stream(outer, "Hi").pipe(
      Stream.runForEach((event) => Effect.sync(() => void lines.push(JSON.stringify(AgentEvent.toJson(event))))),
      Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "inner", arguments: { input: "x" } }] }])),
      Effect.exit
    )
    expect(lines.filter((line) => line.includes("Failed") && line.includes("ToolProgress"))).toHaveLength(1)
    expect(lines.slice(0, -1).join("\n")).not.toContain("password")
  })
)
