import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel } from "@heddle/core"
import { RateLimit } from "@heddle/models"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { failing, request, simulated } from "./support.ts"

const ask = (model: ChatModel.Service) => ChatModel.run(model.call(request))

/** A model that notes when it is called, and says how many tokens that took. */
const noting = (tokens = 0) => {
  const times: Array<number> = []
  const model: ChatModel.Service = {
    call: () =>
      Call.unwrap(
        Effect.map(Clock.currentTimeMillis, (now) => {
          times.push(now)
          return ChatModel.reply("ok", { inputTokens: tokens, outputTokens: 0 })
        })
      )
  }
  return { model, times }
}

/** What floating numbers lose, in milliseconds. A wait is of whole ones. */
const rounding = 0.001

describe("a rate limit", () => {
  it("lets through as many as its bucket holds, in their order, and none later than it has to", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.integer({ min: 1, max: 5 }),
        FastCheck.array(FastCheck.nat(800), { minLength: 1, maxLength: 25 }),
        (requests, gaps) =>
          Effect.gen(function* () {
            const { model, times } = noting()
            const limit = yield* RateLimit.make({ requests, window: 1000, maxWait: "1 hour" })
            const limited = limit.decorate(model)
            const arrivals: Array<number> = []
            const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
            for (const gap of gaps) {
              yield* Effect.sleep(gap)
              arrivals.push(yield* Clock.currentTimeMillis)
              fibers.push(yield* Effect.fork(ask(limited)))
              yield* Effect.yieldNow()
            }
            yield* Effect.forEach(fibers, Fiber.join)
            // The same as a plain queue: each starts as soon as the bucket has a whole place again.
            let level = requests
            let at = 0
            const expected = arrivals.map((arrival) => {
              const start = Math.max(arrival, at)
              level = Math.min(requests, level + ((start - at) * requests) / 1000)
              const wait = level >= 1 ? 0 : ((1 - level) * 1000) / requests
              level = level + (wait * requests) / 1000 - 1
              at = start + wait
              return at
            })
            expect(times).toHaveLength(expected.length)
            times.forEach((time, i) => {
              expect(time).toBeGreaterThanOrEqual(expected[i]! - rounding)
              expect(time).toBeLessThanOrEqual(expected[i]! + 1 + rounding)
            })
          }).pipe(simulated, Effect.runPromise)
      ),
      { numRuns: 200 }
    ))

  it.effect("makes those wait who come after tokens that were used, or are likely to be", () =>
    Effect.gen(function* () {
      const afterwards = noting(150)
      const after = (yield* RateLimit.make({ tokens: 100, window: 1000 })).decorate(afterwards.model)
      for (let i = 0; i < 3; i++) yield* ask(after)
      expect(afterwards.times).toEqual([0, 500, 2000])
    }).pipe(simulated)
  )

  it.effect("holds no more than one window's after a pause, for tokens too that are known later", () =>
    Effect.gen(function* () {
      const calls = noting()
      const burst = (yield* RateLimit.make({ requests: 2, window: 1000 })).decorate(calls.model)
      yield* Effect.sleep(5000)
      yield* Effect.all([ask(burst), ask(burst), ask(burst)], { concurrency: "unbounded" })
      expect(calls.times).toEqual([5000, 5000, 5500])
      const slow: ChatModel.Service = {
        call: (request) =>
          Call.unwrap(
            Effect.delay(
              Effect.sync(() => paid.model.call(request)),
              5000
            )
          )
      }
      const paid = noting(150)
      const limited = (yield* RateLimit.make({ tokens: 100, window: 1000 })).decorate(slow)
      yield* ask(limited)
      yield* ask(limited)
      expect(paid.times.map((time) => time - 5500)).toEqual([5000, 10_500])
    }).pipe(simulated)
  )

  it.effect("takes what is known in the place of what was estimated", () =>
    Effect.gen(function* () {
      const { model, times } = noting(20)
      const limit = yield* RateLimit.make({ tokens: 100, window: 1000, estimate: () => 100 })
      const limited = limit.decorate(model)
      // One after the other: 80 of each 100 are free again when it has ended.
      yield* ask(limited)
      yield* ask(limited)
      expect(times).toEqual([0, 200])
    }).pipe(simulated)
  )

  it.effect("counts each attempt that was paid for, the estimate but once", () =>
    Effect.gen(function* () {
      const { model, times } = noting(60)
      const twice: ChatModel.Service = {
        call: (request) =>
          Call.orElse(
            Call.make<ChatModel.ModelPart, string>((emit) =>
              Effect.zipRight(
                emit({ _tag: "Finish", reason: "stop", usage: { inputTokens: 90, outputTokens: 0 } }),
                Effect.fail("cut off")
              )
            ),
            () => model.call(request)
          )
      }
      const limited = (yield* RateLimit.make({ tokens: 100, window: 1000, estimate: () => 100 })).decorate(twice)
      yield* ask(limited)
      yield* ask(limited)
      // 150 are gone after the first, and the second wants 100.
      expect(times).toEqual([0, 1500])
    }).pipe(simulated)
  )

  it.effect("reserves what is estimated for those that are under way at once", () =>
    Effect.gen(function* () {
      const { model, times } = noting()
      const limit = yield* RateLimit.make({ tokens: 100, window: 1000, estimate: () => 60 })
      const limited = limit.decorate(model)
      yield* Effect.all([ask(limited), ask(limited), ask(limited)], { concurrency: "unbounded" })
      expect(times).toEqual([0, 200, 800])
    }).pipe(simulated)
  )

  it.effect("refuses at once who would have to wait too long, and says for how long", () =>
    Effect.gen(function* () {
      const { counts, model } = failing()
      const limited = (yield* RateLimit.make({ requests: 1, window: "10 seconds", maxWait: "15 seconds" })).decorate(
        model
      )
      yield* ask(limited)
      const waiting = yield* Effect.fork(ask(limited))
      yield* Effect.yieldNow()
      const error = yield* Effect.flip(ask(limited))
      expect([error.reason, error.retryAfter]).toEqual(["RateLimited", 20_000])
      expect(error.message).toBe("The rate limit of this program lets no call through before 20s.")
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(waiting)
      expect(counts.begun).toBe(2)
    })
  )

  it.effect("gives the place of one that is interrupted while it waits to those who come then", () =>
    Effect.gen(function* () {
      const { counts, model } = failing()
      const limit = yield* RateLimit.make({ requests: 1, window: "10 seconds", estimate: () => 7, tokens: 100 })
      const limited = limit.decorate(model)
      yield* ask(limited)
      const waiting = yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.fork(ask(limited)))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interruptAll(waiting)
      const next = yield* Effect.fork(ask(limited))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(next)
      expect(counts.begun).toBe(2)
    })
  )

  it.effect("is not upset by estimates and usages that are no numbers", () =>
    Effect.gen(function* () {
      for (const odd of [Number.NaN, Infinity, -Infinity, -5]) {
        const { model, times } = noting(odd)
        const limit = yield* RateLimit.make({ tokens: 100, window: 1000, estimate: () => odd })
        for (let i = 0; i < 3; i++) yield* ask(limit.decorate(model))
        expect(times).toHaveLength(3)
      }
    })
  )

  it("refuses options that make no sense", () => {
    expect(() => RateLimit.make({ requests: 0 })).toThrow("requests is a whole number from 1 up")
    expect(() => RateLimit.make({ tokens: 1.5 })).toThrow("tokens is a whole number from 1 up")
    expect(() => RateLimit.make({ window: 0 })).toThrow("window is more than 0")
  })
})
