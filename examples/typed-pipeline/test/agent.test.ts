import { Agent, Handler, Message, Pipeline } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import { ask, auth, Denied, greet, Live, Token, wrongAgent } from "../agent.ts"
import { Model } from "../model.ts"

const Test = Layer.merge(Live, Model)

it.layer(Test)((it) => {
  it.effect("the provided user reaches the handlers after it and the tools", () =>
    Effect.gen(function* () {
      const { text } = yield* ask("t-1", "How warm is it?")
      expect(text).toBe(`[You tell the weather. You are speaking with Ada.] {"city":"Turin","celsius":21}`)
    })
  )

  it.effect("a tool's declared failure goes back to the model, and the run goes on", () =>
    Effect.gen(function* () {
      const { history, steps } = yield* ask("t-1", "How warm is it in Atlantis?")
      const [call] = history.flatMap(Message.toolCalls)
      expect(call?.outcome).toMatchObject({ _tag: "Failed", error: { _tag: "NoThermometer", city: "Atlantis" } })
      expect(steps).toBe(2)
    })
  )

  it.effect("an error that a handler catches becomes the answer, without a model call", () =>
    Effect.gen(function* () {
      const { end, steps, text } = yield* ask("t-2", "How warm is it?")
      expect({ end, steps, text }).toEqual({ end: "finish", steps: 0, text: `Sorry, nobody has the token "t-2".` })
    })
  )

  it.effect("an error that nobody catches reaches the caller as it is", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "strict", handlers: Pipeline.make(auth, greet) })
      const error = yield* Effect.flip(Agent.run(agent, "Hi").pipe(Effect.provideService(Token, "t-2")))
      expect(error).toBeInstanceOf(Denied)
    })
  )

  it.effect("what does not compile does not run either: the user is not there before it is provided", () =>
    Effect.gen(function* () {
      const cause = yield* Effect.sandbox(Agent.run(wrongAgent, "Hi")).pipe(
        Effect.flip,
        Effect.provideService(Token, "t-1")
      )
      expect(Cause.pretty(cause)).toContain("Service not found: CurrentUser")
    })
  )
})

it.effect("an error of a handler before the one that catches it is not caught", () =>
  Effect.gen(function* () {
    const polite = Handler.catchError(Denied, () => "Sorry.")
    const agent = Agent.make({ name: "late", handlers: Pipeline.make(auth, polite) })
    const error = yield* Effect.flip(Agent.run(agent, "Hi").pipe(Effect.provideService(Token, "t-2")))
    expect(error).toBeInstanceOf(Denied)
  }).pipe(Effect.provide(Layer.merge(Live, ScriptedModel.layer(["Hi"]))))
)
