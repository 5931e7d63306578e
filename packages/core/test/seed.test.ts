/**
 * What the design that this one starts from could do, and what it could not: a
 * test for each row of `docs/seed-map.md` that no other test shows.
 */
import {
  Agent,
  Call,
  type ChatModel,
  Handler,
  History,
  Instructions,
  Message,
  Pipeline,
  Tool,
  Tools
} from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Ref, Schema, Stream } from "effect"

class Denied extends Schema.TaggedError<Denied>()("Denied", { who: Schema.String }) {}
class Token extends Context.Tag("Token")<Token, string>() {}

const say = (name: string, text: string) => Tool.make({ name, description: `Says ${text}.`, execute: () => text })
const slow = Tool.stream({
  name: "slow",
  description: "Says it bit by bit.",
  execute: () => Stream.make("bit ", "by ", "bit")
})
const a = say("a", "from a")
const b = say("b", "from b")

const call = (tool: string): ScriptedModel.Reply => ({ calls: [{ tool }] })

/** The result of a run, and what the model was asked. */
const runWith = <E, R, H>(
  handlers: Handler.Handler<never, E, R, H>,
  script: ScriptedModel.Script = ["Done."],
  options?: {
    readonly tools?: Tools.Tools
    readonly instructions?: string
    readonly middleware?: Handler.Handler
    readonly input?: string
    readonly run?: Agent.CallOptions
  }
) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(script)
    const agent = Agent.make({
      name: "agent",
      instructions: options?.instructions ?? "Base.",
      tools: options?.tools ?? Tools.make(a, b),
      ...(options?.middleware && { middleware: options.middleware }),
      handlers
    })
    const result = yield* Agent.run(agent, options?.input ?? "Hi", options?.run).pipe(Effect.provide(model.layer))
    return { result, requests: yield* model.requests }
  })

const told = (requests: ReadonlyArray<ChatModel.ModelRequest>, i = 0) => Instructions.render(requests[i]!.instructions)
const offered = (requests: ReadonlyArray<ChatModel.ModelRequest>, i = 0) => requests[i]!.tools.names
const outcomes = ({ history }: { readonly history: History.History }) =>
  history.flatMap(Message.toolCalls).map((call) => Message.renderOutcome(call.outcome))

describe("a handler is a value, not a struct of fixed fields", () => {
  it.effect("it may carry state, and each run has its own", () =>
    Effect.gen(function* () {
      const numbering = Handler.effect(
        "numbering",
        Effect.map(Ref.make(0), (n) => ({
          wrapToolCall: () =>
            Call.fromEffect(
              Effect.map(
                Ref.updateAndGet(n, (n) => n + 1),
                (n) => Message.succeeded(`call ${n}`)
              )
            )
        }))
      )
      const agent = Agent.make({ name: "agent", tools: Tools.make(a), handlers: numbering })
      const results = yield* Effect.replicateEffect(
        Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer([call("a"), call("a"), "Done."]))),
        50,
        { concurrency: "unbounded" }
      )
      for (const result of results) expect(outcomes(result)).toEqual(["call 1", "call 2"])
    })
  )

  it.effect("handlers of different kinds stand in one pipeline", () =>
    Effect.gen(function* () {
      class Greeter extends Handler.Tag("Greeter")<Greeter>() {}
      const pipeline = Pipeline.make(
        Handler.instructions("One."),
        Handler.effect("two", Effect.succeed({ beforeModel: (history) => history })),
        Greeter
      )
      const live = Layer.succeed(Greeter, Handler.hooks(Handler.instructions("Three.", "Greeter")))
      const { requests } = yield* Effect.provide(runWith(pipeline), live)
      expect(told(requests)).toBe("Base.\n\nOne.\n\nThree.")
    })
  )

  it.effect("a handler with one hook needs no other, and one without any changes nothing", () =>
    Effect.gen(function* () {
      const plain = yield* runWith(Pipeline.empty)
      const idle = yield* runWith(Handler.make("idle", {}))
      expect(idle.result).toEqual(plain.result)
      expect(Pipeline.explain(Handler.instructions("x"))).toContain("hooks: beforeAgent")
    })
  )
})

describe("instructions may be changed in any way", () => {
  const change = (f: Instructions.Change) =>
    Effect.map(runWith(Handler.mapInstructions(f)), ({ requests }) => told(requests))

  it.effect("put before, put behind, replaced", () =>
    Effect.gen(function* () {
      expect(yield* change(Instructions.prepend("First."))).toBe("First.\n\nBase.")
      expect(yield* change(Instructions.append("Last."))).toBe("Base.\n\nLast.")
      expect(yield* change(Instructions.replace("agent", "Other."))).toBe("Other.")
      expect(yield* change(() => Instructions.make("Mine."))).toBe("Mine.")
    })
  )

  it.effect("on a condition, and by what the run is asked", () =>
    Effect.gen(function* () {
      const byInput = Handler.mapInstructions((instructions, run) =>
        Message.text(run.input).includes("kindly") ? Instructions.append(instructions, "Be kind.") : instructions
      )
      expect(told((yield* runWith(byInput, ["."], { input: "Hi" })).requests)).toBe("Base.")
      expect(told((yield* runWith(byInput, ["."], { input: "Hi, kindly" })).requests)).toBe("Base.\n\nBe kind.")
    })
  )

  it.effect("changes of several handlers add up, in their order", () =>
    Effect.gen(function* () {
      const pipeline = Pipeline.make(
        Handler.instructions("One.", "one"),
        Handler.mapInstructions(Instructions.replace("one", "Replaced."), "two"),
        Handler.mapInstructions(Instructions.prepend("Zero."), "zero")
      )
      const { requests } = yield* runWith(pipeline)
      expect(requests[0]!.instructions.sections).toEqual([
        { source: "zero", text: "Zero." },
        { source: "agent", text: "Base." },
        { source: "one", text: "Replaced." }
      ])
    })
  )
})

describe("tools may be added, removed and changed", () => {
  it.effect("added, behind those of the agent", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* runWith(Handler.tools(say("c", "from c")), [call("c"), "Done."])
      expect(offered(requests)).toEqual(["a", "b", "c"])
      expect(outcomes(result)).toEqual(["from c"])
    })
  )

  it.effect("removed", () =>
    Effect.gen(function* () {
      expect(offered((yield* runWith(Handler.mapTools(Tools.remove("a")))).requests)).toEqual(["b"])
    })
  )

  it.effect("a tool that one handler adds a later one may remove", () =>
    Effect.gen(function* () {
      const pipeline = Pipeline.make(Handler.tools(say("c", "from c")), Handler.mapTools(Tools.remove("c")))
      const { requests } = yield* runWith(pipeline)
      expect(offered(requests)).toEqual(["a", "b"])
    })
  )

  it.effect("by what the run is asked", () =>
    Effect.gen(function* () {
      const byInput = Handler.mapTools((tools, run) =>
        Message.text(run.input) === "only b" ? Tools.filter(tools, ({ name }) => name === "b") : tools
      )
      expect(offered((yield* runWith(byInput, ["."], { input: "only b" })).requests)).toEqual(["b"])
      expect(offered((yield* runWith(byInput)).requests)).toEqual(["a", "b"])
    })
  )

  it.effect("a tool made to return directly ends the run with its result", () =>
    Effect.gen(function* () {
      const direct = Handler.mapTools(Tools.update("a", { returnDirectly: true }))
      const { result } = yield* runWith(direct, [call("a")])
      expect(result).toMatchObject({ end: "tool", text: "from a", steps: 1 })
    })
  )

  it.effect("of two handlers that set returnDirectly, the later wins", () =>
    Effect.gen(function* () {
      const set = (returnDirectly: boolean) => Handler.mapTools(Tools.update("a", { returnDirectly }))
      const off = yield* runWith(Pipeline.make(set(true), set(false)), [call("a"), "Done."])
      expect(off.result).toMatchObject({ end: "answer", text: "Done." })
      const on = yield* runWith(Pipeline.make(set(false), set(true)), [call("a")])
      expect(on.result).toMatchObject({ end: "tool", text: "from a" })
    })
  )

  it.effect("the agent itself keeps its tools", () =>
    Effect.gen(function* () {
      const agent = Agent.make({
        name: "agent",
        tools: Tools.make(a, b),
        handlers: Handler.mapTools(() => Tools.empty)
      })
      yield* Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer(["."])))
      expect(agent.tools.names).toEqual(["a", "b"])
    })
  )
})

describe("beforeAgent", () => {
  it.effect("runs once a run, however many steps there are", () =>
    Effect.gen(function* () {
      let times = 0
      const counting = Handler.beforeAgent((run) => {
        times++
        return run
      })
      const { result } = yield* runWith(counting, [call("a"), call("b"), "Done."])
      expect([result.steps, times]).toEqual([3, 1])
    })
  )

  it.effect("may change input, earlier history and options", () =>
    Effect.gen(function* () {
      const changing = Handler.beforeAgent((run) => ({
        ...run,
        input: Message.user(Message.text(run.input).toUpperCase()),
        history: History.takeLast(run.history, 1),
        options: { ...run.options, model: { ...run.options.model, temperature: 0.5 } }
      }))
      const history = [Message.user("1"), Message.assistant("one"), Message.user("2"), Message.assistant("two")]
      const { requests } = yield* runWith(changing, ["."], { run: { history } })
      expect(requests[0]!.history.map(Message.text)).toEqual(["2", "two", "HI"])
      expect(requests[0]!.options.temperature).toBe(0.5)
    })
  )

  it.effect("reads what the caller gave with the run", () =>
    Effect.gen(function* () {
      const tenant = Handler.beforeAgent((run) => ({
        ...run,
        instructions: Instructions.append(run.instructions, `Tenant ${String(run.options.metadata["tenant"])}.`)
      }))
      const { requests } = yield* runWith(tenant, ["."], { run: { metadata: { tenant: "t1" } } })
      expect(told(requests)).toBe("Base.\n\nTenant t1.")
    })
  )
})

describe("histories are rewritten as values", () => {
  it.effect("before each model call, each handler taking what the one before gave, and kept", () =>
    Effect.gen(function* () {
      const add = (text: string) =>
        Handler.beforeModel((history) => (history.length < 3 ? History.append(history, text) : history), text)
      const { requests, result } = yield* runWith(Pipeline.make(add("one"), add("two")), [call("a"), "Done."])
      expect(requests.map((request) => request.history.map(Message.text))).toEqual([
        ["Hi", "one", "two"],
        ["Hi", "one", "two", ""]
      ])
      expect(result.history).toHaveLength(5)
    })
  )

  it.effect("after each model call, the reply in it, and kept", () =>
    Effect.gen(function* () {
      const seen: Array<ReadonlyArray<string>> = []
      const look = Handler.afterModel((history) => {
        seen.push(history.map(Message.text))
        return history
      }, "look")
      const loud = Handler.afterModel(
        (history) =>
          history.map((message) =>
            message.role === "user" ? message : Message.assistant(Message.text(message).toUpperCase())
          ),
        "loud"
      )
      const { result } = yield* runWith(Pipeline.make(look, loud, look), ["Done."])
      expect(seen).toEqual([
        ["Hi", "Done."],
        ["Hi", "DONE."]
      ])
      expect(result.text).toBe("DONE.")
    })
  )
})

describe("one hook wraps the calls of plain and of streaming tools", () => {
  const log: Array<string> = []
  const logging = (name: string) =>
    Handler.wrapToolCall((request, next) => {
      log.push(`${name} > ${request.name} ${request.id} ${JSON.stringify(request.arguments)}`)
      return Call.tapValue(next(request), (outcome) => void log.push(`${name} < ${Message.renderOutcome(outcome)}`))
    }, name)

  it.effect("it sees name, arguments and id before, and the outcome after; the first handler is outermost", () =>
    Effect.gen(function* () {
      log.length = 0
      const tools = Tools.make(a, slow)
      const script = [{ calls: [{ tool: "a", id: "c1" }] }, { calls: [{ tool: "slow", id: "c2" }] }, "Done."]
      yield* runWith(Pipeline.make(logging("outer"), logging("inner")), script, { tools })
      expect(log).toEqual([
        "outer > a c1 {}",
        "inner > a c1 {}",
        "inner < from a",
        "outer < from a",
        "outer > slow c2 {}",
        "inner > slow c2 {}",
        "inner < bit by bit",
        "outer < bit by bit"
      ])
    })
  )

  it.effect("the pieces of a streaming tool go through it one by one", () =>
    Effect.gen(function* () {
      const loud = Handler.wrapToolCall((request, next) =>
        Call.map(next(request), (part) => (part._tag === "Text" ? { ...part, text: part.text.toUpperCase() } : part))
      )
      const agent = Agent.make({ name: "agent", tools: Tools.make(slow), handlers: loud })
      const pieces: Array<string> = []
      yield* Agent.stream(agent, "Hi").pipe(
        Stream.runForEach((event) => Effect.sync(() => void (event._tag === "ToolText" && pieces.push(event.text)))),
        Effect.provide(ScriptedModel.layer([call("slow"), "Done."]))
      )
      expect(pieces).toEqual(["BIT ", "BY ", "BIT"])
    })
  )

  it.effect("it may change the arguments, answer without the tool, and deny", () =>
    Effect.gen(function* () {
      const echo = Tool.make({
        name: "echo",
        description: "Says it again.",
        parameters: Schema.Struct({ text: Schema.String }),
        execute: ({ text }) => text
      })
      const changing = Handler.wrapToolCall((request, next) => {
        if (request.name === "a") return Call.succeed(Message.succeeded("not from a"))
        if (request.name === "b") return Call.succeed(Message.denied("not b"))
        return next({ ...request, arguments: { text: "changed" } })
      })
      const script = [{ calls: [{ tool: "echo", arguments: { text: "x" } }, { tool: "a" }, { tool: "b" }] }, "Done."]
      const { result } = yield* runWith(changing, script, { tools: Tools.make(echo, a, b) })
      expect(outcomes(result)).toEqual(["changed", "not from a", "The call was not allowed: not b"])
    })
  )

  it.effect("what a call needs beyond its arguments comes as a service", () =>
    Effect.gen(function* () {
      const who = Tool.make({ name: "who", description: "Says who.", execute: () => Token })
      const agent = Agent.make({
        name: "agent",
        tools: Tools.make(who),
        handlers: Handler.provide(Token, Effect.succeed("t1"))
      })
      const result = yield* Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer([call("who"), "Done."])))
      expect(outcomes(result)).toEqual(["t1"])
    })
  )
})

describe("the short constructors", () => {
  it.effect("make one handler each, whose hook runs", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const note = <A>(what: string, value: A) => {
        ran.push(what)
        return value
      }
      const pipeline = Pipeline.make(
        Handler.instructions("I."),
        Handler.mapInstructions((instructions) => note("mapInstructions", instructions)),
        Handler.tools(say("c", "from c")),
        Handler.mapTools((tools) => note("mapTools", tools)),
        Handler.beforeAgent((run) => note("beforeAgent", run)),
        Handler.beforeModel((history) => note("beforeModel", history)),
        Handler.afterModel((history) => note("afterModel", history)),
        Handler.wrapToolCall((request, next) => note("wrapToolCall", next(request)))
      )
      const { requests } = yield* runWith(pipeline, [call("c"), "Done."])
      expect(told(requests)).toBe("Base.\n\nI.")
      expect(ran).toEqual([
        "mapInstructions",
        "mapTools",
        "beforeAgent",
        "beforeModel",
        "afterModel",
        "wrapToolCall",
        "beforeModel",
        "afterModel"
      ])
    })
  )
})

describe("the flat struct", () => {
  const flat = (log: Array<string>) =>
    Handler.fromMiddleware({
      additionalInstruction: "Extra.",
      additionalTools: [say("c", "from c")],
      beforeChatModel: (history) => {
        log.push(`before ${history.length}`)
        return history
      },
      afterChatModel: (history) => {
        log.push(`after ${history.length}`)
        return history
      },
      wrapToolCall: (request, next) => {
        log.push(`call ${request.name}`)
        return next(request)
      }
    })

  it.effect("is a handler: each of its fields does what its hook does", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { requests } = yield* runWith(flat(log), [call("c"), "Done."])
      expect(told(requests)).toBe("Base.\n\nExtra.")
      expect(offered(requests)).toEqual(["a", "b", "c"])
      expect(log).toEqual(["before 1", "after 2", "call c", "before 2", "after 3"])
    })
  )

  it.effect("with no field set changes nothing", () =>
    Effect.gen(function* () {
      const plain = yield* runWith(Pipeline.empty)
      expect((yield* runWith(Handler.fromMiddleware({}))).result).toEqual(plain.result)
      expect(Pipeline.explain(Handler.fromMiddleware({}))).toBe("1. middleware (stateless)")
    })
  )

  it.effect("runs before the handlers when an agent is given both", () =>
    Effect.gen(function* () {
      const handlers = Pipeline.make(Handler.instructions("Third.", "three"), Handler.instructions("Fourth.", "four"))
      const middleware = Pipeline.make(
        Handler.fromMiddleware({ additionalInstruction: "First." }),
        Handler.fromMiddleware({ additionalInstruction: "Second." })
      )
      const { requests } = yield* runWith(handlers, ["."], { middleware })
      expect(told(requests)).toBe("Base.\n\nFirst.\n\nSecond.\n\nThird.\n\nFourth.")
    })
  )
})

describe("shared state needs no lock in a handler", () => {
  it.effect("a counter of the application is right under 1,000 concurrent runs", () =>
    Effect.gen(function* () {
      const count = yield* Ref.make(0)
      class Meter extends Handler.Tag("Meter")<Meter>() {}
      const live = Layer.succeed(Meter, {
        wrapToolCall: (request, next) =>
          Call.unwrap(
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.as(
                Ref.update(count, (n) => n + 1),
                next(request)
              )
            )
          )
      })
      const agent = Agent.make({ name: "agent", tools: Tools.make(a), handlers: Meter })
      yield* Effect.replicateEffect(
        Agent.run(agent, "Hi").pipe(Effect.provide(ScriptedModel.layer([call("a"), "Done."]))),
        1_000,
        { concurrency: "unbounded", discard: true }
      ).pipe(Effect.provide(live))
      expect(yield* Ref.get(count)).toBe(1_000)
    })
  )
})

describe("errors", () => {
  const denied = new Denied({ who: "Ada" })
  const failing = {
    beforeAgent: Handler.beforeAgent(() => Effect.fail(denied), "guard"),
    beforeModel: Handler.beforeModel(() => Effect.fail(denied), "guard"),
    afterModel: Handler.afterModel(() => Effect.fail(denied), "guard"),
    wrapToolCall: Handler.wrapToolCall(() => Call.fail(denied), "guard")
  }

  for (const [hook, guard] of Object.entries(failing)) {
    it.effect(`of ${hook} stop the chain there, reach the caller as they are, and are told by the last event`, () =>
      Effect.gen(function* () {
        const later: Array<string> = []
        const note = <A>(what: string, value: A) => {
          later.push(what)
          return value
        }
        const after = Handler.make("after", {
          beforeAgent: (run) => note("beforeAgent", run),
          beforeModel: (history) => note("beforeModel", history),
          afterModel: (history) => note("afterModel", history),
          wrapToolCall: (request, next) => note("wrapToolCall", next(request))
        })
        const agent = Agent.make({ name: "agent", tools: Tools.make(a), handlers: Pipeline.make(guard, after) })
        const model = () => ScriptedModel.layer([call("a"), "Done."])
        const error = yield* Effect.flip(Agent.run(agent, "Hi").pipe(Effect.provide(model())))
        expect(error).toBe(denied)
        const events: Array<unknown> = []
        const streamed = yield* Agent.stream(agent, "Hi").pipe(
          Stream.runForEach((event) => Effect.sync(() => void events.push(event))),
          Effect.flip,
          Effect.provide(model())
        )
        expect(streamed).toBe(denied)
        expect(events.at(-1)).toMatchObject({ _tag: "Failed", error: denied, handler: "guard", hook })
        expect(later).not.toContain(hook)
      })
    )
  }

  it("making an agent runs nothing of its handlers", () => {
    let ran = 0
    const counting = Handler.beforeAgent((run) => {
      ran++
      return run
    })
    Agent.make({ name: "agent", handlers: counting })
    expect(ran).toBe(0)
  })
})
