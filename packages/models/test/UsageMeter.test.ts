import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, Errors, Tenant } from "@heddle/core"
import { ModelDecorator, UsageMeter } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { collect, request, simulated } from "./support.ts"

const usage = { inputTokens: 3, outputTokens: 4 }
const error = new Errors.ModelError({ reason: "Network", message: "gone" })
const none = { calls: 0, failed: 0, interrupted: 0, inputTokens: 0, outputTokens: 0 }
const ofAgent = { tenant: "default", purpose: "agent", model: undefined }

describe("a usage meter", () => {
  it.effect("counts by tenant, purpose and model, the same for a value and for its parts", () =>
    Effect.gen(function* () {
      const meter = yield* UsageMeter.make
      const model = meter.decorate({ call: () => ChatModel.reply("ok", usage) })
      yield* ChatModel.run(model.call(request))
      yield* collect(model.call(request))
      yield* ChatModel.run(model.call({ ...request, purpose: "summary" })).pipe(Tenant.within("acme"))
      yield* ChatModel.run(model.call({ ...request, options: { model: "fast" } }))
      expect(yield* meter.read).toEqual([
        { ...none, ...ofAgent, calls: 2, inputTokens: 6, outputTokens: 8 },
        { ...none, ...usage, tenant: "acme", purpose: "summary", model: undefined, calls: 1 },
        { ...none, ...usage, ...ofAgent, model: "fast", calls: 1 }
      ])
    })
  )

  it.effect("counts calls when they end, and those that fail, die or are interrupted", () =>
    Effect.gen(function* () {
      const meter = yield* UsageMeter.make
      const asked = (call: ChatModel.ModelCall) => ChatModel.run(meter.decorate({ call: () => call }).call(request))
      const hanging = yield* Effect.fork(asked(Call.make(() => Effect.never)))
      yield* Effect.yieldNow()
      expect(yield* meter.drain).toEqual([])
      yield* Fiber.interrupt(hanging)
      yield* Effect.exit(asked(Call.fail(error)))
      yield* Effect.exit(asked(Call.die("boom")))
      const throwing = (): ChatModel.ModelCall => {
        throw new Error("boom")
      }
      yield* Effect.exit(Effect.suspend(() => ChatModel.run(meter.decorate({ call: throwing }).call(request))))
      expect(yield* meter.read).toEqual([{ ...none, ...ofAgent, calls: 4, failed: 3, interrupted: 1 }])
    })
  )

  it.effect("counts the tokens of a reply that was taken back, for it was paid for", () =>
    Effect.gen(function* () {
      const meter = yield* UsageMeter.make
      const paidInVain = Call.make<ChatModel.ModelPart, Errors.ModelError>((emit) =>
        Effect.zipRight(emit({ _tag: "Finish", reason: "stop", usage }), error)
      )
      let turn = 0
      const model: ChatModel.Service = { call: () => (turn++ === 0 ? paidInVain : ChatModel.reply("ok", usage)) }
      const again = ModelDecorator.fallback(model)(model)
      yield* ChatModel.run(meter.decorate(again).call(request))
      expect(yield* meter.read).toEqual([{ ...none, ...ofAgent, calls: 1, inputTokens: 6, outputTokens: 8 }])
    })
  )

  it("loses nothing and counts nothing twice when it is emptied while calls run", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.tuple(FastCheck.nat(50), FastCheck.nat(50)), { maxLength: 20 }),
        FastCheck.array(FastCheck.nat(20), { maxLength: 6 }),
        (calls, drains) =>
          Effect.gen(function* () {
            const meter = yield* UsageMeter.make
            const scripted = yield* ScriptedModel.make(() => ({ text: "ok", usage, delay: 30 }))
            const model = meter.decorate(scripted.service)
            const fibers = yield* Effect.forEach(calls, ([begin, patience]) =>
              ChatModel.run(model.call(request)).pipe(Effect.timeoutOption(patience), Effect.delay(begin), Effect.fork)
            )
            const drained: Array<UsageMeter.Usage> = []
            for (const gap of drains) {
              yield* Effect.sleep(gap)
              drained.push(...(yield* meter.drain))
            }
            const ended = yield* Effect.forEach(fibers, Fiber.join)
            drained.push(...(yield* meter.drain))
            expect(yield* meter.read).toEqual([])
            for (const { calls, failed, interrupted } of drained)
              expect(calls).toBeGreaterThanOrEqual(failed + interrupted)
            const sum = (key: "calls" | "interrupted" | "failed" | "inputTokens") =>
              drained.reduce((n, usage) => n + usage[key], 0)
            const well = ended.filter((reply) => reply._tag === "Some").length
            // Who has no patience at all may be gone before the call has begun.
            expect(sum("calls") - sum("interrupted")).toBe(well)
            expect([sum("failed"), sum("inputTokens")]).toEqual([0, well * usage.inputTokens])
          }).pipe(simulated, Effect.runPromise)
      ),
      { numRuns: 100 }
    ))

  it.effect("is a service of the program that others read", () =>
    Effect.gen(function* () {
      const model = yield* ChatModel.ChatModel
      yield* ChatModel.run(model.call(request))
      const meter = yield* UsageMeter.UsageMeter
      expect((yield* meter.read).map(({ calls }) => calls)).toEqual([1])
    }).pipe(
      Effect.provide(
        ChatModel.layer(() => ChatModel.reply("ok")).pipe(
          ModelDecorator.decorate(UsageMeter.metered),
          Layer.provideMerge(UsageMeter.layer)
        )
      )
    )
  )
})
