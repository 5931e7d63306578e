import { Agent, Errors, Handler, History, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Ref } from "effect"
import { callLimit } from "../callLimit.ts"

const ping = Tool.make({ name: "ping", description: "Answers.", execute: () => "pong" })
const hang = Tool.make({ name: "hang", description: "Never answers.", execute: () => Effect.never })

/** A handler that writes down when it is entered, passed and left. */
const probe = (name: string, log: Array<string>) =>
  Handler.make(name, {
    beforeAgent: (run) =>
      Effect.as(
        Effect.acquireRelease(
          Effect.sync(() => log.push(`enter ${name}`)),
          () => Effect.sync(() => log.push(`leave ${name}`))
        ),
        run
      ),
    wrapToolCall: (request, next) => {
      log.push(`call ${name}`)
      return next(request)
    }
  })

const between = (log: Array<string>) => Pipeline.make(probe("before", log), callLimit(1), probe("after", log))

const run = (handlers: ReturnType<typeof between>, script: ScriptedModel.Script) =>
  Agent.run(Agent.make({ name: "probed", tools: Tools.make(ping, hang), handlers }), "Go.").pipe(
    Effect.provide(ScriptedModel.layer(script))
  )

it.effect("a tool call goes through it in the order of the pipeline, and a denied one no further", () =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const { history } = yield* run(between(log), [
      { calls: [{ tool: "ping" }] },
      { calls: [{ tool: "ping" }] },
      "Done."
    ])
    expect(log.filter((line) => line.startsWith("call"))).toEqual(["call before", "call after", "call before"])
    expect(history.flatMap(Message.toolCalls).map((call) => call.outcome._tag)).toEqual(["Succeeded", "Denied"])
    expect(History.isPaired(history)).toBe(true)
  })
)

it.effect("handlers around it are left once, in reverse, when the run succeeds, fails or is cancelled", () =>
  Effect.gen(function* () {
    const order = ["enter before", "enter after", "leave after", "leave before"]
    const steps = (log: Array<string>) => log.filter((line) => !line.startsWith("call"))

    const success: Array<string> = []
    yield* run(between(success), ["Done."])
    expect(steps(success)).toEqual(order)

    const failure: Array<string> = []
    yield* Effect.flip(run(between(failure), [new Errors.ModelError({ reason: "Network", message: "no answer" })]))
    expect(steps(failure)).toEqual(order)

    const cancelled: Array<string> = []
    const fiber = yield* Effect.fork(run(between(cancelled), [{ calls: [{ tool: "hang" }] }]))
    while (!cancelled.includes("call after")) yield* Effect.yieldNow()
    yield* Fiber.interrupt(fiber)
    expect(steps(cancelled)).toEqual(order)
  })
)

it.effect("runs at once do not count each other's calls", () =>
  Effect.gen(function* () {
    const denied = yield* Ref.make(0)
    const agent = Agent.make({ name: "counted", tools: Tools.make(ping), handlers: callLimit(1) })
    yield* Effect.replicateEffect(
      Effect.gen(function* () {
        const { history } = yield* Agent.run(agent, "Go.").pipe(
          Effect.provide(ScriptedModel.layer([{ calls: [{ tool: "ping" }] }, "Done."]))
        )
        const [call] = history.flatMap(Message.toolCalls)
        if (call?.outcome._tag !== "Succeeded") yield* Ref.update(denied, (n) => n + 1)
      }),
      100,
      { concurrency: "unbounded" }
    )
    expect(yield* Ref.get(denied)).toBe(0)
  })
)
