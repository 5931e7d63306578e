import { History, Message } from "@heddle/core"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, TestClock } from "effect"
import { duringModelCall, duringToolCalls } from "../runs.ts"

it.effect("a run cancelled in a model call stops the call, then leaves the handlers, then is over", () =>
  Effect.gen(function* () {
    const { exit, history, log } = yield* duringModelCall
    expect(log).toEqual([
      "model call starts",
      "-- cancelled --",
      "model call stops",
      "the handler is left",
      "-- the run is over --"
    ])
    expect(Exit.isInterrupted(exit)).toBe(true)
    expect(history).toEqual([Message.user("Go.")])
  })
)

it.effect("tool calls keep the outcome that they have; those at work and those that waited are cancelled", () =>
  Effect.gen(function* () {
    const { exit, history } = yield* duringToolCalls
    expect(Exit.isInterrupted(exit)).toBe(true)
    expect(History.isPaired(history)).toBe(true)
    expect(history.flatMap(Message.toolCalls).map((call) => [call.name, call.outcome._tag])).toEqual([
      ["quick", "Succeeded"],
      ["slow", "Cancelled"],
      ["slower", "Cancelled"],
      ["waiting", "Cancelled"]
    ])
  })
)

it.effect("nothing starts once a run is cancelled, and the handlers are left after all that was at work", () =>
  Effect.gen(function* () {
    const { log } = yield* duringToolCalls
    yield* TestClock.adjust("1 day")
    const after = log.slice(log.indexOf("-- cancelled --") + 1)
    expect(after.filter((line) => line.endsWith("starts"))).toEqual([])
    expect(after.slice(0, 2).toSorted()).toEqual(["slow stops", "slower stops"])
    expect(after.slice(2)).toEqual(["the handler is left", "-- the run is over --"])
  })
)
