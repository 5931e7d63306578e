import { describe, expect, it } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
  type AgentRun,
  Call,
  ChatModel,
  Errors,
  Handler,
  History,
  Instructions,
  Message,
  Pipeline,
  Tool,
  Tools
} from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Cause, Context, Effect, Exit, Fiber, Layer, Ref } from "effect"
import { echo, events, onceEcho, Oops, only, outcomes } from "./support.ts"

const named = (name: string, result: string = name) => Tool.make({ name, description: name, execute: () => result })
const render = Instructions.render

/** Runs an agent of some handlers against a script. */
const scripted = <E>(
  handlers: Handler.Handler<unknown, E, ChatModel.ChatModel, unknown>,
  script: ScriptedModel.Script = onceEcho,
  options: { readonly tools?: Tools.Tools; readonly middleware?: Handler.Handler } = {}
) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(script)
    const agent = Agent.make({ name: "a", instructions: "Base.", tools: Tools.make(echo), handlers, ...options })
    // The errors that `handlers` answers do not matter here.
    const run = Agent.run(agent, "go") as Effect.Effect<AgentRun.AgentResult<string>, E, ChatModel.ChatModel>
    const result = yield* Effect.provide(run, model.layer)
    return { result, requests: yield* model.requests }
  })

describe("short constructors", () => {
  it.effect("instructions adds a section under the handler's name", () =>
    Effect.gen(function* () {
      const { requests } = yield* scripted(
        Pipeline.make(Handler.instructions("One."), Handler.instructions("Two.", "two"))
      )
      expect(requests[0]!.instructions.sections).toEqual([
        { source: "a", text: "Base." },
        { source: "instructions", text: "One." },
        { source: "two", text: "Two." }
      ])
    })
  )

  it.effect("mapInstructions changes them, at once or by an Effect; a section without a source gets its name", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        Handler.mapInstructions((i) => Instructions.append(i, "Sync."), "sync"),
        Handler.mapInstructions((i, run) => Effect.succeed(Instructions.prepend(i, run.agent, "effect")))
      )
      const { requests } = yield* scripted(handlers)
      expect(requests[0]!.instructions.sections).toEqual([
        { source: "effect", text: "a" },
        { source: "a", text: "Base." },
        { source: "sync", text: "Sync." }
      ])
    })
  )

  it.effect("tools adds tools, and the later handler wins", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        Handler.tools(named("t", "first")),
        Handler.tools(named("t", "second"), named("u"))
      )
      const { requests, result } = yield* scripted(handlers, [{ calls: [{ tool: "t" }] }, "done"])
      expect(requests[0]!.tools.names).toEqual(["echo", "t", "u"])
      expect(outcomes(result.history)).toEqual([Message.succeeded("second")])
    })
  )

  it.effect("mapTools removes and changes tools", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        Handler.tools(named("t")),
        Handler.mapTools((tools) => Tools.remove(tools, "echo")),
        Handler.mapTools((tools) => Effect.succeed(Tools.update(tools, "t", { returnDirectly: true })))
      )
      const { requests, result } = yield* scripted(handlers, [{ calls: [{ tool: "t" }] }])
      expect(requests[0]!.tools.names).toEqual(["t"])
      expect(result.end).toBe("tool")
    })
  )

  it.effect("beforeAgent changes input, history and options", () =>
    Effect.gen(function* () {
      const handlers = Handler.beforeAgent((run) => ({
        ...run,
        input: Message.user("another question"),
        history: [Message.user("earlier")],
        options: { ...run.options, model: { seed: 7 } }
      }))
      const { requests } = yield* scripted(handlers, ["ok"])
      expect(requests[0]!.history.map(Message.text)).toEqual(["earlier", "another question"])
      expect(requests[0]!.options).toEqual({ seed: 7 })
    })
  )

  it.effect("beforeModel and afterModel rewrite the history, and that is kept", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        Handler.beforeModel((history) => History.append(history, `before ${history.length}`)),
        Handler.afterModel((history) => Effect.succeed(history.filter((m) => !Message.text(m).startsWith("go"))))
      )
      const { requests, result } = yield* scripted(handlers, ["ok"])
      expect(requests[0]!.history.map(Message.text)).toEqual(["go", "before 1"])
      expect(result.history.map(Message.text)).toEqual(["before 1", "ok"])
    })
  )

  it.effect("wrapModelCall changes the request for this call only", () =>
    Effect.gen(function* () {
      const handlers = Handler.wrapModelCall((request, next) =>
        request.history.length === 1
          ? next({ ...request, instructions: Instructions.append(request.instructions, "Once.") })
          : next(request)
      )
      const { requests } = yield* scripted(handlers)
      expect(requests.map((request) => render(request.instructions))).toEqual(["Base.\n\nOnce.", "Base."])
    })
  )

  it.effect("wrapToolCall changes the call and its outcome, and may answer in its place", () =>
    Effect.gen(function* () {
      const changing = Handler.wrapToolCall((request, next) => next({ ...request, arguments: { text: "changed" } }))
      expect(outcomes((yield* scripted(changing)).result.history)).toEqual([Message.succeeded("changed")])
      const answering = Handler.wrapToolCall(() => Call.succeed(Message.succeeded("mine")))
      expect(outcomes((yield* scripted(answering)).result.history)).toEqual([Message.succeeded("mine")])
    })
  )

  it.effect("wrapAgent may give another result", () =>
    Effect.gen(function* () {
      const handlers = Handler.wrapAgent((run, next) =>
        Call.gate(next(run), (result) => ({ ...result, output: "mine", text: "mine" }))
      )
      expect((yield* scripted(handlers)).result.text).toBe("mine")
    })
  )

  it.effect("afterAgent runs on success alone, onExit on every exit", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const handlers = Pipeline.make(
        Handler.onExit(({ exit, steps, history }) =>
          Effect.sync(() => seen.push(`exit ${exit._tag} after ${steps}: ${history.length} messages`))
        ),
        Handler.afterAgent((result) => void seen.push(`after: ${result.text}`)),
        Handler.afterAgent((result) => Effect.sync(() => seen.push(`effect: ${result.text}`)))
      )
      yield* scripted(handlers)
      expect(seen).toEqual(["effect: done", "after: done", "exit Success after 2: 3 messages"])
      seen.length = 0
      yield* Effect.exit(scripted(handlers, []))
      // Nobody watches the events of this run, so how far it came is told all the same.
      expect(seen).toEqual(["exit Failure after 1: 1 messages"])
    })
  )

  it.effect("fromMiddleware runs before the handlers, with all its parts", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const noting = (what: string) => (history: History.History) => {
        log.push(what)
        return history
      }
      const middleware = Handler.fromMiddleware({
        additionalInstruction: "Flat.",
        additionalTools: [named("flat")],
        beforeChatModel: noting("middleware before"),
        afterChatModel: noting("middleware after"),
        wrapToolCall: (request, next) => Call.unwrap(Effect.sync(() => (log.push("middleware tool"), next(request))))
      })
      const handlers = Handler.make("handler", {
        beforeAgent: (run) => ({ ...run, instructions: Instructions.append(run.instructions, "Handler.") }),
        beforeModel: noting("handler before"),
        afterModel: noting("handler after"),
        wrapToolCall: (request, next) => Call.unwrap(Effect.sync(() => (log.push("handler tool"), next(request))))
      })
      const { requests } = yield* scripted(handlers, onceEcho, { middleware })
      expect(requests[0]!.instructions.sections.map((section) => section.source)).toEqual([
        "a",
        "middleware",
        "handler"
      ])
      expect(requests[0]!.tools.names).toEqual(["echo", "flat"])
      const step = ["middleware before", "handler before", "middleware after", "handler after"]
      expect(log).toEqual([...step, "middleware tool", "handler tool", ...step])
    })
  )

  it.effect("an empty middleware does nothing", () =>
    Effect.gen(function* () {
      const { result } = yield* scripted(Handler.fromMiddleware({}))
      expect(result.text).toBe("done")
      expect(Handler.hooks(Handler.fromMiddleware({}))).toEqual({})
    })
  )
})

describe("order", () => {
  it.effect("before- and after-hooks run in pipeline order, wraps nest with the first outermost", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const noting = <A>(what: string, value: A): A => {
        log.push(what)
        return value
      }
      const around = <C extends Call.Any>(call: C, what: string) =>
        Call.around(call, (effect) =>
          Effect.ensuring(
            Effect.zipRight(
              Effect.sync(() => log.push(`${what}>`)),
              effect
            ),
            Effect.sync(() => log.push(`${what}<`))
          )
        ) as C
      const noisy = (name: string) =>
        Handler.make(name, {
          beforeAgent: (run) => noting(`${name}.beforeAgent`, run),
          wrapAgent: (run, next) => around(next(run), `${name}.agent`),
          beforeModel: (history) => noting(`${name}.beforeModel`, history),
          wrapModelCall: (request, next) => around(next(request), `${name}.model`),
          afterModel: (history) => noting(`${name}.afterModel`, history),
          wrapToolCall: (request, next) => around(next(request), `${name}.tool`)
        })
      yield* scripted(Pipeline.make(noisy("a"), noisy("b")))
      const step = ["a.beforeModel", "b.beforeModel", "a.model>", "b.model>", "b.model<", "a.model<"]
      const after = ["a.afterModel", "b.afterModel"]
      expect(log).toEqual([
        "a.agent>",
        "a.beforeAgent",
        "b.agent>",
        "b.beforeAgent",
        ...step,
        ...after,
        "a.tool>",
        "b.tool>",
        "b.tool<",
        "a.tool<",
        ...step,
        ...after,
        "b.agent<",
        "a.agent<"
      ])
    })
  )
})

describe("catchError", () => {
  const error = new Oops({ from: "tool" })
  const failing = Handler.beforeModel((history) => (history.length > 1 ? Effect.fail(error) : history), "failing")

  it.effect("answers an error from within, and keeps usage, steps and history", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 5, outputTokens: 6 }
      const handlers = Pipeline.make(
        Handler.catchError(Oops, (oops) => `sorry, ${oops.from}`),
        failing
      )
      const script = [{ calls: [{ tool: "echo", arguments: { text: "x" } }], usage }]
      const { result } = yield* scripted(handlers, script)
      expect(result).toMatchObject({ text: "sorry, tool", output: "sorry, tool", steps: 1, usage, end: "finish" })
      expect(result.history.map((message) => message.role)).toEqual(["user", "assistant", "assistant"])
      expect(History.isPaired(result.history)).toBe(true)
      expect(outcomes(result.history)).toEqual([Message.succeeded("x")])
    })
  )

  it.effect("lets other errors through, and fails with what its answer fails with", () =>
    Effect.gen(function* () {
      const other = Pipeline.make(
        Handler.catchError(Errors.ModelError, () => "never"),
        failing
      )
      expect(yield* Effect.flip(scripted(other))).toBe(error)
      const mine = new Oops({ from: "answer" })
      const again = Pipeline.make(
        Handler.catchError(Oops, () => Effect.fail(mine)),
        failing
      )
      expect(yield* Effect.flip(scripted(again))).toBe(mine)
    })
  )

  it.effect("does not catch what comes before it", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        failing,
        Handler.catchError(Oops, () => "caught")
      )
      // The loop runs inside of all handlers; a before-agent of an earlier handler does not.
      const early = Pipeline.make(
        Handler.beforeAgent(() => Effect.fail(error)),
        Handler.catchError(Oops, () => "caught")
      )
      expect(yield* Effect.flip(scripted(early))).toBe(error)
      expect((yield* scripted(handlers)).result.text).toBe("caught")
    })
  )

  it.effect("takes back what the failed run had emitted, and shows no failure", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(
        Handler.catchError(Oops, () => "caught"),
        failing
      )
      const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers })
      const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(onceEcho))
      expect(all.slice(-2).map((event) => event._tag)).toEqual(["Reset", "Completed"])
      expect(all.map((event) => event._tag)).not.toContain("Failed")
    })
  )
})

describe("state", () => {
  it.effect("of a run does not leak over many runs at once", () =>
    Effect.gen(function* () {
      const counter = Handler.effect(
        "counter",
        Effect.map(Ref.make(0), (calls) => ({
          beforeModel: (history: History.History) => Effect.zipRight(Effect.yieldNow(), Effect.succeed(history)),
          wrapModelCall: (request, next) =>
            Call.unwrap(
              Effect.map(
                Ref.updateAndGet(calls, (n) => n + 1),
                (n) => next({ ...request, instructions: Instructions.append(request.instructions, `call ${n}`) })
              )
            )
        }))
      )
      const model = yield* ScriptedModel.make(onceEcho)
      const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers: counter })
      yield* Effect.provide(
        Effect.all(
          Array.from({ length: 100 }, () => Agent.run(agent, "go")),
          { concurrency: "unbounded" }
        ),
        model.layer
      )
      const seen = (yield* model.requests).map((request) => render(request.instructions))
      expect(seen.filter((text) => text === "call 1").length).toBe(100)
      expect(seen.filter((text) => text === "call 2").length).toBe(100)
    })
  )

  it.effect("of a tagged handler is built once by its layer, and another layer takes its place", () =>
    Effect.gen(function* () {
      let built = 0
      class Meter extends Handler.Tag("Meter")<Meter>() {
        static readonly Live = Layer.effect(
          Meter,
          Effect.map(Ref.make(0), (calls) => {
            built++
            return {
              wrapModelCall: (request, next) =>
                Call.unwrap(
                  Effect.map(
                    Ref.updateAndGet(calls, (n) => n + 1),
                    (n) => next({ ...request, purpose: `call ${n}` })
                  )
                )
            }
          })
        )
        static readonly Test = Layer.succeed(Meter, {})
      }
      const agent = Agent.make({ name: "a", handlers: Pipeline.make(Meter, Handler.instructions("x")) })
      const model = yield* ScriptedModel.make(() => "ok")
      const twice = Effect.zip(Agent.run(agent, "go"), Agent.run(agent, "go"))
      yield* twice.pipe(Effect.provide(Meter.Live), Effect.provide(model.layer))
      expect(built).toBe(1)
      yield* Agent.run(agent, "go").pipe(Effect.provide(Meter.Test), Effect.provide(model.layer))
      expect((yield* model.requests).map((request) => request.purpose)).toEqual(["call 1", "call 2", "agent"])
      expect(Handler.isHandler(Meter)).toBe(true)
      expect([null, {}, 1].some(Handler.isHandler)).toBe(false)
    })
  )
})

describe("provide", () => {
  class Db extends Context.Tag("Db")<Db, string>() {}
  const reads = (log: Array<string>, name: string) => {
    const read = Effect.map(Effect.serviceOption(Db), (db) =>
      log.push(`${name}: ${db._tag === "Some" ? db.value : "none"}`)
    )
    return Handler.make(name, {
      beforeAgent: (run) => Effect.as(read, run),
      wrapAgent: (run, next) => Call.unwrap(Effect.as(read, next(run))),
      beforeModel: (history) => Effect.as(read, history),
      wrapModelCall: (request, next) => Call.unwrap(Effect.as(read, next(request))),
      afterModel: (history) => Effect.as(read, history),
      wrapToolCall: (request, next) => Call.unwrap(Effect.as(read, next(request)))
    })
  }

  it.effect("what comes after sees the service: handlers, tools and model; what comes before does not", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const tool = Tool.make({
        name: "t",
        description: "t",
        execute: () => Effect.map(Db, (db) => void log.push(`tool: ${db}`))
      })
      const model = ChatModel.layer((request) =>
        Call.unwrap(
          Effect.map(Effect.serviceOption(Db), (db) => {
            log.push(`model: ${db._tag === "Some" ? db.value : "none"}`)
            return ChatModel.reply(request.history.length > 1 ? "done" : [Message.toolCall("1", "t", {})])
          })
        )
      )
      const handlers = Pipeline.make(
        reads(log, "before"),
        Handler.provide(Db, Effect.succeed("one")),
        reads(log, "between"),
        Handler.provide(
          Db,
          Effect.map(Db, (db) => `${db}+two`)
        ),
        reads(log, "after")
      )
      const agent = Agent.make({ name: "a", tools: Tools.make(tool), handlers })
      yield* Effect.provide(Agent.run(agent, "go"), model)
      expect(new Set(log)).toEqual(
        new Set(["before: none", "between: one", "after: one+two", "model: one+two", "tool: one+two"])
      )
      expect(log.filter((entry) => entry === "before: none").length).toBe(9)
      log.length = 0
      yield* Agent.run(agent, "go").pipe(Effect.provideService(Db, "outer"), Effect.provide(model))
      expect(new Set(log)).toEqual(
        new Set(["before: outer", "between: one", "after: one+two", "model: one+two", "tool: one+two"])
      )
    })
  )

  it.effect("is built once a run and released once at its end, in reverse", () =>
    Effect.gen(function* () {
      for (const script of [["ok"], []]) {
        const log: Array<string> = []
        const scoped = (name: string) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              log.push(`${name}>`)
              return name
            }),
            () => Effect.sync(() => log.push(`${name}<`))
          )
        class Other extends Context.Tag("Other")<Other, string>() {}
        const handlers = Pipeline.make(Handler.provide(Db, scoped("db")), Handler.provide(Other, scoped("other")))
        yield* Effect.exit(scripted(handlers, script))
        expect(log).toEqual(["db>", "other>", "other<", "db<"])
      }
    })
  )
})

describe("finish", () => {
  const done = Handler.finish("enough")
  const finishing: Record<Handler.HookName, Handler.Handler> = {
    beforeAgent: Handler.beforeAgent(() => done, "finishing"),
    wrapAgent: Handler.wrapAgent(() => Call.fromEffect(done), "finishing"),
    beforeModel: Handler.beforeModel(() => done, "finishing"),
    wrapModelCall: Handler.wrapModelCall(() => Call.fromEffect(done), "finishing"),
    afterModel: Handler.afterModel(() => done, "finishing"),
    wrapToolCall: Handler.wrapToolCall(() => Call.fromEffect(done), "finishing")
  }
  for (const hook of Handler.hookNames) {
    it.effect(`from ${hook} ends the run with the answer, whatever a handler around it catches`, () =>
      Effect.gen(function* () {
        const left: Array<string> = []
        const catching = Handler.make("catching", {
          wrapAgent: (run, next) =>
            Call.onExit(Call.retry(next(run), { times: 2 }), () => Effect.sync(() => left.push("left"))),
          wrapModelCall: (request, next) => Call.orElse(next(request), () => ChatModel.reply("caught")),
          wrapToolCall: (request, next) => Call.orElse(next(request), () => Call.succeed(Message.succeeded("caught")))
        })
        const { result } = yield* scripted(Pipeline.make(catching, finishing[hook]))
        expect(result).toMatchObject({ text: "enough", output: "enough", end: "finish" })
        expect(History.isPaired(result.history)).toBe(true)
        expect(Message.text(result.history.at(-1)!)).toBe("enough")
        expect(left).toEqual(["left"])
        const agent = Agent.make({
          name: "a",
          tools: Tools.make(echo),
          handlers: Pipeline.make(catching, finishing[hook])
        })
        const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(onceEcho))
        expect(only(all, "Completed").map((event) => event.result.text)).toEqual(["enough"])
        expect(only(all, "Failed")).toEqual([])
      })
    )
  }

  it.effect("while handlers are built ends the run, too", () =>
    Effect.gen(function* () {
      class Db extends Context.Tag("Db")<Db, string>() {}
      for (const handler of [Handler.effect("h", done), Handler.provide(Db, done)]) {
        expect((yield* scripted(handler)).result).toMatchObject({ text: "enough", steps: 0 })
      }
    })
  )
})

describe("wrapAgent that calls next twice", () => {
  it.effect("one after the other: the second begins anew", () =>
    Effect.gen(function* () {
      const handlers = Handler.wrapAgent((run, next) =>
        Call.orElse(next({ ...run, input: Message.user("first") }), () =>
          next({ ...run, input: Message.user("second") })
        )
      )
      const script: ScriptedModel.Script = (request) =>
        ChatModel.question(request) === "first"
          ? new Errors.ModelError({ reason: "Network", message: "broke" })
          : ChatModel.question(request)
      const { result } = yield* scripted(handlers, script)
      expect(result).toMatchObject({ text: "second", steps: 1 })
      expect(result.history.map(Message.text)).toEqual(["second", "second"])
    })
  )

  it.effect("in parallel: the attempts do not see each other", () =>
    Effect.gen(function* () {
      const released: Array<string> = []
      const best = Handler.wrapAgent((run, next) =>
        Call.fromEffect(
          Effect.map(
            Effect.forEach(
              ["one", "two", "three"],
              (text) =>
                Call.run(
                  next({ ...run, input: Message.user(text), instructions: Instructions.make(text) }),
                  AgentEvent.fold<AgentRun.AgentResult>()
                ),
              { concurrency: "unbounded" }
            ),
            (results) => ({ ...results[0]!, text: results.map((result) => result.text).join(), output: "best" })
          )
        )
      )
      const acquiring = Handler.beforeAgent(
        (run) =>
          Effect.as(
            Effect.acquireRelease(Effect.yieldNow(), () => Effect.sync(() => released.push(Message.text(run.input)))),
            run
          ),
        "acquiring"
      )
      const script: ScriptedModel.Script = (request) => `${ChatModel.question(request)} ${render(request.instructions)}`
      const { requests, result } = yield* scripted(Pipeline.make(best, acquiring), script)
      expect(result.text).toBe("one one,two two,three three")
      expect(requests.length).toBe(3)
      expect(released.toSorted()).toEqual(["one", "three", "two"])
    })
  )
})

describe("describing", () => {
  it("hooks gives those of a stateless handler, and refuses others", () => {
    const beforeModel = (history: History.History) => history
    expect(Handler.hooks(Handler.beforeModel(beforeModel))).toEqual({ beforeModel })
    expect(() => Handler.hooks(Handler.effect("later", Effect.succeed({})))).toThrow(
      'The hooks of handler "later" are not known before a run.'
    )
  })

  it.effect("declare changes what is said of a handler, and nothing else", () =>
    Effect.gen(function* () {
      class Db extends Context.Tag("Db")<Db, string>() {}
      const handler = Handler.beforeAgent(
        (run) => (run.agent === "b" ? Effect.fail(new Oops({ from: "b" })) : Effect.as(Db, run)),
        "h"
      )
      const declared = Handler.declare(handler, { needs: [Db], fails: [Oops] })
      expect(Handler.definition(declared)).toEqual({
        ...Handler.definition(handler),
        info: { needs: ["Db"], fails: ["Oops"] }
      })
      const { result } = yield* scripted(Pipeline.make(Handler.provide(Db, Effect.succeed("db")), declared))
      expect(result.text).toBe("done")
    })
  )

  it.effect("a scope in a hook is the run's: an interrupted run releases it", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const handlers = Handler.beforeModel((history) =>
        Effect.as(
          Effect.acquireRelease(
            Effect.sync(() => log.push("acquired")),
            () => Effect.sync(() => log.push("released"))
          ),
          history
        )
      )
      const hanging = ChatModel.layer(() => Call.fromEffect(Effect.never))
      const fiber = yield* Effect.fork(Effect.provide(Agent.run(Agent.make({ name: "a", handlers }), "go"), hanging))
      for (let i = 0; i < 10; i++) yield* Effect.yieldNow()
      expect(log).toEqual(["acquired"])
      const exit = yield* Fiber.interrupt(fiber)
      expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
      expect(log).toEqual(["acquired", "released"])
    })
  )
})
