import { describe, expect, it } from "@effect/vitest"
import { Agent, AgentEvent, AgentRun, Call, Handler, History, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Effect, Ref } from "effect"
import { events, Oops, onceEcho, echo, only } from "./support.ts"

const warn = (name: string, error: unknown) =>
  Handler.wrapAgent(
    (run, next) => AgentEvent.warnAfter(next(run), () => Effect.succeed([{ handler: name, error }])),
    name
  )

const model = (script: ScriptedModel.Script) => Effect.map(ScriptedModel.make(script), ({ layer }) => layer)

describe("warnings of a run", () => {
  it.effect("go with the result, innermost first, and are told as events before it", () =>
    Effect.gen(function* () {
      const layer = yield* model(() => "fine")
      const agent = Agent.make({
        name: "a",
        handlers: Pipeline.make(warn("outer", 1), warn("inner", new Oops({ from: "x" })))
      })
      const warnings = [
        { handler: "inner", error: new Oops({ from: "x" }) },
        { handler: "outer", error: 1 }
      ]
      const result = yield* Effect.provide(Agent.run(agent, "go"), layer)
      expect(result.text).toBe("fine")
      expect(result.warnings).toEqual(warnings)
      const streamed = yield* Effect.provide(events(agent), layer)
      expect(only(streamed.events, "Warning").map(({ error, handler }) => ({ handler, error }))).toEqual(warnings)
      expect(streamed.events.slice(-3).map(({ _tag }) => _tag)).toEqual(["Warning", "Warning", "Completed"])
      expect(only(streamed.events, "Completed")[0]?.result.warnings).toEqual(warnings)
    })
  )

  it.effect("are not there if there are none", () =>
    Effect.gen(function* () {
      const quiet = Handler.wrapAgent((run, next) => AgentEvent.warnAfter(next(run), () => Effect.succeed([])))
      const result = yield* Effect.provide(
        Agent.run(Agent.make({ name: "a", handlers: quiet }), "go"),
        yield* model(["fine"])
      )
      expect("warnings" in result).toBe(false)
    })
  )

  it.effect(
    "the function sees the result before anyone else does, once, and not that of an attempt that was given up",
    () =>
      Effect.gen(function* () {
        const seen = yield* Ref.make<ReadonlyArray<string>>([])
        const note = Handler.wrapAgent((run, next) =>
          AgentEvent.warnAfter(
            Call.orElse(
              Call.gate(next(run), (result) =>
                result.text === "no" ? Effect.fail(new Oops({ from: "gate" })) : result
              ),
              () => next(run)
            ),
            ({ text }) =>
              Effect.as(
                Ref.update(seen, (all) => [...all, text]),
                []
              )
          )
        )
        const agent = Agent.make({ name: "a", handlers: note })
        const { exit } = yield* Effect.provide(events(agent), yield* model(["no", "yes"]))
        expect(exit._tag).toBe("Success")
        expect(yield* Ref.get(seen)).toEqual(["yes"])
      })
  )

  it.effect("what the function fails with is the failure of the run", () =>
    Effect.gen(function* () {
      const broken = Handler.wrapAgent((run, next) =>
        AgentEvent.warnAfter(next(run), () => Effect.fail(new Oops({ from: "after" })))
      )
      const agent = Agent.make({ name: "a", handlers: broken })
      const error = yield* Effect.flip(Effect.provide(Agent.run(agent, "go"), yield* model(["fine"])))
      expect(error).toEqual(new Oops({ from: "after" }))
    })
  )

  it("as JSON, errors are told by tag and message", () => {
    const warning = { handler: "h", error: new TypeError("odd") }
    const told = { handler: "h", error: { _tag: "TypeError", message: "odd" } }
    expect(AgentEvent.toJson({ _tag: "Warning", ...warning })).toEqual({ _tag: "Warning", ...told })
    expect(
      AgentEvent.toJson({ _tag: "ToolProgress", step: 1, id: "c", value: { _tag: "Warning", ...warning } })["value"]
    ).toEqual({ _tag: "Warning", ...told })
    const result = { output: "", text: "", history: [], steps: 1, usage: { inputTokens: 0, outputTokens: 0 } }
    const completed = AgentEvent.toJson({
      _tag: "Completed",
      result: { ...result, end: "answer", warnings: [warning] }
    })
    expect(completed["result"]).toEqual({ ...result, end: "answer", warnings: [told] })
  })
})

describe("History.current", () => {
  it.effect("is what was said so far, with the calls that are going on pending", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<History.History>>([])
      const note = Effect.flatMap(History.current, (history) => Ref.update(seen, (all) => [...all, history]))
      const look = Tool.make({ name: "look", description: "Looks.", execute: () => Effect.as(note, "seen") })
      const agent = Agent.make({
        name: "a",
        tools: Tools.make(look, echo),
        handlers: Handler.beforeModel((history) => Effect.as(note, history))
      })
      const before = [Message.user("earlier"), Message.assistant("yes")]
      yield* Effect.provide(
        Agent.run(agent, "go", { history: before }),
        yield* model([{ calls: [{ tool: "look" }] }, "done"])
      )
      const asked = [...before, Message.user("go")]
      expect(yield* Ref.get(seen)).toEqual([
        asked,
        [...asked, ScriptedModel.asked({ tool: "look" })],
        [...asked, ScriptedModel.asked({ tool: "look", outcome: Message.succeeded("seen") })]
      ])
    })
  )

  it.effect("in an agent that runs as a tool, is that agent's own", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<History.History>([])
      const inner = Agent.make({
        name: "inner",
        handlers: Handler.beforeModel((history) =>
          Effect.as(
            Effect.flatMap(History.current, (now) => Ref.set(seen, now)),
            history
          )
        )
      })
      const outer = Agent.make({ name: "outer", tools: Tools.make(Agent.asTool(inner)) })
      const script: ScriptedModel.Script = ({ history }) =>
        Message.text(history[0]!) === "ask"
          ? "inside"
          : history.length === 1
            ? { calls: [{ tool: "inner", arguments: { input: "ask" } }] }
            : "done"
      yield* Effect.provide(Agent.run(outer, "go"), yield* model(script))
      expect(yield* Ref.get(seen)).toEqual([Message.user("ask")])
    })
  )

  it.effect("is empty outside of a run", () =>
    Effect.gen(function* () {
      expect(yield* History.current).toEqual([])
      yield* Effect.provide(Agent.run(Agent.make({ name: "a", tools: Tools.make(echo) }), "go"), yield* model(onceEcho))
      expect(yield* History.current).toEqual([])
    })
  )
})

describe("AgentRun.currentMetadata", () => {
  it.effect("is what the call and handlers have made of it, in a tool; in an agent that runs as a tool its own", () =>
    Effect.gen(function* () {
      const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
      const note = Effect.flatMap(AgentRun.currentMetadata, (now) => Ref.update(seen, (all) => [...all, now]))
      const look = Tool.make({ name: "look", description: "Looks.", execute: () => Effect.as(note, "seen") })
      const inner = Agent.make({ name: "inner", tools: Tools.make(look) })
      const outer = Agent.make({
        name: "outer",
        tools: Tools.make(Agent.asTool(inner, { run: { metadata: { of: "inner" } } }), look),
        handlers: Handler.beforeAgent((run: AgentRun.RunConfig) => ({
          ...run,
          options: { ...run.options, metadata: { ...run.options.metadata, added: true } }
        }))
      })
      const script: ScriptedModel.Script = ({ history }) => {
        const calls = history.flatMap(Message.toolCalls).length
        if (Message.text(history[0]!) === "ask") return calls === 0 ? { calls: [{ tool: "look" }] } : "inside"
        return (
          [{ calls: [{ tool: "inner", arguments: { input: "ask" } }] }, { calls: [{ tool: "look" }] }][calls] ?? "done"
        )
      }
      yield* Effect.provide(Agent.run(outer, "go", { metadata: { of: "call" } }), yield* model(script))
      expect(yield* Ref.get(seen)).toEqual([{ of: "inner" }, { of: "call", added: true }])
      expect(yield* AgentRun.currentMetadata).toEqual({})
    })
  )
})
