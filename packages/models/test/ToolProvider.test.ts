import { describe, expect, it } from "@effect/vitest"
import { Agent, AgentEvent, Call, Errors, Handler, History, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ToolProvider } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import { Laws } from "@heddle/testing/vitest"
import { Context, Effect, Exit, FastCheck as fc, Fiber, Layer, Ref, Schema, Stream, TestClock } from "effect"

const { ToolProviderError } = ToolProvider
const defined = (name: string, more: Partial<ToolProvider.ToolDefinition> = {}): ToolProvider.ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  jsonSchema: { type: "object" },
  ...more
})
const saying: ToolProvider.Execution = {
  execute: (call) => Call.succeed(Message.succeeded(`${call.name} of the provider ${JSON.stringify(call.arguments)}`))
}
const provider = (names: ReadonlyArray<string>, execution = saying): ToolProvider.ToolProvider =>
  ToolProvider.make({ name: "p", definitions: ToolProvider.fixed(names.map((name) => defined(name))), execution })
const gone = new ToolProviderError({ provider: "p", reason: "Unavailable", message: "p went away" })
const away: ToolProvider.ToolProvider = {
  ...provider([]),
  definitions: { list: Effect.fail(gone), changes: Stream.empty }
}
const namesOf = (provider: ToolProvider.ToolProvider, options?: ToolProvider.Options) =>
  Effect.map(ToolProvider.tools(provider, options), (tools) => tools.names)
const outcomes = (history: History.History) => history.flatMap(Message.toolCalls).map((call) => call.outcome)
const own = Tool.make({ name: "own", description: "Its own.", execute: () => "the agent's own" })

describe("the tools of a provider", () => {
  it.effect("are tools with its descriptions, schemas and annotations, in its order", () =>
    Effect.gen(function* () {
      const jsonSchema = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }
      const all = ToolProvider.make({
        name: "p",
        definitions: ToolProvider.fixed([defined("b", { jsonSchema, annotations: { readOnly: true } }), defined("a")]),
        execution: saying
      })
      const tools = yield* ToolProvider.tools(all)
      expect(tools.names).toEqual(["b", "a"])
      expect(tools.get("b")).toMatchObject({
        description: "Does b.",
        jsonSchema,
        annotations: { readOnly: true, destructive: false, idempotent: false }
      })
    })
  )

  it.effect("are chosen by globs over whole names; what is denied is not given, whatever is allowed", () =>
    Effect.gen(function* () {
      const p = provider(["read_file", "read_dir", "write_file", "a.b", "aXb"])
      expect(yield* namesOf(p, { allow: ["read_*"] })).toEqual(["read_file", "read_dir"])
      expect(yield* namesOf(p, { allow: ["*_file", "a.b"], deny: ["write*"] })).toEqual(["read_file", "a_b"])
      expect(yield* namesOf(p, { allow: ["read_file"], deny: ["*"] })).toEqual([])
      expect(yield* namesOf(p, { allow: ["a?b"] })).toEqual(["a_b", "aXb"])
      expect(yield* namesOf(p, { allow: ["ead_"] })).toEqual([])
      expect(yield* namesOf(p, { allow: [] })).toEqual([])
      expect(yield* namesOf(p, { deny: (tool) => tool.description.includes("write") })).toHaveLength(4)
    })
  )

  it("globs are matched in time, whatever the pattern", () => {
    const long = "a".repeat(10_000)
    const names = Effect.runSync(namesOf(provider([long]), { allow: [`${"a*".repeat(50)}b`] }))
    expect(names).toEqual([])
  })

  it.effect("a name that is not allowed is changed to one that is, and back for the call", () =>
    Effect.gen(function* () {
      const tools = yield* ToolProvider.tools(provider(["files/read", "files_read", "", "é", "x".repeat(80)]))
      expect(tools.names).toHaveLength(5)
      expect(tools.names).toContain("files_read")
      for (const name of tools.names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      const results = yield* Effect.forEach(tools, (tool) =>
        Tool.run(
          Tool.execute({
            id: "c",
            name: tool.name,
            arguments: {},
            tool,
            offered: []
          }) as Tool.ToolRun
        )
      )
      expect(results.map(Message.renderOutcome).toSorted()).toEqual(
        ["files/read", "files_read", "", "é", "x".repeat(80)].map((name) => `${name} of the provider {}`).toSorted()
      )
    })
  )

  it("names are legal and apart for any list, and those that were legal are kept", () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom("a b", "a_b", "a/b"))),
        (names) => {
          const made = Effect.runSync(namesOf(provider(names), { prefix: "p_" }))
          expect(made).toHaveLength(names.length)
          for (const name of made) expect(name).toMatch(/^p_[a-zA-Z0-9_-]{0,62}$/)
          for (const name of names) if (/^[a-zA-Z0-9_-]{1,62}$/.test(name)) expect(made).toContain(`p_${name}`)
        }
      )
    ))

  it.effect("a name that was changed is the same in the next list", () =>
    Effect.gen(function* () {
      const long = "y".repeat(70)
      const before = yield* namesOf(provider(["a b", "a_b", long]))
      const after = yield* namesOf(provider([long, "z", "a_b", "a b"]))
      expect(after.toSorted()).toEqual([...before, "z"].toSorted())
    })
  )

  it.effect("of two with one name the first is given, and names of objects are names like others", () =>
    Effect.gen(function* () {
      expect(yield* namesOf(provider(["a", "a", "__proto__", "constructor"]))).toEqual([
        "a",
        "__proto__",
        "constructor"
      ])
    })
  )

  it.effect("can be tools of ours, which then do what they did: results, failures, mistakes and progress", () =>
    Effect.gen(function* () {
      const boom = new Error("boom")
      const mine = Tools.make(
        Tool.make({
          name: "add",
          description: "Adds.",
          parameters: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
          annotations: { readOnly: true },
          execute: ({ a, b }, { progress }) => Effect.as(progress("adding"), a + b)
        }),
        Tool.make({
          name: "refuse",
          description: "Refuses.",
          failure: Schema.String,
          execute: () => Effect.fail("no")
        }),
        Tool.make({ name: "throw", description: "Throws.", execute: () => Effect.die(boom) }),
        Tool.make({
          name: "leave",
          description: "Is away.",
          failure: Schema.Any,
          failureMode: "fail",
          execute: () => gone
        })
      )
      const p = ToolProvider.fromTools("ours", mine)
      const tools = yield* ToolProvider.tools(p, { prefix: "p_", failureMode: "fail" })
      expect(tools.names).toEqual(["p_add", "p_refuse", "p_throw", "p_leave"])
      for (const { annotations, description, jsonSchema, name } of mine) {
        expect(tools.get(`p_${name}`)).toMatchObject({ annotations, description, jsonSchema })
      }
      const run = (name: string, args: object = {}) =>
        Call.collect(p.execution.execute({ id: "c", name, arguments: { ...args } }), Tool.fold)
      expect(yield* run("add", { a: 1, b: 2 })).toMatchObject({
        value: Message.succeeded(3),
        parts: [{ _tag: "Progress", value: "adding" }, { _tag: "Done" }]
      })
      expect((yield* run("add", { a: "1" })).value).toMatchObject({ _tag: "Failed" })
      expect((yield* run("refuse")).value).toMatchObject({ _tag: "Failed", error: "no" })
      expect(yield* Effect.flip(run("leave"))).toBe(gone)
      expect(yield* Effect.exit(run("throw"))).toEqual(Exit.die(boom))
      expect(yield* Effect.flip(run("constructor"))).toMatchObject({ provider: "ours", reason: "Rejected" })
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(p, { allow: ["add", "throw"] }) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "add", arguments: { a: 2, b: 2 } }] }, "done"])
      const { history } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
      expect(outcomes(history)).toEqual([Message.succeeded(4)])
      const failing = Agent.run(agent, "go").pipe(Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "throw" }] }])))
      expect(yield* Effect.flip(failing)).toMatchObject({ _tag: "ToolError", reason: "Threw", cause: boom })
    })
  )

  it("a prefix that no tool may have is refused when the handler is made", () => {
    expect(() => ToolProvider.handler(provider([]), { prefix: "a b" })).toThrow(Errors.DefinitionError)
    expect(() => ToolProvider.tools(provider([]), { prefix: "x".repeat(33) })).toThrow(Errors.DefinitionError)
  })
})

describe("the handler", () => {
  describe("keeps the laws", () =>
    Laws.handler(ToolProvider.handler(provider(["a", "b"]), { prefix: "p_" }), { runs: 20 }))

  it.effect("gives a run the tools of the provider, which runs their calls", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([{ calls: [{ tool: "x_read", arguments: { path: "a" } }] }, "done"])
      const agent = Agent.make({
        name: "a",
        tools: Tools.make(own),
        handlers: ToolProvider.handler(provider(["read"]), { prefix: "x_", callTimeout: Infinity })
      })
      const { history, text } = yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
      expect(text).toBe("done")
      expect((yield* model.requests).map(({ tools }) => tools.names)).toEqual([
        ["own", "x_read"],
        ["own", "x_read"]
      ])
      expect(outcomes(history)).toEqual([Message.succeeded('read of the provider {"path":"a"}')])
    })
  )

  it.effect("a tool that appears or vanishes between two steps is there or gone in the next request", () =>
    Effect.gen(function* () {
      const names = yield* Ref.make<ReadonlyArray<string>>(["one"])
      const changing: ToolProvider.ToolProvider = {
        name: "p",
        definitions: {
          list: Effect.map(Ref.get(names), (names) => names.map((name) => defined(name))),
          changes: Stream.empty
        },
        execution: { execute: () => Call.fromEffect(Effect.as(Ref.set(names, ["two"]), Message.succeeded("changed"))) }
      }
      const model = yield* ScriptedModel.make([{ calls: [{ tool: "one" }] }, { calls: [{ tool: "one" }] }, "done"])
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(changing) })
      const { history } = yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
      expect((yield* model.requests).map(({ tools }) => tools.names)).toEqual([["one"], ["two"], ["two"]])
      expect(outcomes(history)).toEqual([
        Message.succeeded("changed"),
        Message.failed('There is no tool named "one". The tools are: two.')
      ])
    })
  )

  it.effect("the agent's own tool wins, and the result has a warning, one for each name", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([{ calls: [{ tool: "own" }] }, "done"])
      const handlers = Pipeline.make(
        ToolProvider.handler(provider(["own", "first"]), { name: "one" }),
        ToolProvider.handler({ ...provider(["first", "second"]), name: "q" }, { name: "two" })
      )
      const agent = Agent.make({ name: "a", tools: Tools.make(own), handlers })
      const { history, warnings } = yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
      expect(outcomes(history)).toEqual([Message.succeeded("the agent's own")])
      expect((yield* model.requests)[1]?.tools.names).toEqual(["own", "first", "second"])
      expect(warnings).toHaveLength(2)
      expect(warnings).toEqual(
        expect.arrayContaining([
          {
            handler: "one",
            error: expect.objectContaining({ provider: "p", message: expect.stringContaining('"own"') })
          },
          {
            handler: "two",
            error: expect.objectContaining({ provider: "q", message: expect.stringContaining('"first"') })
          }
        ])
      )
    })
  )

  it.effect("a provider that cannot list its tools fails the run, with its own error", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(away) })
      const error = yield* Effect.flip(Agent.run(agent, "go").pipe(Effect.provide(ScriptedModel.layer(["done"]))))
      expect(error).toBe(gone)
    })
  )

  it.effect("or the run goes on without and says so once; then nothing of it is in the type", () =>
    Effect.gen(function* () {
      const handlers = ToolProvider.handler(away, { onUnavailable: "warn" })
      const safe: Handler.Handler = handlers
      const agent = Agent.make({ name: "a", tools: Tools.make(own), handlers: safe })
      const model = ScriptedModel.layer([{ calls: [{ tool: "own" }] }, "done"])
      const { text, warnings } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
      expect(text).toBe("done")
      expect(warnings).toEqual([{ handler: "toolProvider", error: gone }])
    })
  )

  const failing = provider(["a"], {
    execute: () =>
      Call.make((emit) => Effect.zipRight(emit({ _tag: "Text", text: "half an answer" }), Effect.fail(gone)))
  })
  it.effect("a call that the provider could not run is told to the model, without the half that it had said", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(failing) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "a" }] }, "done"])
      const { history } = yield* Agent.run(agent, "go").pipe(Effect.provide(model))
      expect(outcomes(history)).toEqual([
        Message.failed('Tool "a" could not be run: p went away', { _tag: "ToolProviderError", reason: "Unavailable" })
      ])
    })
  )

  it.effect("or it fails the run", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(failing, { failureMode: "fail" }) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "a" }] }, "done"])
      expect(yield* Effect.flip(Agent.run(agent, "go").pipe(Effect.provide(model)))).toBe(gone)
    })
  )

  it.effect("a call that takes too long is interrupted, and the model is told", () =>
    Effect.gen(function* () {
      const interrupted = yield* Ref.make(0)
      const stalling = provider(["a"], {
        execute: () =>
          Call.fromEffect(
            Effect.onInterrupt(Effect.never as Effect.Effect<Message.ToolOutcome>, () =>
              Ref.update(interrupted, (n) => n + 1)
            )
          )
      })
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(stalling, { callTimeout: "5 seconds" }) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "a" }] }, "done"])
      const run = yield* Effect.fork(Agent.run(agent, "go").pipe(Effect.provide(model)))
      yield* TestClock.adjust("5 seconds")
      const { history } = yield* Fiber.join(run)
      expect(yield* Ref.get(interrupted)).toBe(1)
      expect(outcomes(history)).toMatchObject([{ _tag: "Failed", error: { reason: "Timeout" } }])
    })
  )

  it.effect("progress of a call is told as events", () =>
    Effect.gen(function* () {
      const telling = provider(["a"], {
        execute: () =>
          Call.fromIterable<Tool.ToolPart>([
            { _tag: "Progress", value: 1 },
            { _tag: "Text", text: "ok" }
          ])
      })
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(telling) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "a" }] }, "done"])
      const events = yield* Stream.runCollect(Agent.stream(agent, "go").pipe(Stream.provideLayer(model)))
      const progress = Array.from(events).filter(
        (event) => event._tag === "ToolProgress"
      ) as Array<AgentEvent.AgentEvent>
      expect(progress).toEqual([{ _tag: "ToolProgress", step: 1, id: "call-1", value: 1 }])
    })
  )

  it.effect("the last word at the step limit is asked for without tools", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([{ calls: [{ tool: "a" }] }, "the end"])
      const agent = Agent.make({
        name: "a",
        maxSteps: 1,
        onStepLimit: "answer",
        handlers: ToolProvider.handler(provider(["a"]))
      })
      yield* Agent.run(agent, "go").pipe(Effect.provide(model.layer))
      expect((yield* model.requests).map(({ tools }) => tools.names)).toEqual([["a"], []])
    })
  )

  it.effect("takes its provider from a service, which the type of the agent says", () =>
    Effect.gen(function* () {
      class Files extends Context.Tag("Files")<Files, ToolProvider.ToolProvider>() {}
      const agent = Agent.make({ name: "a", handlers: ToolProvider.handler(Files) })
      const needs: Effect.Effect<unknown, unknown, Files> = Agent.run(agent, "go").pipe(
        Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "a" }] }, "done"]))
      )
      yield* Effect.provide(needs, Layer.succeed(Files, provider(["a"])))
    })
  )
})
