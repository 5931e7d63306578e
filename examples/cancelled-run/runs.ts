/**
 * Two runs that are cancelled in the middle: one while the model speaks, one
 * while its tools work. What had begun gets an end, what had not never begins.
 */
import { Agent, Call, ChatModel, Handler, type History, Message, Tool, Tools } from "@heddle/core"
import { Deferred, Effect, type Exit, Fiber } from "effect"

/** What happened, in its order, and how the run ended. */
export interface Report {
  readonly log: ReadonlyArray<string>
  readonly exit: Exit.Exit<unknown, unknown>
  readonly history: History.History
}

/** Runs until `middle` is reached, then cancels the run and waits until it has been left. */
const cancel = (
  setUp: (
    log: (line: string) => void,
    middle: Effect.Effect<unknown>
  ) => {
    readonly tools?: Tools.Tools
    readonly model: (request: ChatModel.ModelRequest) => ChatModel.ModelCall
  }
): Effect.Effect<Report> =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const middle = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<Handler.RunExit>()
    const { model, tools = Tools.empty } = setUp((line) => log.push(line), Deferred.succeed(middle, undefined))

    const agent = Agent.make({
      name: "interrupted",
      tools,
      toolConcurrency: 2,
      handlers: Handler.onExit((end) => {
        log.push("the handler is left")
        return Deferred.succeed(ended, end)
      })
    })
    const run = yield* Effect.fork(Agent.run(agent, "Go.").pipe(Effect.provide(ChatModel.layer(model))))
    yield* Deferred.await(middle)
    log.push("-- cancelled --")
    yield* Fiber.interrupt(run)
    log.push("-- the run is over --")
    const { exit, history } = yield* Deferred.await(ended)
    return { log, exit, history }
  })

/** The model has said a few words when the run is cancelled. */
export const duringModelCall = cancel((log, middle) => ({
  model: () =>
    Call.make((emit) =>
      Effect.gen(function* () {
        log("model call starts")
        yield* emit({ _tag: "Text", text: "Let me th" })
        yield* middle
        yield* Effect.never
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => log("model call stops"))))
    )
}))

/**
 * Of four tool calls two run at a time. The first has answered, the second and
 * the third are at work and the fourth waits when the run is cancelled.
 */
export const duringToolCalls = cancel((log, middle) => ({
  tools: Tools.make(
    Tool.make({
      name: "quick",
      description: "Answers at once.",
      execute: () => {
        log("quick starts")
        return "done"
      }
    }),
    ...["slow", "slower", "waiting"].map((name) =>
      Tool.make({
        name,
        description: "Takes for ever.",
        execute: () =>
          Effect.gen(function* () {
            log(`${name} starts`)
            if (name === "slower") yield* middle
            yield* Effect.never
          }).pipe(Effect.onInterrupt(() => Effect.sync(() => log(`${name} stops`))))
      })
    )
  ),
  model: () => {
    log("model call starts")
    return ChatModel.reply(["quick", "slow", "slower", "waiting"].map((name) => Message.toolCall(name, name, {})))
  }
}))
