/**
 * What the types say. `check:types` is the test; that these tests run shows that
 * what compiles also works.
 */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
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
import { type Cause, Context, Data, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { describe, expect, expectTypeOf, it } from "vitest"

class User extends Context.Tag("User")<User, { readonly name: string }>() {}
class Db extends Context.Tag("Db")<Db, { readonly read: Effect.Effect<string> }>() {}
class Denied extends Data.TaggedError("Denied")<{ readonly who: string }> {}
class Lost extends Data.TaggedError("Lost")<{}> {}
class Missing extends Schema.TaggedError<Missing>()("Missing", {}) {}
class Cache extends Handler.Tag("Cache")<Cache, Lost>() {}

const auth = Handler.beforeAgent(
  (run) => Effect.flatMap(User, (user) => (user.name === "" ? new Denied({ who: "" }) : Effect.succeed(run))),
  "auth"
)
const login = Handler.provide(
  User,
  Effect.map(Db, () => ({ name: "Ada" }))
)
const plain = Handler.instructions("Be brief.")

type RunError = Errors.ModelError | Errors.ToolError | Errors.StepLimitReached

describe("handlers", () => {
  it("say nothing where there is nothing to say", () => {
    expectTypeOf(plain).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.make("x", {})).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(Handler.make("x", { beforeModel: (history) => history })).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(
      Handler.make("x", {
        wrapAgent: (run, next) => next(run),
        wrapModelCall: (request, next) => Call.around(next(request), Effect.withSpan("call")),
        wrapToolCall: (request, next) => Call.retry(next(request), { times: 2 })
      })
    ).toEqualTypeOf<Handler.Handler>()
  })

  it("say what their hooks fail with and need", () => {
    expectTypeOf(auth).toEqualTypeOf<Handler.Handler<never, Denied, User>>()
    expectTypeOf(login).toEqualTypeOf<Handler.Handler<User, never, Db>>()
    const several = Handler.make("several", {
      beforeModel: (history) => (history.length > 9 ? Effect.fail(new Lost()) : history),
      afterModel: (history) => Effect.as(User, history),
      wrapToolCall: (request, next) =>
        Call.tapValue(next(request), () => Effect.flatMap(Db, () => new Denied({ who: "" })))
    })
    expectTypeOf(several).toEqualTypeOf<Handler.Handler<never, Lost | Denied, User | Db>>()
  })

  it("say what hooks of a known type fail with and need", () => {
    const hooks: Handler.Hooks<Lost, Db> = {}
    expectTypeOf(Handler.make("x", hooks)).toEqualTypeOf<Handler.Handler<never, Lost, Db>>()
    expectTypeOf(Handler.make("x", Handler.hooks(plain))).toEqualTypeOf<Handler.Handler>()
  })

  it("say nothing of finish, of the run's scope, and of what comes through next", () => {
    expectTypeOf(Handler.beforeModel(() => Handler.finish("done"))).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(
      Handler.beforeAgent((run) =>
        Effect.as(
          Effect.addFinalizer(() => Effect.void),
          run
        )
      )
    ).toEqualTypeOf<Handler.Handler>()
    expectTypeOf(
      Handler.wrapModelCall((request, next) =>
        Call.orElse(next(request), (error) => {
          expectTypeOf(error).toEqualTypeOf<Handler.Upstream>()
          return Call.fail(error)
        })
      )
    ).toEqualTypeOf<Handler.Handler>()
  })

  it("built for each run need no scope, and say what building fails with", () => {
    const built = Handler.effect(
      "built",
      Effect.as(
        Effect.zipRight(
          Effect.scope,
          Effect.flatMap(Db, () => Effect.fail(new Lost()))
        ),
        {
          beforeModel: (history: History.History) => Effect.as(User, history)
        }
      )
    )
    expectTypeOf(built).toEqualTypeOf<Handler.Handler<never, Lost, Db | User>>()
    expectTypeOf<Scope.Scope>().not.toEqualTypeOf<User>()
  })

  it("that are services need themselves", () => {
    expectTypeOf(Pipeline.make(Cache)).toEqualTypeOf<Pipeline.Pipeline<never, Lost, Cache>>()
  })

  it("that answer an error say so, and what the answer fails with", () => {
    const caught = Handler.catchError(Denied, (error) => {
      expectTypeOf(error).toEqualTypeOf<Denied>()
      return error.who
    })
    expectTypeOf(caught).toEqualTypeOf<Handler.Handler<never, never, never, Denied>>()
    const failing = Handler.catchError(Denied, () => Effect.fail(new Lost()))
    expectTypeOf(failing).toEqualTypeOf<Handler.Handler<never, Lost, never, Denied>>()
  })

  it("of tools say what the tools fail the run with and need", () => {
    const tool = Tool.make({
      name: "t",
      description: "t",
      failure: Missing,
      failureMode: "fail",
      execute: () => Effect.zipRight(Db, new Missing())
    })
    expectTypeOf(Handler.tools(tool)).toEqualTypeOf<Handler.Handler<never, Missing, Db>>()
    expectTypeOf(
      Handler.fromMiddleware({ additionalTools: [tool], beforeChatModel: () => Effect.fail(new Lost()) })
    ).toEqualTypeOf<Handler.Handler<never, Missing | Lost, Db>>()
  })
})

describe("pipelines", () => {
  it("take what one handler needs from what those before it provide", () => {
    expectTypeOf(Pipeline.make(login, auth)).toEqualTypeOf<Pipeline.Pipeline<User, Denied, Db>>()
    expectTypeOf(Pipeline.make(login, plain, auth, Cache)).toEqualTypeOf<
      Pipeline.Pipeline<User, Denied | Lost, Db | Cache>
    >()
    expectTypeOf(Pipeline.andThen(login, auth)).toEqualTypeOf<Pipeline.Pipeline<User, Denied, Db>>()
    expectTypeOf(Pipeline.empty).toEqualTypeOf<Pipeline.Pipeline>()
    expectTypeOf(Pipeline.make()).toEqualTypeOf<Pipeline.Pipeline>()
  })

  it("leave a need where the provider comes too late", () => {
    expectTypeOf(Pipeline.make(auth, login)).toEqualTypeOf<Pipeline.Pipeline<User, Denied, User | Db>>()
    const agent = Agent.make({ name: "a", handlers: Pipeline.make(auth, login) })
    const program = Agent.run(agent, "go").pipe(
      Effect.provideService(Db, { read: Effect.succeed("") }),
      Effect.provide(ChatModel.layer(() => ChatModel.reply("ok")))
    )
    // @ts-expect-error -- User is still needed.
    const run: () => Promise<unknown> = () => Effect.runPromise(program)
    expect(run).toBeTypeOf("function")
  })

  it("drop an error that a handler before its source answers, and no other", () => {
    const polite = Handler.catchError(Denied, () => "sorry")
    expectTypeOf(Pipeline.make(polite, login, auth)).toEqualTypeOf<Pipeline.Pipeline<User, never, Db, Denied>>()
    expectTypeOf(Pipeline.make(login, auth, polite)).toEqualTypeOf<Pipeline.Pipeline<User, Denied, Db, Denied>>()
  })

  it("are grouped as one likes", () => {
    expectTypeOf(Pipeline.make(Pipeline.make(login), Pipeline.make(auth, Cache))).toEqualTypeOf(
      Pipeline.make(login, auth, Cache)
    )
  })
})

describe("tools", () => {
  const make = <const Mode extends Tool.FailureMode>(failureMode: Mode) =>
    Tool.make({
      name: "t",
      description: "t",
      parameters: Schema.Struct({ day: Schema.Date }),
      success: Schema.Number,
      failure: Missing,
      failureMode,
      execute: ({ day }) => {
        expectTypeOf(day).toEqualTypeOf<Date>()
        return Effect.flatMap(Db, () => Effect.fail(new Missing()))
      }
    })

  it("fail a run with their declared failure in failure mode fail alone", () => {
    expectTypeOf(make("return")).toEqualTypeOf<Tool.Tool<never, Db>>()
    expectTypeOf(make("fail")).toEqualTypeOf<Tool.Tool<Missing, Db>>()
    expectTypeOf(Tools.make(make("return"), Tool.update(make("fail"), { name: "u" }))).toEqualTypeOf<
      Tools.Tools<Missing, Db>
    >()
    expectTypeOf(Tools.add(Tools.empty, make("fail"))).toEqualTypeOf<Tools.Tools<Missing, Db>>()
  })

  it("may not give what their schemas refuse", () => {
    Tool.make({
      name: "t",
      description: "t",
      // @ts-expect-error -- an undeclared failure, where no schema says what a result is
      execute: () => Effect.fail(new Missing())
    })
    Tool.make({
      name: "t",
      description: "t",
      success: Schema.Number,
      // @ts-expect-error -- a text is no number
      execute: () => "text"
    })
    Tool.make({
      name: "t",
      description: "t",
      success: Schema.Number,
      failure: Missing,
      // @ts-expect-error -- an undeclared failure
      execute: () => Effect.fail(new Lost())
    })
    Tool.stream({
      name: "t",
      description: "t",
      // @ts-expect-error -- a failure where none is declared
      execute: () => Stream.fail(new Lost())
    })
  })
})

describe("agents", () => {
  it("fail with what handlers and tools fail with, and need what they need", () => {
    const tool = Tool.stream({
      name: "t",
      description: "t",
      failure: Missing,
      failureMode: "fail",
      execute: () => Stream.fromEffect(Effect.map(User, (user) => user.name))
    })
    const bare = Agent.make({ name: "a" })
    expectTypeOf(bare).toEqualTypeOf<Agent.Agent<string, RunError, ChatModel.ChatModel>>()
    const agent = Agent.make({
      name: "a",
      tools: Tools.make(tool),
      handlers: Pipeline.make(login, auth),
      output: Schema.Struct({ n: Schema.NumberFromString })
    })
    expectTypeOf(agent).toEqualTypeOf<
      Agent.Agent<{ readonly n: number }, RunError | Errors.InvalidOutput | Denied | Missing, ChatModel.ChatModel | Db>
    >()
    expectTypeOf(Agent.run(agent, "go")).toEqualTypeOf<
      Effect.Effect<
        AgentRun.AgentResult<{ readonly n: number }>,
        RunError | Errors.InvalidOutput | Denied | Missing,
        ChatModel.ChatModel | Db
      >
    >()
    expectTypeOf(Agent.stream(bare, "go")).toEqualTypeOf<
      Stream.Stream<AgentEvent.AgentEvent<AgentRun.AgentResult<string>> | Call.Reset, RunError, ChatModel.ChatModel>
    >()
    expectTypeOf(Agent.asTool(agent)).toEqualTypeOf<
      Tool.Tool<RunError | Errors.InvalidOutput | Denied | Missing, ChatModel.ChatModel | Db>
    >()
    expectTypeOf<Agent.Output<typeof agent>>().toEqualTypeOf<{ readonly n: number }>()
    expectTypeOf<Agent.Error<typeof bare>>().toEqualTypeOf<RunError>()
    expectTypeOf<Agent.Context<typeof bare>>().toEqualTypeOf<ChatModel.ChatModel>()
  })

  it("are rid of errors that their handlers answer, of tools and model as well", () => {
    const agent = Agent.make({
      name: "a",
      handlers: Pipeline.make(
        Handler.catchError(Errors.ModelError, () => "busy"),
        Handler.catchError(Errors.ToolError, () => "broken")
      )
    })
    expectTypeOf(agent).toEqualTypeOf<Agent.Agent<string, Errors.StepLimitReached, ChatModel.ChatModel>>()
  })

  it("with middleware take what the handlers need from it", () => {
    const agent = Agent.make({ name: "a", middleware: login, handlers: auth })
    expectTypeOf(agent).toEqualTypeOf<Agent.Agent<string, RunError | Denied, ChatModel.ChatModel | Db>>()
  })

  it("keep their type under scoped instructions", () => {
    const agent = Agent.make({ name: "a" })
    const run = Agent.run(agent, "go")
    expectTypeOf(run.pipe(Instructions.scoped(Instructions.append("x")))).toEqualTypeOf(run)
    const stream = Agent.stream(agent, "go")
    expectTypeOf(stream.pipe(Instructions.scoped(Instructions.append("x")))).toEqualTypeOf(stream)
  })
})

describe("what does not compile", () => {
  it("a misspelt hook", () => {
    // @ts-expect-error -- beforModel
    Handler.make("x", { beforModel: (history: History.History) => history })
    // @ts-expect-error -- additionalTool
    Handler.fromMiddleware({ additionalTool: [] })
  })

  it("a wrap without a result", () => {
    // @ts-expect-error -- next is not returned
    Handler.make("x", { wrapModelCall: (request, next) => void next(request) })
    // @ts-expect-error -- nothing is
    Handler.wrapToolCall(() => {})
    // @ts-expect-error -- nothing is
    Handler.wrapAgent((run, next) => {
      next(run)
    })
  })

  it("a wrap with a wrong result", () => {
    // @ts-expect-error -- a model call answers with a reply
    Handler.wrapModelCall(() => Call.succeed("text"))
    // @ts-expect-error -- a tool call answers with an outcome
    Handler.wrapToolCall(() => Call.succeed({ result: 1 }))
    // @ts-expect-error -- an Effect is no call
    Handler.wrapToolCall(() => Effect.succeed(Message.succeeded(1)))
  })

  it("a hook with a wrong result", () => {
    // @ts-expect-error -- a config is due
    Handler.beforeAgent(() => "text")
    // @ts-expect-error -- a history is due
    Handler.beforeModel(() => Effect.succeed(1))
    // @ts-expect-error -- a history is due
    Handler.make("x", { afterModel: () => undefined })
  })

  it("a layer of a tagged handler that fails with what the tag does not declare", () => {
    Layer.succeed(Cache, { beforeModel: () => Effect.fail(new Lost()) })
    // @ts-expect-error -- Denied is not declared
    Layer.succeed(Cache, { beforeModel: () => Effect.fail(new Denied({ who: "" })) })
    // @ts-expect-error -- Db is not provided
    Layer.succeed(Cache, { beforeModel: (history: History.History) => Effect.as(Db, history) })
  })

  it("a declaration of what a handler does not need or fail with", () => {
    Handler.declare(auth, { needs: [User], fails: [Denied] })
    // @ts-expect-error -- auth does not need Db
    Handler.declare(auth, { needs: [Db] })
    // @ts-expect-error -- auth does not fail with Lost
    Handler.declare(auth, { fails: [Lost] })
  })

  it("a run whose needs are not met", () => {
    // @ts-expect-error -- a ChatModel is needed
    const run = () => Effect.runPromise(Agent.run(Agent.make({ name: "a" }), "go"))
    expect(run).toBeTypeOf("function")
  })
})

describe("calls", () => {
  it("combinators say what they add", () => {
    const call = Call.fromIterable(["a"])
    expectTypeOf(call).toEqualTypeOf<Call.Call<string, never>>()
    const timed = Call.around(Call.succeed(1), Effect.timeout("1 second"))
    expectTypeOf<Call.ContextOf<typeof timed>>().toEqualTypeOf<never>()
    expectTypeOf<Call.ErrorOf<typeof timed>>().not.toBeAny()
    expectTypeOf<Call.ErrorOf<typeof timed>>().not.toBeUnknown()
    expectTypeOf(Call.orElse(Call.fail(new Lost()), () => Call.succeed(1))).toEqualTypeOf<Call.Call<never, 1>>()
    const judged = Call.gate(Call.succeed(1), () => Effect.fail(new Lost()))
    expectTypeOf<Call.ErrorOf<typeof judged>>().toEqualTypeOf<Lost>()
    const tapped = Call.tapValue(Call.succeed(1), () => Effect.zipRight(Db, new Lost()))
    expectTypeOf(tapped).toEqualTypeOf<Call.Call<never, 1, Lost, Db>>()
  })
})

describe("no public type shows any", () => {
  type IsAny<T> = 0 extends 1 & T ? true : false
  /** Whether `any` is a parameter or the result of a function, or the value itself. */
  type Shows<T> =
    IsAny<T> extends true
      ? true
      : T extends (...args: infer Args) => infer Result
        ? IsAny<Args> extends true
          ? true
          : true extends { [K in keyof Args]: IsAny<Args[K]> }[number] | IsAny<Result>
            ? true
            : false
        : false
  /** The names of the exports that show `any`. */
  type Showing<M> = { [K in keyof M]: Shows<M[K]> extends true ? K : never }[keyof M]

  it("in the exported functions", () => {
    expectTypeOf<Shows<(x: ReturnType<typeof JSON.parse>) => void>>().toEqualTypeOf<true>()
    expectTypeOf<Showing<typeof Agent>>().toBeNever()
    expectTypeOf<Showing<typeof AgentEvent>>().toBeNever()
    expectTypeOf<Showing<typeof Call>>().toBeNever()
    expectTypeOf<Showing<typeof ChatModel>>().toBeNever()
    expectTypeOf<Showing<typeof Errors>>().toBeNever()
    expectTypeOf<Showing<typeof Handler>>().toBeNever()
    expectTypeOf<Showing<typeof History>>().toBeNever()
    expectTypeOf<Showing<typeof Instructions>>().toBeNever()
    expectTypeOf<Showing<typeof Message>>().toBeNever()
    expectTypeOf<Showing<typeof Pipeline>>().toBeNever()
    expectTypeOf<Showing<typeof Tool>>().toBeNever()
    expectTypeOf<Showing<typeof Tools>>().toBeNever()
  })

  it("in the sources, but for the sink inside of Call", () => {
    const packages = new URL("../../", import.meta.url)
    const sources = readdirSync(packages).flatMap((name) => {
      const folder = new URL(`${name}/src/`, packages)
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => new URL(file, folder))
    })
    expect(sources.length).toBeGreaterThan(20)
    const offending = sources.flatMap((source) => {
      const code = readFileSync(fileURLToPath(source), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
      return (
        code
          .split("\n")
          // `any` as a type: behind a colon, an angle bracket, a comma, a bar or `as`, and no word of a text.
          .filter((line) => /(?:[:<,|&(=]|\bas)\s*any\b(?!["'`\w])/.test(line) && !line.includes("Sink<any, any>"))
          .map((line) => `${source.pathname.slice(packages.pathname.length)}: ${line.trim()}`)
      )
    })
    expect(offending).toEqual([])
  })
})

describe("what is hard to infer", () => {
  it("a timeout around a call adds its own error, and nothing else", () => {
    const timed = Handler.wrapModelCall((request, next) => Call.around(next(request), Effect.timeout("1 second")))
    expectTypeOf<Handler.Error<typeof timed>>().toEqualTypeOf<Cause.TimeoutException>()
    expectTypeOf<Handler.Context<typeof timed>>().toEqualTypeOf<never>()
  })

  it("an array of handlers keeps their errors and needs", () => {
    const many: ReadonlyArray<Handler.Handler<never, Lost, Db>> = []
    expectTypeOf(Pipeline.make(...many)).toEqualTypeOf<Pipeline.Pipeline<never, Lost, Db>>()
  })
})
