import { Agent, Handler, Instructions } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { agent, countWrong, expected, modelFor, runFor } from "../runs.ts"

it.effect(
  "1,000 runs of one agent at once see their own instructions, in the model and in tools",
  () =>
    Effect.gen(function* () {
      expect(yield* countWrong(1_000)).toBe(0)
    }).pipe(Effect.provide(modelFor(1_000))),
  30_000
)

it.effect("the agent is the same after its runs as before", () =>
  Effect.gen(function* () {
    const before = agent.instructions
    yield* countWrong(2)
    expect(agent.instructions).toBe(before)
    const { text } = yield* Agent.run(agent, "Who am I?")
    expect(text).toBe("You help.")
  }).pipe(Effect.provide(modelFor(2)))
)

it.effect("a run that is cancelled leaves no instructions behind", () =>
  Effect.gen(function* () {
    const run = yield* Effect.fork(runFor(1))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(run)
    const { text } = yield* runFor(2)
    expect(text).toBe(expected(2))
  }).pipe(Effect.provide(modelFor(2)))
)

it.effect("what a handler adds stands behind what the run was given", () =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(["Hello."])
    const polite = Agent.make({ name: "polite", instructions: "You help.", handlers: Handler.instructions("Be kind.") })
    yield* Agent.run(polite, "Hi").pipe(
      Instructions.scoped(Instructions.append("The user is Ada.")),
      Effect.provide(model.layer)
    )
    const [request] = yield* model.requests
    expect(Instructions.render(request!.instructions)).toBe("You help.\n\nThe user is Ada.\n\nBe kind.")
  })
)
