import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, Errors } from "@heddle/core"
import { CircuitBreaker, ModelDecorator, RateLimit, UsageMeter } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as TestClock from "effect/TestClock"
import { collect, counting, failing, request, shown, simulated, textOf } from "./support.ts"

const error = (reason: Errors.ModelErrorReason, retryAfter?: number) =>
  new Errors.ModelError({ reason, message: `it is ${reason}`, ...(retryAfter !== undefined && { retryAfter }) })
const reasons: ReadonlyArray<Errors.ModelErrorReason> = [
  "RateLimited",
  "Overloaded",
  "Timeout",
  "Network",
  "Authentication",
  "ContextLength",
  "ContentFilter",
  "BadRequest",
  "InvalidResponse",
  "Unknown"
]
const ask = (model: ChatModel.Service) => Effect.map(ChatModel.run(model.call(request)), textOf)

describe("fallback", () => {
  const next: ChatModel.Service = { call: () => ChatModel.reply("next") }

  it.effect("asks the next model for all failures but those that are about the request", () =>
    Effect.forEach(reasons, (reason) =>
      Effect.gen(function* () {
        const first = error(reason)
        const result = yield* Effect.either(ask(ModelDecorator.fallback(next)(failing(first).model)))
        const stays = reason === "BadRequest" || reason === "ContentFilter"
        expect(result._tag === "Right" ? result.right : result.left).toBe(stays ? first : "next")
      })
    )
  )

  it.effect("goes on to further ones, takes back what was said, and fails with the last error", () =>
    Effect.gen(function* () {
      const scripted = yield* ScriptedModel.make([
        { text: "half", error: error("Network") },
        { text: "a quarter", error: error("Timeout") },
        "whole"
      ])
      const model = flow(
        ModelDecorator.fallback(scripted.service),
        ModelDecorator.fallback(scripted.service)
      )(scripted.service)
      const { parts, value } = yield* collect(model.call(request))
      expect(shown(parts)).toEqual(["half", "!", "a quarter", "!", "whole"])
      expect(textOf(value)).toBe("whole")
      const last = error("Unknown")
      const failed = ModelDecorator.fallback(failing(last).model)(failing(error("Network")).model)
      expect(yield* Effect.flip(ask(failed))).toBe(last)
    })
  )

  it.effect("asks for what `when` says, and never for a defect or an interruption", () =>
    Effect.gen(function* () {
      const all = ModelDecorator.fallback(next, { when: () => true })
      expect(yield* ask(all(failing(error("BadRequest")).model))).toBe("next")
      const boom = new Error("boom")
      expect(yield* Effect.exit(ask(all({ call: () => Call.die(boom) })))).toEqual(Exit.die(boom))
      const exit = yield* Effect.exit(ask(all({ call: () => Call.make(() => Effect.interrupt) })))
      expect(Exit.isInterrupted(exit)).toBe(true)
    })
  )
})

describe("retry", () => {
  it.effect("asks again for failures that may pass, and for no others", () =>
    Effect.forEach(reasons, (reason) =>
      Effect.gen(function* () {
        const { counts, model } = failing(error(reason))
        const result = yield* Effect.either(ask(ModelDecorator.retry()(model)))
        const passes = ["RateLimited", "Overloaded", "Timeout", "Network"].includes(reason)
        expect([counts.begun, result._tag]).toEqual(passes ? [2, "Right"] : [1, "Left"])
      }).pipe(simulated)
    )
  )

  it.effect(
    "waits longer each time up to the longest wait, a fifth more or less, and gives up with the last error",
    () =>
      Effect.gen(function* () {
        const times: Array<number> = []
        const errors = Array.from({ length: 9 }, () => error("Overloaded"))
        const model: ChatModel.Service = {
          call: () =>
            Call.unwrap(
              Effect.map(Clock.currentTimeMillis, (now) => {
                times.push(now)
                return Call.fail(errors[times.length - 1]!)
              })
            )
        }
        const retry = ModelDecorator.retry({ times: 5, baseDelay: 100, maxDelay: 500 })
        expect(yield* Effect.flip(ask(retry(model)))).toBe(errors[5])
        const waits = times.slice(1).map((time, i) => time - times[i]!)
        for (const [i, wait] of waits.entries()) {
          const delay = 100 * 2 ** i
          expect(wait).toBeGreaterThanOrEqual(Math.min(delay * 0.8, 500) - 1)
          expect(wait).toBeLessThanOrEqual(Math.min(delay * 1.2, 500) + 1)
        }
        expect(waits).toHaveLength(5)
        expect(waits.slice(0, 3).map(Math.round)).not.toEqual([100, 200, 400])
      }).pipe(simulated)
  )

  it.effect("waits as long as the provider says, unless that is too long", () =>
    Effect.gen(function* () {
      const patient = failing(error("RateLimited", 7000))
      const fiber = yield* Effect.fork(ask(ModelDecorator.retry({ baseDelay: 100 })(patient.model)))
      yield* TestClock.adjust(6999)
      expect(patient.counts.begun).toBe(1)
      yield* TestClock.adjust(1)
      expect([yield* Fiber.join(fiber), patient.counts.begun]).toEqual(["done", 2])
      // The window of most limits.
      const minute = yield* Effect.fork(ask(ModelDecorator.retry()(failing(error("RateLimited", 60_000)).model)))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(minute)).toBe("done")
      const late = error("RateLimited", 60_001)
      const hurried = failing(late)
      expect(yield* Effect.flip(ask(ModelDecorator.retry()(hurried.model)))).toBe(late)
      expect(hurried.counts.begun).toBe(1)
    })
  )

  it.effect("takes back what a failed attempt has said, and asks for what `while` says", () =>
    Effect.gen(function* () {
      const scripted = yield* ScriptedModel.make([{ text: "half", error: error("BadRequest") }, "whole"])
      const model = ModelDecorator.retry({ while: () => true })(scripted.service)
      expect(shown((yield* collect(model.call(request))).parts)).toEqual(["half", "!", "whole"])
    }).pipe(simulated)
  )

  it("refuses options that make no sense", () => {
    expect(() => ModelDecorator.retry({ times: -1 })).toThrow(Errors.DefinitionError)
    expect(() => ModelDecorator.retry({ baseDelay: 0 })).toThrow("baseDelay is more than 0")
    expect(() => ModelDecorator.timeout({ total: 0 })).toThrow("total is more than 0")
  })
})

describe("timeout", () => {
  const slow = counting(() =>
    Call.make((emit) =>
      Effect.gen(function* () {
        yield* Effect.sleep("10 seconds")
        yield* emit({ _tag: "Text", text: "first" })
        yield* Effect.sleep("10 seconds")
        yield* emit({ _tag: "Text", text: " last" })
      })
    )
  )
  const outcome = (options: ModelDecorator.TimeoutOptions) =>
    Effect.gen(function* () {
      const result = yield* Effect.either(ask(ModelDecorator.timeout(options)(slow.model)))
      expect(slow.counts.running).toBe(0)
      const now = yield* Clock.currentTimeMillis
      return [result._tag === "Right" ? result.right : `${result.left.reason}: ${result.left.message}`, now]
    }).pipe(simulated)

  it.effect("fails when the first part or the whole takes too long, after the call was left", () =>
    Effect.gen(function* () {
      expect(yield* outcome({ firstPart: "11 seconds" })).toEqual(["first last", 20_000])
      expect(yield* outcome({ firstPart: "9 seconds" })).toEqual([
        "Timeout: The model has said nothing within 9s.",
        9000
      ])
      expect(yield* outcome({ total: "19 seconds" })).toEqual([
        "Timeout: The model has not finished within 19s.",
        19_000
      ])
      expect(yield* outcome({ firstPart: "11 seconds", total: "21 seconds" })).toEqual(["first last", 20_000])
      expect(yield* outcome({})).toEqual(["first last", 20_000])
    })
  )

  it.effect("lets failures, defects and interruptions through as they are", () =>
    Effect.gen(function* () {
      const timeout = ModelDecorator.timeout({ firstPart: 1000, total: 1000 })
      const failure = error("Network")
      expect(yield* Effect.exit(ask(timeout(failing(failure).model)))).toEqual(Exit.fail(failure))
      const boom = new Error("boom")
      const died = yield* Effect.exit(ask(timeout({ call: () => Call.die(boom) })))
      expect(Exit.isFailure(died) && Cause.squash(died.cause)).toBe(boom)
    })
  )
})

describe("route", () => {
  it.effect("chooses by the request, with an effect if need be; what it throws is a defect of the call", () =>
    Effect.gen(function* () {
      const say = (text: string): ChatModel.Service => ({ call: () => ChatModel.reply(text) })
      const model = ModelDecorator.route((request) =>
        request.purpose === "summary" ? say("small") : Effect.succeed(say("big"))
      )
      expect(yield* ask(model)).toBe("big")
      const summary = ChatModel.run(model.call({ ...request, purpose: "summary" }))
      expect(textOf(yield* summary)).toBe("small")
      const boom = new Error("boom")
      const throwing = ModelDecorator.route(() => {
        throw boom
      })
      expect(yield* Effect.exit(ask(throwing))).toEqual(Exit.die(boom))
      const failure = error("BadRequest")
      expect(yield* Effect.flip(ask(ModelDecorator.route(() => failure)))).toBe(failure)
    })
  )
})

describe("decorating a layer", () => {
  it.effect("makes what is remembered once for the layer, with what it needs", () =>
    Effect.gen(function* () {
      class Failures extends Context.Tag("Failures")<Failures, number>() {}
      const { counts, model } = failing(...Array.from({ length: 9 }, () => error("Overloaded")))
      const Live = Layer.succeed(ChatModel.ChatModel, model).pipe(
        ModelDecorator.decorate(
          Effect.gen(function* () {
            return (yield* CircuitBreaker.make({ failures: yield* Failures })).decorate
          })
        ),
        ModelDecorator.decorate((model) => model),
        Layer.provide(Layer.succeed(Failures, 2))
      )
      yield* Effect.gen(function* () {
        const model = yield* ChatModel.ChatModel
        for (let i = 0; i < 5; i++) yield* Effect.flip(ask(model))
      }).pipe(Effect.provide(Live))
      expect(counts.begun).toBe(2)
    })
  )
})

// -----------------------------------------------------------------------------
// any of them, one around the other
// -----------------------------------------------------------------------------

type Made = Effect.Effect<ModelDecorator.Decorator>

const decorators: Record<string, (seed: number) => Made> = {
  fallback: (seed) =>
    Effect.map(
      ScriptedModel.make(() => ({ text: `fallen back ${seed}`, delay: 40 }), { cut: { seed } }),
      (model) => ModelDecorator.fallback(model.service)
    ),
  retry: (seed) => Effect.succeed(ModelDecorator.retry({ times: seed % 3, baseDelay: 100 })),
  timeout: (seed) =>
    Effect.succeed(ModelDecorator.timeout({ firstPart: 150 + (seed % 7) * 1000, total: 777 + seed * 100 })),
  circuit: (seed) =>
    Effect.map(CircuitBreaker.make({ failures: 1 + (seed % 3), openFor: 50 }), ({ decorate }) => decorate),
  limit: (seed) =>
    Effect.map(
      RateLimit.make({ requests: 1 + (seed % 3), tokens: 20, window: 1000, estimate: () => seed, maxWait: 2000 }),
      ({ decorate }) => decorate
    ),
  meter: () => Effect.map(UsageMeter.make, ({ decorate }) => decorate),
  route: () => Effect.succeed((model) => ModelDecorator.route(() => model))
}
const stack = FastCheck.array(FastCheck.tuple(FastCheck.constantFrom(...Object.keys(decorators)), FastCheck.nat(9)), {
  maxLength: 4
})
const makeStack = (names: ReadonlyArray<readonly [string, number]>): Made =>
  Effect.map(
    Effect.forEach(names, ([name, seed]) => decorators[name]!(seed)),
    (all) => (model) => all.reduce((inner, decorator) => decorator(inner), model)
  )
const reply: FastCheck.Arbitrary<ScriptedModel.Reply> = FastCheck.record({
  text: FastCheck.string({ maxLength: 8 }),
  delay: FastCheck.constantFrom(0, 0, 100, 3000),
  error: FastCheck.option(
    FastCheck.constantFrom(...reasons).map((reason) => error(reason, 60)),
    { nil: undefined }
  ),
  usage: FastCheck.constant({ inputTokens: 5, outputTokens: 5 }),
  cut: FastCheck.nat(5).map((seed) => ({ seed }))
}).map(({ error, ...rest }) => ({ ...rest, ...(error && { error }) }))
const script = FastCheck.array(reply, { minLength: 1, maxLength: 5 })

describe("any decorators, one around the other", () => {
  it("give the same value or the very same error, run or streamed, as one piece or in parts", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(stack, script, (names, replies) =>
        Effect.gen(function* () {
          const outcome = (
            ask: (call: ChatModel.ModelCall) => Effect.Effect<ChatModel.ModelReply, Errors.ModelError>
          ) =>
            Effect.gen(function* () {
              const scripted = yield* ScriptedModel.make(replies)
              const model = (yield* makeStack(names))(scripted.service)
              const result = yield* Effect.either(ask(model.call(request)))
              return { result, turns: (yield* scripted.requests).length }
            }).pipe(
              simulated,
              // The chance in a wait is the same for both.
              Effect.withRandom(Random.fixed([0.5]))
            )
          const run = yield* outcome(ChatModel.run)
          const refold = (call: ChatModel.ModelCall) =>
            Effect.map(collect(call), ({ parts, value }) => {
              const folded = ChatModel.fold.make()
              for (const part of parts) {
                if (Call.isReset(part)) folded.reset()
                else folded.add(part)
              }
              expect(folded.value()).toEqual(value)
              return value
            })
          const streamed = yield* outcome(refold)
          expect(streamed).toEqual(run)
          const scripted = replies.flatMap((reply) =>
            typeof reply === "object" && "error" in reply ? reply.error : []
          )
          const failure = (given: typeof run) => (given.result._tag === "Left" ? given.result.left : undefined)
          const isOne = (error: unknown) => scripted.some((one) => one === error)
          expect(isOne(failure(streamed))).toBe(isOne(failure(run)))
        }).pipe(Effect.runPromise)
      ),
      { numRuns: 300 }
    ))

  it("leave nothing running and nothing taken, whenever they are interrupted", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(stack, FastCheck.nat(4000), FastCheck.nat(8), (names, millis, yields) =>
        Effect.gen(function* () {
          const scripted = counting((turn) =>
            Call.make((emit) =>
              Effect.gen(function* () {
                yield* Effect.sleep(turn % 2 === 0 ? 300 : 5)
                yield* emit({ _tag: "Text", text: "half" })
                yield* Effect.sleep(turn % 3 === 0 ? 1000 : 0)
                if (turn % 2 === 0) return yield* error("Overloaded")
              })
            )
          )
          const model = (yield* makeStack(names))(scripted.model)
          const fibers = yield* Effect.forEach(Array.from({ length: 4 }), () => Effect.fork(ask(model)))
          yield* Effect.sleep(millis)
          for (let i = 0; i < yields; i++) yield* Effect.yieldNow()
          yield* Fiber.interruptAll(fibers)
          expect(scripted.counts.running).toBe(0)
          const begun = scripted.counts.begun
          yield* Effect.sleep("1 hour")
          expect(scripted.counts.begun).toBe(begun)
          // What was interrupted holds up nobody.
          const answering = (yield* makeStack(names))({ call: () => ChatModel.reply("ok") })
          expect(yield* ask(answering)).toBe("ok")
          yield* Effect.exit(ask(model))
          expect(scripted.counts.begun).toBeGreaterThan(begun)
        }).pipe(simulated, Effect.runPromise)
      ),
      { numRuns: 300 }
    ))
})
