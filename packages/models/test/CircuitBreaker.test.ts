import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, Errors } from "@heddle/core"
import { CircuitBreaker, ModelDecorator } from "@heddle/models"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { counting, failing, request, simulated } from "./support.ts"

const down = new Errors.ModelError({ reason: "Overloaded", message: "it is too busy" })
const refused = new Errors.ModelError({ reason: "BadRequest", message: "no such thing" })
const ask = (model: ChatModel.Service) => ChatModel.run(model.call(request))

/** What a call comes to. */
type End = "well" | "down" | "refused" | "interrupted" | "died"
type Command =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "End"; readonly which: number; readonly end: End }
  | { readonly _tag: "Wait"; readonly millis: number }

/** The breaker on a page of plain code: what it lets through, and how it is. */
class Plain {
  now = 0
  failures = 0
  openUntil: number | undefined = undefined
  probing = false
  /** Calls under way, and when the circuit last changed before they began. */
  begun = new Map<number, number>()
  changes = 0
  next = 0

  begin(): number | "refused" {
    if (this.openUntil !== undefined) {
      if (this.now < this.openUntil) return "refused"
      // One that takes long does not keep out another.
      if (!this.probing) this.changes++
      this.probing = true
      this.openUntil = this.now + 1000
    }
    this.begun.set(this.next, this.changes)
    return this.next++
  }

  end(call: number, end: End): void {
    const isStale = this.begun.get(call) !== this.changes
    this.begun.delete(call)
    if (isStale) return
    const wasProbe = this.probing
    if (end === "interrupted" || end === "died" || end === "refused") {
      if (wasProbe) this.open(this.now)
    } else if (end === "down") {
      this.failures++
      if (wasProbe || this.failures >= 3) this.open(this.now + 1000)
    } else {
      this.failures = 0
      if (wasProbe) {
        this.probing = false
        this.openUntil = undefined
        this.changes++
      }
    }
  }

  open(until: number): void {
    this.openUntil = until
    this.probing = false
    this.failures = 0
    this.changes++
  }

  state(): CircuitBreaker.State {
    return this.openUntil === undefined
      ? { _tag: "Closed", failures: this.failures }
      : { _tag: this.probing ? "HalfOpen" : "Open", until: this.openUntil }
  }
}

const command: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.constant<Command>({ _tag: "Begin" }) },
  {
    weight: 4,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("End" as const),
      which: FastCheck.nat(5),
      end: FastCheck.constantFrom<Array<End>>("well", "down", "down", "refused", "interrupted", "died")
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Wait" as const),
      millis: FastCheck.constantFrom(1, 500, 1000)
    })
  }
)

describe("a circuit breaker", () => {
  it("does what a page of plain code does, whatever calls come to and in whatever order", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(command, { maxLength: 60, size: "max" }), (commands) =>
        Effect.gen(function* () {
          const plain = new Plain()
          const ends: Array<Deferred.Deferred<ChatModel.ModelReply, Errors.ModelError>> = []
          const breaker = yield* CircuitBreaker.make({ failures: 3, openFor: 1000 })
          const model = breaker.decorate({
            call: () =>
              Call.fromEffect(
                Effect.flatMap(Deferred.make<ChatModel.ModelReply, Errors.ModelError>(), (end) => {
                  ends.push(end)
                  return Deferred.await(end)
                })
              )
          })
          const running: Array<readonly [number, Fiber.RuntimeFiber<ChatModel.ModelReply, Errors.ModelError>]> = []
          for (const command of commands) {
            if (command._tag === "Wait") {
              yield* Effect.sleep(command.millis)
              plain.now += command.millis
            } else if (command._tag === "Begin") {
              const expected = plain.begin()
              const fiber = yield* Effect.fork(ask(model))
              yield* settle
              if (expected === "refused") {
                const error = yield* Effect.flip(Fiber.join(fiber))
                expect(error.reason).toBe("Overloaded")
                expect(error.retryAfter).toBe(plain.openUntil! - plain.now)
              } else {
                expect(ends).toHaveLength(expected + 1)
                running.push([expected, fiber])
              }
            } else if (running.length > 0) {
              const [[call, fiber]] = running.splice(command.which % running.length, 1) as [(typeof running)[number]]
              plain.end(call, command.end)
              const end = ends[call]!
              if (command.end === "well") yield* Deferred.succeed(end, ChatModel.replyValue("ok"))
              else if (command.end === "down") yield* Deferred.fail(end, down)
              else if (command.end === "refused") yield* Deferred.fail(end, refused)
              else if (command.end === "died") yield* Deferred.die(end, "boom")
              else yield* Fiber.interrupt(fiber)
              const exit = yield* Fiber.await(fiber)
              expect(Exit.isSuccess(exit)).toBe(command.end === "well")
            }
            expect(yield* breaker.state).toEqual(plain.state())
          }
          yield* Fiber.interruptAll(running.map(([, fiber]) => fiber))
        }).pipe(simulated, Effect.runPromise)
      ),
      { numRuns: 500 }
    ))

  const settle = Effect.repeatN(Effect.yieldNow(), 5)

  it.effect("lets retry wait for it: the refusal is one that may pass, and says when", () =>
    Effect.gen(function* () {
      const { counts, model } = failing(down, down)
      const breaker = yield* CircuitBreaker.make({ failures: 2, openFor: "10 seconds" })
      const retried = ModelDecorator.retry({ baseDelay: 1 })(breaker.decorate(model))
      const fiber = yield* Effect.fork(ask(retried))
      yield* TestClock.adjust("1 second")
      expect([counts.begun, (yield* breaker.state)._tag]).toEqual([2, "Open"])
      yield* TestClock.adjust("11 seconds")
      yield* Fiber.join(fiber)
      expect([counts.begun, yield* breaker.state]).toEqual([3, { _tag: "Closed", failures: 0 }])
    })
  )

  it.effect("is not held half open by a reader that has stopped reading, nor by a model that hangs", () =>
    Effect.gen(function* () {
      const long = Call.fromIterable<ChatModel.ModelPart>(
        Array.from({ length: 5000 }, () => ({ _tag: "Text", text: "x" }))
      )
      for (const stuck of [long, Call.make<ChatModel.ModelPart>(() => Effect.never)]) {
        const { counts, model } = counting((turn) =>
          turn === 0 ? Call.fail(down) : turn === 1 ? stuck : ChatModel.reply("ok")
        )
        const breaker = yield* CircuitBreaker.make({ failures: 1, openFor: "10 seconds" })
        const watched = breaker.decorate(model)
        yield* Effect.flip(ask(watched))
        yield* TestClock.adjust("10 seconds")
        const reader = Stream.runForEach(Call.stream(watched.call(request), ChatModel.fold), () => Effect.never)
        const reading = yield* Effect.fork(reader)
        yield* settle
        yield* TestClock.adjust("4 seconds")
        expect(yield* Effect.flip(ask(watched))).toMatchObject({ reason: "Overloaded", retryAfter: 6000 })
        yield* TestClock.adjust("6 seconds")
        yield* ask(watched)
        expect([counts.begun, yield* breaker.state]).toEqual([3, { _tag: "Closed", failures: 0 }])
        yield* Fiber.interrupt(reading)
        expect((yield* breaker.state)._tag).toBe("Closed")
      }
    })
  )

  it.effect("is closed by a call that takes longer than it was open, though others were let through meanwhile", () =>
    Effect.gen(function* () {
      const slow = Call.fromEffect(Effect.delay(Effect.succeed(ChatModel.replyValue("ok")), "25 seconds"))
      const { counts, model } = counting((turn) => (turn === 0 ? Call.fail(down) : slow))
      const breaker = yield* CircuitBreaker.make({ failures: 1, openFor: "10 seconds" })
      const watched = breaker.decorate(model)
      yield* Effect.flip(ask(watched))
      for (let i = 0; i < 2; i++) {
        yield* TestClock.adjust("10 seconds")
        yield* Effect.fork(ask(watched))
        yield* settle
      }
      expect([counts.begun, (yield* breaker.state)._tag]).toEqual([3, "HalfOpen"])
      yield* TestClock.adjust("15 seconds")
      expect([counts.running, yield* breaker.state]).toEqual([1, { _tag: "Closed", failures: 0 }])
    })
  )

  it.effect("counts what `counts` says, and is one circuit for all models that it is put around", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({ failures: 1, counts: ({ reason }) => reason === "BadRequest" })
      yield* Effect.flip(ask(breaker.decorate(failing(down).model)))
      expect((yield* breaker.state)._tag).toBe("Closed")
      yield* Effect.flip(ask(breaker.decorate(failing(refused).model)))
      const other = failing()
      const error = yield* Effect.flip(ask(breaker.decorate(other.model)))
      expect(error.message).toBe("The model is not asked, because it has failed too often, last with BadRequest.")
      // What was said in another call is nobody's business.
      expect(JSON.stringify(error) + String(error.cause)).not.toContain("no such thing")
      expect([error.retryAfter, other.counts.begun]).toEqual([30_000, 0])
    })
  )

  it.effect("is not stuck when `counts` throws", () =>
    Effect.gen(function* () {
      const { counts, model } = failing(down, down, down)
      let throws = false
      const breaker = yield* CircuitBreaker.make({
        failures: 1,
        openFor: 10,
        counts: () => {
          if (throws) throw new Error("boom")
          return true
        }
      })
      yield* Effect.exit(ask(breaker.decorate(model)))
      throws = true
      for (let i = 0; i < 2; i++) {
        yield* TestClock.adjust(10)
        expect(Exit.isFailure(yield* Effect.exit(ask(breaker.decorate(model))))).toBe(true)
      }
      yield* ask(breaker.decorate(model))
      expect([counts.begun, (yield* breaker.state)._tag]).toEqual([4, "Closed"])
    })
  )

  it("refuses options that make no sense", () => {
    expect(() => CircuitBreaker.make({ failures: 0 })).toThrow("failures is a whole number from 1 up")
    expect(() => CircuitBreaker.make({ openFor: 0 })).toThrow("openFor is more than 0")
  })
})
