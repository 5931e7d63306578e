import { Agent, Handler, History, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { callLimit } from "../callLimit.ts"

const ping = Tool.make({ name: "ping", description: "Answers.", execute: () => "pong" })

/** A handler that writes down each call that comes to it. */
const probe = (name: string, log: Array<string>) =>
  Handler.wrapToolCall((request, next) => {
    log.push(`call ${name}`)
    return next(request)
  }, name)

const between = (log: Array<string>) => Pipeline.make(probe("before", log), callLimit(1), probe("after", log))

const run = (handlers: ReturnType<typeof between>, script: ScriptedModel.Script) =>
  Agent.run(Agent.make({ name: "probed", tools: Tools.make(ping), handlers }), "Go.").pipe(
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
    expect(log).toEqual(["call before", "call after", "call before"])
    expect(history.flatMap(Message.toolCalls).map((call) => call.outcome._tag)).toEqual(["Succeeded", "Denied"])
    expect(History.isPaired(history)).toBe(true)
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
