/** Every row of the table of bad input, one test or more each. */
import { describe, expect, it } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
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
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { Cause, Context, Deferred, Effect, Exit, FastCheck, Fiber, Schema, Stream } from "effect"
import { echo, events, onceEcho, Oops, only, outcomes, untyped, watch } from "./support.ts"

const { DefinitionError, HandlerDefect, ModelError, StepLimitReached, ToolError } = Errors
const named = (name: string, description = "A tool.") => Tool.make({ name, description, execute: () => "ok" })

describe("names are checked where a value is built", () => {
  const two = [named("search", "Searches the web."), named("search", "Searches the notes.")] as const
  const both = /"search".*"Searches the web\.".*"Searches the notes\."/

  it("two tools of one name are refused, and the message names both", () => {
    for (const build of [
      () => Tools.make(...two),
      () => Tools.add(Tools.make(two[0]), two[1]),
      () => Handler.tools(...two),
      () => Handler.fromMiddleware({ additionalTools: two })
    ]) {
      expect(build).toThrow(DefinitionError)
      expect(build).toThrow(both)
    }
  })

  it("renaming tools to one name is refused", () => {
    const tools = Tools.make(named("a", "The first."), named("b", "The second."))
    expect(() => Tools.map(tools, (tool: Tool.Tool) => Tool.update(tool, { name: "c" }))).toThrow(
      /"c".*"The first\.".*"The second\."/
    )
  })

  it("an empty tool name is refused", () => {
    expect(() => named("")).toThrow(DefinitionError)
    expect(() => named("")).toThrow('The tool name "" is empty.')
  })

  it("an illegal tool name is refused, and the message names it", () => {
    for (const name of ["read file", "naïve", "a/b", "a.b", "x".repeat(65), "new\nline", " "]) {
      expect(() => named(name)).toThrow(DefinitionError)
      expect(() => named(name)).toThrow(JSON.stringify(name))
      expect(() => Tool.update(echo, { name })).toThrow(JSON.stringify(name))
      expect(() => Agent.asTool(Agent.make({ name: "fine" }), { name })).toThrow(JSON.stringify(name))
    }
  })

  it("a legal tool name is taken as it is", () => {
    for (const name of ["a", "read_file", "v1_2", "A-b", "x".repeat(64)]) expect(named(name).name).toBe(name)
  })

  const nameless: ReadonlyArray<readonly [string, (name: string) => unknown]> = [
    ["make", (name) => Handler.make(name, {})],
    ["effect", (name) => Handler.effect(name, Effect.succeed({}))],
    ["Tag", (name) => Handler.Tag(name)()],
    ["fromMiddleware", (name) => Handler.fromMiddleware({ name })],
    ["fromDefinition", (name) => Handler.fromDefinition({ name, source: { _tag: "Stateless", hooks: {} }, info: {} })],
    ["instructions", (name) => Handler.instructions("x", name)],
    ["mapInstructions", (name) => Handler.mapInstructions((i) => i, name)],
    ["mapTools", (name) => Handler.mapTools((t) => t, name)],
    ["beforeAgent", (name) => Handler.beforeAgent((run) => run, name)],
    ["afterAgent", (name) => Handler.afterAgent(() => {}, name)],
    ["onExit", (name) => Handler.onExit(() => Effect.void, name)],
    ["catchError", (name) => Handler.catchError(Oops, () => "", name)]
  ]
  for (const [constructor, build] of nameless) {
    it(`Handler.${constructor} refuses a handler without a name`, () => {
      for (const name of ["", "  ", undefined as unknown as string, 7 as unknown as string]) {
        // A default stands in for a name that is not given.
        if (name === undefined && !["make", "effect", "Tag", "fromDefinition"].includes(constructor)) continue
        expect(() => build(name)).toThrow(DefinitionError)
        expect(() => build(name)).toThrow("A handler needs a name, and")
      }
    })
  }

  it("an agent without a name is refused", () => {
    expect(() => Agent.make({ name: "" })).toThrow(DefinitionError)
    expect(() => Agent.make({ name: "" })).toThrow('An agent needs a name, and "" is none.')
  })
})

describe("what the model calls by mistake goes back to it", () => {
  const ask = (call: ScriptedModel.AskFor, tools: Tools.Tools = Tools.make(echo, named("other"))) =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([{ calls: [call] }, "I see"])
      const result = yield* Effect.provide(Agent.run(Agent.make({ name: "a", tools }), "go"), model.layer)
      expect(result.text).toBe("I see")
      expect(result.steps).toBe(2)
      const [outcome] = outcomes((yield* model.requests)[1]!.history)
      expect(outcomes(result.history)).toEqual([outcome])
      return outcome!
    })

  it.effect("an unknown tool is a failed outcome that names the tools that exist", () =>
    Effect.gen(function* () {
      expect(yield* ask({ tool: "ehco" })).toEqual(
        Message.failed('There is no tool named "ehco". The tools are: echo, other.')
      )
    })
  )

  it.effect("an unknown tool of an agent without tools is a failed outcome, too", () =>
    Effect.gen(function* () {
      expect(yield* ask({ tool: "echo" }, Tools.empty)).toEqual(
        Message.failed('There is no tool named "echo". No tools are offered.')
      )
    })
  )

  it.effect("arguments that do not fit are a failed outcome that names every field", () =>
    Effect.gen(function* () {
      const tool = Tool.make({
        name: "add",
        description: "Adds.",
        parameters: Schema.Struct({ left: Schema.Number, right: Schema.Number }),
        execute: ({ left, right }) => left + right
      })
      const outcome = yield* ask({ tool: "add", arguments: { left: "one" } }, Tools.make(tool))
      expect(outcome._tag).toBe("Failed")
      const reason = Message.renderOutcome(outcome)
      for (const word of ['"add"', "left", "right", "number", '"one"', "is missing"]) expect(reason).toContain(word)
    })
  )

  for (const args of [null, [], "text", 7]) {
    it.effect(`${JSON.stringify(args)} for arguments is a failed outcome`, () =>
      Effect.gen(function* () {
        // The script's default would take the place of null.
        const tools = Tools.make(echo)
        const model = yield* ScriptedModel.make(["I see"])
        const call = Message.toolCall("1", "echo", args)
        const asking = Handler.wrapModelCall(
          (request, next) => (request.history.length === 1 ? ChatModel.reply([call]) : next(request)),
          "asking"
        )
        const agent = Agent.make({ name: "a", tools, handlers: asking })
        const result = yield* Effect.provide(Agent.run(agent, "go"), model.layer)
        expect(result.text).toBe("I see")
        expect(outcomes(result.history).map((o) => o._tag)).toEqual(["Failed"])
      })
    )
  }
})

describe("a tool that fails as declared", () => {
  class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { city: Schema.String }) {}
  const error = new NotFound({ city: "Atlantis" })
  const weather = <Mode extends Tool.FailureMode>(failureMode: Mode) =>
    Tool.make({
      name: "weather",
      description: "Weather.",
      failure: NotFound,
      failureMode,
      execute: () => Effect.fail(error)
    })
  const script = [{ calls: [{ tool: "weather" }] }, "no idea"]

  it.effect('goes back to the model with its fields, in failure mode "return"', () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(weather("return")) })
      const result = yield* Agent.run(agent, "go")
      expect(result.text).toBe("no idea")
      expect(outcomes(result.history)).toEqual([
        Message.failed(`Tool "weather" failed.`, { _tag: "NotFound", city: "Atlantis" })
      ])
    }).pipe(Effect.provide(ScriptedModel.layer(script)))
  )

  it.effect('fails the run with that very error, in failure mode "fail"', () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(weather("fail")) })
      expect(yield* Effect.flip(Agent.run(agent, "go"))).toBe(error)
      const { events: all, exit } = yield* events(agent)
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(error)
      const last = all.at(-1)
      expect(last).toMatchObject({ _tag: "Failed", error })
      expect(last).not.toHaveProperty("handler")
      expect(last).not.toHaveProperty("hook")
    }).pipe(Effect.provide(ScriptedModel.layer(() => script[0]!)))
  )

  it.effect("says so of a stream that fails after some text, in both modes", () =>
    Effect.gen(function* () {
      const tool = <Mode extends Tool.FailureMode>(failureMode: Mode) =>
        Tool.stream({
          name: "weather",
          description: "Weather.",
          failure: NotFound,
          failureMode,
          execute: () => Stream.concat(Stream.make("It is "), Stream.fail(error))
        })
      const returned = yield* Agent.run(Agent.make({ name: "a", tools: Tools.make(tool("return")) }), "go")
      expect(outcomes(returned.history)).toEqual([
        Message.failed(`Tool "weather" failed.`, { _tag: "NotFound", city: "Atlantis" })
      ])
      const failed = Agent.run(Agent.make({ name: "a", tools: Tools.make(tool("fail")) }), "go")
      expect(yield* Effect.flip(failed)).toBe(error)
    }).pipe(Effect.provide(ScriptedModel.layer((request) => script[request.history.length > 1 ? 1 : 0]!)))
  )
})

describe("a tool that is broken fails the run with an error that names tool and call", () => {
  const cause = new Error("no disk")
  const run = (tool: Tool.Tool<unknown>) =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(tool), handlers: bystander("before") })
      const program = Agent.run(agent, "go")
      const error = yield* Effect.flip(program)
      const { events: all } = yield* events(agent)
      expect(all.at(-1)).toMatchObject({ _tag: "Failed", error: { _tag: "ToolError", tool: tool.name } })
      expect(all.at(-1)).not.toHaveProperty("handler")
      if (!(error instanceof ToolError)) throw new Error(`Expected a ToolError, got ${String(error)}`)
      expect(error.tool).toBe(tool.name)
      expect(error.callId).toBe("the-call")
      expect(error.message).toContain(`"${tool.name}" (call "the-call")`)
      return error
    }).pipe(
      Effect.provide(
        ScriptedModel.layer(() => ({ calls: [{ tool: tool.name, id: "the-call", arguments: { to: "disk" } }] }))
      )
    )
  const options = { name: "save", description: "Saves." }

  it.effect("when it throws", () =>
    Effect.gen(function* () {
      const error = yield* run(
        Tool.make({
          ...options,
          execute: () => {
            throw cause
          }
        })
      )
      expect(error.reason).toBe("Threw")
      expect(error.cause).toBe(cause)
      expect(error.message).toContain("no disk")
    })
  )

  it.effect("when it dies", () =>
    Effect.gen(function* () {
      const error = yield* run(Tool.make({ ...options, execute: () => Effect.die(cause) }))
      expect(error.reason).toBe("Threw")
      expect(error.cause).toBe(cause)
    })
  )

  it.effect("when its stream dies", () =>
    Effect.gen(function* () {
      expect((yield* run(Tool.stream({ ...options, execute: () => Stream.die(cause) }))).cause).toBe(cause)
    })
  )

  it.effect("when it fails with what its failure schema refuses", () =>
    Effect.gen(function* () {
      const failing = Effect.fail("not a number" as unknown as number)
      const error = yield* run(Tool.make({ ...options, failure: Schema.Number, execute: () => failing }))
      expect(error.reason).toBe("Threw")
      expect(error.cause).toBe("not a number")
    })
  )

  it.effect("when it fails without having declared a failure", () =>
    Effect.gen(function* () {
      const failing = Effect.fail(cause) as unknown as Effect.Effect<string>
      expect((yield* run(Tool.make({ ...options, execute: () => failing }))).cause).toBe(cause)
    })
  )

  it.effect("when its success schema refuses the result", () =>
    Effect.gen(function* () {
      const error = yield* run(
        Tool.make({
          ...options,
          success: Schema.Struct({ bytes: Schema.Number }),
          execute: () => ({ bytes: "many" as unknown as number })
        })
      )
      expect(error.reason).toBe("InvalidResult")
      expect(error.message).toContain("bytes")
    })
  )

  const bad = Schema.transform(Schema.String, Schema.String, {
    decode: () => {
      throw cause
    },
    encode: () => {
      throw cause
    }
  })

  it.effect("when its parameters schema throws", () =>
    Effect.gen(function* () {
      const error = yield* run(
        Tool.make({ ...options, parameters: Schema.Struct({ to: bad }), execute: () => "saved" })
      )
      expect(error.reason).toBe("Threw")
      expect(error.cause).toBe(cause)
    })
  )

  it.effect("when its failure schema throws", () =>
    Effect.gen(function* () {
      const error = yield* run(Tool.make({ ...options, failure: bad, execute: () => Effect.fail("full") }))
      expect(error.reason).toBe("Threw")
      expect(error.cause).toBe("full")
    })
  )

  it.effect("and the process lives: the tools beside it are interrupted, the history is paired", () =>
    Effect.gen(function* () {
      const hanging = Tool.make({ name: "hang", description: "Hangs.", execute: () => Effect.never })
      const broken = Tool.make({ ...options, execute: () => Effect.die(cause) })
      const { events: all } = yield* events(Agent.make({ name: "a", tools: Tools.make(hanging, broken) }))
      const failed = all.at(-1)
      expect(failed).toMatchObject({ _tag: "Failed" })
      expect(failed?._tag === "Failed" && outcomes(failed.history)).toEqual([Message.cancelled, Message.cancelled])
    }).pipe(Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "hang" }, { tool: "save" }] }])))
  )
})

// -----------------------------------------------------------------------------
// hooks
// -----------------------------------------------------------------------------

const bystander = (name: string) =>
  Handler.make(name, {
    beforeAgent: (run) => run,
    wrapAgent: (run, next) => Call.onExit(next(run), () => Effect.void),
    beforeModel: (history) => Effect.succeed(history),
    wrapModelCall: (request, next) => Call.map(next(request), (part) => part),
    afterModel: (history) => history,
    wrapToolCall: (request, next) => Call.tapValue(next(request), () => Effect.void)
  })

const retrying = Handler.make("retrying", {
  wrapAgent: (run, next) => Call.retry(next(run), { times: 1 }),
  wrapModelCall: (request, next) => Call.retry(next(request), { times: 1 }),
  wrapToolCall: (request, next) => Call.retry(next(request), { times: 1 })
})

const wraps = (hook: Handler.HookName) => hook.startsWith("wrap")
/** A hook that ends with an Effect, as a call where a call is due. */
const hookOf = (hook: Handler.HookName, effect: Effect.Effect<never, unknown>) => () =>
  wraps(hook) ? Call.fromEffect(effect) : effect

for (const hook of Handler.hookNames) {
  describe(`a ${hook} that fails`, () => {
    const error = new Oops({ from: hook })
    const culprit = untyped(hook, hookOf(hook, Effect.fail(error)))
    const check = (handlers: Handler.Handler) =>
      Effect.gen(function* () {
        const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers })
        expect(yield* Effect.flip(Agent.run(agent, "go"))).toBe(error)
        const { events: all, exit } = yield* events(agent)
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(error)
        expect(all.at(-1)).toMatchObject({ _tag: "Failed", handler: "culprit", hook })
        const last = all.at(-1)
        expect(last?._tag === "Failed" && last.error).toBe(error)
        expect(last?._tag === "Failed" && History.isPaired(last.history)).toBe(true)
        return all
      }).pipe(Effect.provide(ScriptedModel.layer(onceEcho)))

    it.effect("fails the run with that very error, and the last event names handler and hook", () =>
      Effect.gen(function* () {
        const all = yield* check(culprit)
        expect(only(all, "Failed").length).toBe(1)
      })
    )

    it.effect("is not blamed on a handler before or after it", () =>
      check(Pipeline.make(bystander("before"), culprit, bystander("after")))
    )

    it.effect("is not blamed on a handler that tries again and gives up", () =>
      check(Pipeline.make(retrying, bystander("between"), culprit))
    )

    it.effect("is blamed on a handler that replaces the error by its own", () =>
      Effect.gen(function* () {
        const mine = new Oops({ from: "replacing" })
        const replacing = Handler.wrapAgent((run, next) => Call.orElse(next(run), () => Call.fail(mine)), "replacing")
        const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers: Pipeline.make(replacing, culprit) })
        const { events: all } = yield* events(agent)
        const last = all.at(-1)
        expect(last).toMatchObject({ _tag: "Failed", handler: "replacing", hook: "wrapAgent" })
        expect(last?._tag === "Failed" && last.error).toBe(mine)
      }).pipe(Effect.provide(ScriptedModel.layer(onceEcho)))
    )
  })

  describe(`a ${hook} that is broken`, () => {
    const thrown = new Error("broken")
    const check = (f: unknown, problem: string) =>
      Effect.gen(function* () {
        const handlers = Pipeline.make(bystander("before"), untyped(hook, f), bystander("after"))
        const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers })
        const exit = yield* Effect.exit(Agent.run(agent, "go"))
        const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        if (!(defect instanceof HandlerDefect)) throw new Error(`Expected a HandlerDefect, got ${String(defect)}`)
        expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
        expect([defect.handler, defect.hook]).toEqual(["culprit", hook])
        expect(defect.message).toMatch(new RegExp(`^Handler "culprit" ${problem}.* in ${hook}`))
        const { events: all } = yield* events(agent)
        expect(all.at(-1)).toMatchObject({ _tag: "Failed", handler: "culprit", hook })
        return defect
      }).pipe(Effect.provide(ScriptedModel.layer(onceEcho)))

    it.effect("by throwing is a defect that names both and keeps what was thrown", () =>
      Effect.gen(function* () {
        const throwing = () => {
          throw thrown
        }
        expect((yield* check(throwing, "threw")).cause).toBe(thrown)
      })
    )

    for (const garbage of [undefined, null, 7, "text", {}, { role: "user" }, [1], () => 1]) {
      it.effect(
        `by returning ${typeof garbage === "function" ? "a function" : JSON.stringify(garbage)} is a defect that names both`,
        () => check(() => garbage, "returned")
      )
      if (!wraps(hook)) {
        it.effect(
          `by an Effect of ${typeof garbage === "function" ? "a function" : JSON.stringify(garbage)} is a defect that names both`,
          () => check(() => Effect.succeed(garbage), "returned")
        )
      }
    }

    it.effect("by dying keeps the defect and is named on the event", () =>
      Effect.gen(function* () {
        const agent = Agent.make({
          name: "a",
          tools: Tools.make(echo),
          handlers: untyped(hook, hookOf(hook, Effect.die(thrown)))
        })
        const exit = yield* Effect.exit(Agent.run(agent, "go"))
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(thrown)
        const { events: all } = yield* events(agent)
        expect(all.at(-1)).toMatchObject({ _tag: "Failed", handler: "culprit", hook, error: thrown })
      }).pipe(Effect.provide(ScriptedModel.layer(onceEcho)))
    )
  })
}

describe("a handler that cannot be built", () => {
  const error = new Oops({ from: "building" })

  it.effect("fails the run with that very error, and the last event names it", () =>
    Effect.gen(function* () {
      class Db extends Context.Tag("Db")<Db, string>() {}
      for (const [handler, name, hook] of [
        [Handler.effect("culprit", Effect.fail(error)), "culprit", "effect"],
        [Handler.provide(Db, Effect.fail(error)), "provide(Db)", "provide"]
      ] as const) {
        const agent = Agent.make({ name: "a", handlers: Pipeline.make(bystander("b"), handler) })
        expect(yield* Effect.flip(Agent.run(agent, "go"))).toBe(error)
        expect((yield* events(agent)).events.at(-1)).toMatchObject({ _tag: "Failed", handler: name, hook })
      }
    }).pipe(Effect.provide(ScriptedModel.layer([])))
  )

  it.effect("without hooks is a defect that names it", () =>
    Effect.gen(function* () {
      const broken = Handler.effect("culprit", Effect.succeed(undefined as unknown as {}))
      const exit = yield* Effect.exit(Agent.run(Agent.make({ name: "a", handlers: broken }), "go"))
      expect(Exit.isFailure(exit) && String(Cause.squash(exit.cause))).toContain(
        'Handler "culprit" was built without hooks'
      )
    }).pipe(Effect.provide(ScriptedModel.layer([])))
  )
})

// -----------------------------------------------------------------------------
// the model, the limit
// -----------------------------------------------------------------------------

describe("a model call that fails in mid-stream", () => {
  const error = new ModelError({ reason: "Network", message: "the line broke" })
  const failing = { text: "half an ans", error, cut: { every: 4 } } as const

  it.effect("has emitted its parts before the failure, which comes last and keeps its identity", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a" })
      const { events: all, exit } = yield* events(agent)
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(error)
      expect(all.map((event) => event._tag)).toEqual(["RunStarted", "StepStarted", "Text", "Text", "Text", "Failed"])
      const last = all.at(-1)
      expect(last?._tag === "Failed" && last.error).toBe(error)
      expect(last).toMatchObject({ steps: 1, history: [Message.user("go")] })
      expect(last).not.toHaveProperty("handler")
      expect(yield* Effect.flip(Agent.run(agent, "go"))).toBe(error)
    }).pipe(Effect.provide(ScriptedModel.layer(() => failing)))
  )

  it.effect("and is tried again marks the parts before as of a failed attempt", () =>
    Effect.gen(function* () {
      const handlers = Handler.wrapModelCall((request, next) => Call.retry(next(request), { times: 1 }), "retry")
      const { events: all } = yield* events(Agent.make({ name: "a", handlers }))
      const told = all.filter((event) => event._tag === "Text" || event._tag === "StepReset")
      expect(told.map((event) => (event._tag === "Text" ? event.text : event._tag))).toEqual([
        "half",
        " an ",
        "ans",
        "StepReset",
        "whole"
      ])
      expect(only(all, "Completed").map((event) => event.result.text)).toEqual(["whole"])
    }).pipe(Effect.provide(ScriptedModel.layer([failing, "whole"])))
  )

  it.effect("by a defect passes it on, blamed on nobody", () =>
    Effect.gen(function* () {
      const defect = new Error("a bug in the adapter")
      const { events: all, exit } = yield* Effect.provide(
        events(Agent.make({ name: "a", handlers: bystander("b") })),
        ScriptedModel.layer([{ text: "half", defect }])
      )
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(defect)
      expect(all.at(-1)).toMatchObject({ _tag: "Failed", error: defect })
      expect(all.at(-1)).not.toHaveProperty("handler")
    })
  )
})

describe("at the step limit", () => {
  const always = { calls: [{ tool: "echo", arguments: { text: "more" } }] }

  it.effect('"error" fails with StepLimitReached and the history so far', () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "looper", tools: Tools.make(echo), maxSteps: 3 })
      const error = yield* Effect.flip(Agent.run(agent, "go"))
      if (!(error instanceof StepLimitReached)) throw error
      expect(error).toMatchObject({ agent: "looper", maxSteps: 3 })
      expect(error.message).toBe('Agent "looper" gave no answer within 3 steps.')
      expect(error.history.length).toBe(4)
      expect(outcomes(error.history)).toEqual(Array.from({ length: 3 }, () => Message.succeeded("more")))
      const { events: all } = yield* events(agent)
      expect(all.at(-1)).toMatchObject({ _tag: "Failed", steps: 3, error: { _tag: "StepLimitReached" } })
    }).pipe(Effect.provide(ScriptedModel.layer(() => always)))
  )

  it.effect('"answer" calls the model once more, without tools', () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make((request) => (request.toolChoice === "none" ? "enough" : always))
      const agent = Agent.make({ name: "looper", tools: Tools.make(echo), maxSteps: 2, onStepLimit: "answer" })
      const result = yield* Effect.provide(Agent.run(agent, "go"), model.layer)
      expect(result).toMatchObject({ text: "enough", end: "step-limit", steps: 3 })
      const requests = yield* model.requests
      expect(requests.map((request) => request.tools.names)).toEqual([["echo"], ["echo"], []])
      expect(requests.map((request) => request.toolChoice)).toEqual(["auto", "auto", "none"])
    })
  )

  it.effect('"answer" leaves no call open when the model calls a tool all the same', () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "looper", tools: Tools.make(echo), maxSteps: 1, onStepLimit: "answer" })
      const result = yield* Agent.run(agent, "go")
      expect(result.end).toBe("step-limit")
      expect(outcomes(result.history)).toEqual([Message.succeeded("more"), Message.cancelled])
    }).pipe(Effect.provide(ScriptedModel.layer(() => always)))
  )

  it.effect("a limit of zero allows no model call", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["never asked"])
      const error = yield* Effect.flip(
        Effect.provide(Agent.run(Agent.make({ name: "a", maxSteps: 0 }), "go"), model.layer)
      )
      expect(error).toBeInstanceOf(StepLimitReached)
      expect(yield* model.requests).toEqual([])
    })
  )
})

// -----------------------------------------------------------------------------
// interruption
// -----------------------------------------------------------------------------

describe("a run that is interrupted", () => {
  class Db extends Context.Tag("Db")<Db, string>() {}

  /** Interrupts a run that hangs at `place`, and tells what was left behind. */
  const interruptedAt = (place: string) =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const log: Array<string> = []
      const stop = (here: string) =>
        Effect.suspend(() => {
          log.push(here)
          return here === place ? Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
        })
      const scoped = (name: string) =>
        Effect.acquireRelease(
          Effect.sync(() => log.push(`${name}>`)),
          () => Effect.sync(() => log.push(`${name}<`))
        )
      const stopping = <C extends Call.Any>(call: C, here: string) =>
        Call.around(call, (effect) =>
          Effect.ensuring(
            Effect.zipRight(
              Effect.suspend(() => {
                log.push(`${here}>`)
                return stop(here)
              }),
              effect
            ),
            Effect.sync(() => log.push(`${here}<`))
          )
        ) as C
      const entered = (name: string) =>
        Handler.wrapAgent(
          (run, next) =>
            Call.onExit(
              Call.unwrap(
                Effect.sync(() => {
                  log.push(`${name}>`)
                  return next(run)
                })
              ),
              () => Effect.sync(() => log.push(`${name}<`))
            ),
          name
        )
      const handlers = Pipeline.make(
        entered("outer"),
        Handler.effect("building", Effect.as(Effect.zipRight(scoped("building"), stop("building")), {})),
        Handler.provide(Db, Effect.as(Effect.zipRight(scoped("providing"), stop("providing")), "db")),
        Handler.make("middle", {
          wrapAgent: (run, next) => stopping(next(run), "wrapAgent"),
          beforeAgent: (run) => Effect.as(Effect.zipRight(scoped("beforeAgent"), stop("beforeAgent")), run),
          beforeModel: (history) => Effect.as(stop("beforeModel"), history),
          wrapModelCall: (request, next) => stopping(next(request), "wrapModelCall"),
          afterModel: (history) => Effect.as(stop("afterModel"), history),
          wrapToolCall: (request, next) =>
            request.name === "one" ? stopping(next(request), "wrapToolCall") : next(request)
        }),
        entered("inner")
      )
      const tool = (name: string, body: Effect.Effect<unknown>) =>
        Tool.make({ name, description: name, execute: () => Effect.as(body, name) })
      const tools = Tools.make(tool("one", stop("tool one")), tool("two", stop("tool two")), tool("quick", Effect.void))
      const model = ChatModel.layer(() =>
        Call.make((emit) =>
          Effect.gen(function* () {
            yield* emit({ _tag: "Text", text: "thinking" })
            yield* stop("model")
            for (const name of ["quick", "one", "two"]) {
              yield* emit({ _tag: "ToolCall", id: name, name, arguments: {} })
            }
          })
        )
      )
      const seen: Array<AgentEvent.AgentEvent | Call.Reset> = []
      const run = watch(Agent.call(Agent.make({ name: "a", tools, handlers }), "go"), (event) => seen.push(event))
      const fiber = yield* Effect.fork(Effect.provide(run, model))
      yield* Deferred.await(reached)
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      const exit = yield* Fiber.interrupt(fiber)
      const atEnd = log.length
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
      expect(log.length).toBe(atEnd)
      for (const entry of log.filter((entry) => entry.endsWith(">"))) {
        const left = `${entry.slice(0, -1)}<`
        expect(log.filter((other) => other === left).length).toBe(log.filter((other) => other === entry).length)
      }
      const last = seen.at(-1)
      if (last?._tag !== "Cancelled") throw new Error(`Expected Cancelled, got ${String(last?._tag)}`)
      expect(only(seen, "Cancelled").length).toBe(1)
      expect(History.isPaired(last.history)).toBe(true)
      return { log, history: last.history, steps: last.steps }
    })

  for (const place of [
    "building",
    "providing",
    "wrapAgent",
    "beforeAgent",
    "beforeModel",
    "wrapModelCall",
    "model",
    "afterModel",
    "wrapToolCall",
    "tool one",
    "tool two"
  ]) {
    it.effect(`in ${place} leaves every handler that was entered, and starts nothing more`, () =>
      Effect.gen(function* () {
        const { log } = yield* interruptedAt(place)
        expect(log.filter((entry) => entry === "outer<")).toEqual(["outer<"])
        expect(log.includes(place)).toBe(true)
      })
    )
  }

  it.effect("in parallel tools keeps the outcomes that there are and cancels the others", () =>
    Effect.gen(function* () {
      const { history, steps } = yield* interruptedAt("tool one")
      expect(outcomes(history)).toEqual([Message.succeeded("quick"), Message.cancelled, Message.succeeded("two")])
      expect(steps).toBe(1)
    })
  )

  it.effect("before any tool has begun cancels all calls of the reply", () =>
    Effect.gen(function* () {
      const { history } = yield* interruptedAt("afterModel")
      expect(outcomes(history)).toEqual([Message.cancelled, Message.cancelled, Message.cancelled])
    })
  )

  it.effect("while something is being acquired lets it be acquired, and releases it", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const log: Array<string> = []
      const acquiring = Handler.beforeAgent(
        (run) =>
          Effect.as(
            Effect.acquireRelease(
              Effect.zipRight(Deferred.succeed(reached, undefined), Deferred.await(go)).pipe(
                Effect.tap(() => Effect.sync(() => log.push("acquired")))
              ),
              () => Effect.sync(() => log.push("released"))
            ),
            run
          ),
        "acquiring"
      )
      const model = yield* ScriptedModel.make(["never"])
      const fiber = yield* Effect.fork(
        Effect.provide(Agent.run(Agent.make({ name: "a", handlers: acquiring }), "go"), model.layer)
      )
      yield* Deferred.await(reached)
      yield* Fiber.interruptFork(fiber)
      for (let i = 0; i < 10; i++) yield* Effect.yieldNow()
      expect(log).toEqual([])
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.await(fiber)
      expect(log).toEqual(["acquired", "released"])
      expect(yield* model.requests).toEqual([])
    })
  )

  it.effect("stops an agent that runs as a tool, and the model call in it", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const log: Array<string> = []
      const model = ChatModel.layer((request) =>
        Instructions.render(request.instructions) === "inner"
          ? Call.fromEffect(
              Effect.onInterrupt(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never), () =>
                Effect.sync(() => log.push("inner call stopped"))
              )
            )
          : ChatModel.reply([Message.toolCall("1", "inner", { input: "x" })])
      )
      const inner = Agent.make({
        name: "inner",
        instructions: "inner",
        handlers: Handler.onExit(() => Effect.sync(() => log.push("inner left")))
      })
      const outer = Agent.make({
        name: "outer",
        tools: Tools.make(Agent.asTool(inner)),
        handlers: Handler.onExit(() => Effect.sync(() => log.push("outer left")))
      })
      const fiber = yield* Effect.fork(Effect.provide(Agent.run(outer, "go"), model))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      expect(log).toEqual(["inner call stopped", "inner left", "outer left"])
    })
  )
})

// -----------------------------------------------------------------------------
// odd but legal
// -----------------------------------------------------------------------------

describe("unpleasant names and texts pass through", () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    it.effect(`a tool may be named ${name}`, () =>
      Effect.gen(function* () {
        const result = yield* Agent.run(Agent.make({ name: "a", tools: Tools.make(named(name)) }), "go")
        expect(outcomes(result.history)).toEqual([Message.succeeded("ok")])
      }).pipe(Effect.provide(ScriptedModel.layer([{ calls: [{ tool: name }] }, "done"])))
    )

    it.effect(`a tool named ${name} is unknown where there is none`, () =>
      Effect.gen(function* () {
        const result = yield* Agent.run(Agent.make({ name: "a", tools: Tools.make(echo) }), "go")
        expect(outcomes(result.history)).toEqual([
          Message.failed(`There is no tool named "${name}". The tools are: echo.`)
        ])
      }).pipe(Effect.provide(ScriptedModel.layer([{ calls: [{ tool: name }] }, "done"])))
    )

    it(`a section may be named ${name}`, () => {
      const instructions = Instructions.make("base", "agent").pipe(Instructions.append("odd", name))
      expect(Instructions.render(instructions)).toBe("base\n\nodd")
      expect(Instructions.render(Instructions.replace(instructions, name, "new"))).toBe("base\n\nnew")
      expect(Instructions.render(Instructions.remove(instructions, name))).toBe("base")
    })
  }

  it.effect("arguments may hold such keys", () =>
    Effect.gen(function* () {
      const args: unknown = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')
      const tool = Tool.make({
        name: "t",
        description: "t",
        parameters: Schema.Unknown,
        execute: (value) => JSON.stringify(value)
      })
      const result = yield* Effect.provide(
        Agent.run(Agent.make({ name: "a", tools: Tools.make(tool) }), "go"),
        ScriptedModel.layer([{ calls: [{ tool: "t", arguments: args }] }, "done"])
      )
      expect(outcomes(result.history)).toEqual([Message.succeeded(JSON.stringify(args))])
      expect({}).not.toHaveProperty("polluted")
    })
  )

  it.effect("10 MB of text in a message arrive as they are", () =>
    Effect.gen(function* () {
      const text = "0123456789abcdef".repeat((10 * 1024 * 1024) / 16)
      const model = yield* ScriptedModel.make((request) => ChatModel.question(request))
      const result = yield* Effect.provide(Agent.run(Agent.make({ name: "a" }), text), model.layer)
      expect(ChatModel.question((yield* model.requests)[0]!) === text).toBe(true)
      expect(result.text === text).toBe(true)
    })
  )

  it.effect("10,000 messages arrive as they are", () =>
    Effect.gen(function* () {
      const history = Array.from({ length: 10_000 }, (_, i) =>
        i % 2 === 0 ? Message.user(`question ${i}`) : Message.assistant(`answer ${i}`)
      )
      const model = yield* ScriptedModel.make(["done"])
      const handlers = Pipeline.make(bystander("a"), bystander("b"))
      const result = yield* Effect.provide(
        Agent.run(Agent.make({ name: "a", handlers }), "go", { history }),
        model.layer
      )
      const sent = (yield* model.requests)[0]!.history
      expect(sent.length).toBe(10_001)
      expect(history.every((message, i) => sent[i] === message && result.history[i] === message)).toBe(true)
    })
  )

  it.effect.prop(
    "braces, LaTeX, JSON, right-to-left and zero-width characters in instructions and messages arrive as they are",
    [FastCheck.array(Arbitraries.text, { maxLength: 3 }), Arbitraries.text],
    ([texts, input]) =>
      Effect.gen(function* () {
        const model = yield* ScriptedModel.make((request) => ChatModel.question(request))
        const handlers = texts.map((text, i) => Handler.instructions(text, `h${i}`))
        const agent = Agent.make({ name: "a", instructions: "Base.", handlers: Pipeline.make(...handlers) })
        const result = yield* Effect.provide(Agent.run(agent, input), model.layer)
        const request = (yield* model.requests)[0]!
        expect(Instructions.render(request.instructions)).toBe(
          ["Base.", ...texts.filter((text) => text !== "")].join("\n\n")
        )
        expect(result.text).toBe(input)
      })
  )
})
