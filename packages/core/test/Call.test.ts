import { describe, expect, it } from "@effect/vitest"
import { Agent, AgentEvent, Call, ChatModel, Errors, Handler, Message, Tool } from "@heddle/core"
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { Cause, Deferred, Effect, Exit, FastCheck, Fiber, Schedule, Stream, TestClock } from "effect"
import { echo, Oops, readAll } from "./support.ts"

/** The parts of these calls are texts, and the value is the text that they make. */
const joined: Call.Fold<string, string> = {
  make: () => {
    let text = ""
    return {
      add: (part) => {
        text += part
      },
      reset: () => {
        text = ""
      },
      value: () => text
    }
  },
  whole: (text) => [text]
}

const run = <E, R>(call: Call.Call<string, string, E, R>) => Call.run(call, joined)
const collect = <E, R>(call: Call.Call<string, string, E, R>) => Call.collect(call, joined)
const abc = Call.fromIterable(["a", "b", "c"])
const oops = new Oops({ from: "call" })
const { Reset } = Call

/** Emits the parts of one attempt after the other; all but the last attempt fail. */
const attempts = (...each: ReadonlyArray<ReadonlyArray<string>>) => {
  let n = 0
  return Call.make<string, Oops>((emit) =>
    Effect.gen(function* () {
      const now = n++
      for (const part of each[now] ?? []) yield* emit(part)
      if (now < each.length - 1) return yield* oops
    })
  )
}

/** A call that emits parts, a reset, and parts again. */
const afterReset = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) =>
  Call.retry(attempts(before, after), { times: 1 })

describe("constructors", () => {
  it.effect("each gives its value and its parts, run or collected", () =>
    Effect.gen(function* () {
      const calls: ReadonlyArray<readonly [Call.Call<string, string>, ReadonlyArray<string>]> = [
        [abc, ["a", "b", "c"]],
        [Call.fromIterable(new Set(["a", "b"])), ["a", "b"]],
        [Call.fromIterable([]), []],
        [Call.fromStream(Stream.make("a", "b")), ["a", "b"]],
        [Call.succeed("whole"), ["whole"]],
        [Call.fromEffect(Effect.succeed("late")), ["late"]],
        [Call.make((emit) => Effect.zipRight(emit("x"), emit("y"))), ["x", "y"]],
        [Call.unwrap(Effect.succeed(abc)), ["a", "b", "c"]],
        [Call.fromSink((sink) => Effect.andThen(Effect.void, () => sink.whole("sunk") ?? Effect.void)), ["sunk"]]
      ]
      for (const [call, parts] of calls) {
        expect(yield* run(call)).toBe(parts.join(""))
        expect(yield* collect(call)).toEqual({ value: parts.join(""), parts })
        expect((yield* readAll(Call.stream(call, joined))).elements).toEqual(parts)
        expect(Call.isCall(call)).toBe(true)
      }
      expect(Call.isCall(Effect.void)).toBe(false)
    })
  )

  it.effect("failures keep their identity, run or streamed", () =>
    Effect.gen(function* () {
      const defect = new Error("defect")
      for (const call of [
        Call.fail(oops),
        Call.fromEffect(Effect.fail(oops)),
        Call.unwrap(Effect.fail(oops)),
        Call.fromStream(Stream.fail(oops))
      ]) {
        expect(yield* Effect.flip(run(call))).toBe(oops)
        const { exit } = yield* readAll(Call.stream(call, joined))
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(oops)
      }
      const died = yield* Effect.exit(run(Call.die(defect)))
      expect(Exit.isFailure(died) && Cause.squash(died.cause)).toBe(defect)
    })
  )

  it.effect("a call can be run again and again", () =>
    Effect.gen(function* () {
      const call = Call.fromIterable(["a"]).pipe(Call.map((part) => part + part))
      expect([yield* run(call), yield* run(call)]).toEqual(["aa", "aa"])
    })
  )
})

describe("map, tap", () => {
  it.effect("map changes the parts and so the value, whole values too", () =>
    Effect.gen(function* () {
      expect(yield* run(Call.map(abc, (part) => part.toUpperCase()))).toBe("ABC")
      expect(yield* run(Call.succeed("abc").pipe(Call.map((part: string) => part.toUpperCase())))).toBe("ABC")
    })
  )

  it.effect("tap looks at each part and waits for an Effect before the part goes on", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const call = abc.pipe(
        Call.tap((part) => {
          log.push(`sync ${part}`)
        }),
        Call.tap((part) =>
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => void log.push(`effect ${part}`))
          )
        ),
        Call.tap((part) => {
          log.push(`out ${part}`)
        })
      )
      expect(yield* run(call)).toBe("abc")
      expect(log).toEqual("abc".split("").flatMap((part) => [`sync ${part}`, `effect ${part}`, `out ${part}`]))
    })
  )

  it.effect("a function that throws is a defect of the call, not of the process", () =>
    Effect.gen(function* () {
      const thrown = new Error("thrown")
      const exit = yield* Effect.exit(
        run(
          Call.map(abc, () => {
            throw thrown
          })
        )
      )
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBe(thrown)
    })
  )
})

/** Replaces a word wherever the cuts are. */
const redact = (word: string) => (): Call.Transducer<string> => {
  let held = ""
  return {
    push: (part) => {
      held = (held + part).replaceAll(word, "***")
      const keep = Math.min(held.length, word.length - 1)
      const out = held.slice(0, held.length - keep)
      held = held.slice(held.length - keep)
      return out === "" ? [] : [out]
    },
    flush: () => (held === "" ? [] : [held])
  }
}

describe("transform", () => {
  it.effect.prop("sees across the borders of parts, and flushes what it holds", [FastCheck.nat(9999)], ([seed]) =>
    Effect.gen(function* () {
      const call = Call.fromIterable(ScriptedModel.pieces("my secret is a secret", { seed }))
      expect(yield* run(Call.transform(call, redact("secret")))).toBe("my *** is a ***")
    })
  )

  it.effect("begins afresh after a reset", () =>
    Effect.gen(function* () {
      const call = Call.transform(afterReset(["a sec"], ["ret, no ", "secret"]), redact("secret"))
      expect((yield* collect(call)).value).toBe("ret, no ***")
    })
  )

  it.effect("may send several parts for one, and none", () =>
    Effect.gen(function* () {
      const call = Call.transform(abc, () => ({
        push: (part) => (part === "b" ? [] : [part, part]),
        flush: () => ["!", "!"]
      }))
      expect((yield* collect(call)).parts).toEqual(["a", "a", "c", "c", "!", "!"])
    })
  )
})

describe("gate", () => {
  it.effect("lets the parts go when the judge gives the value back", () =>
    Effect.gen(function* () {
      expect(yield* collect(Call.gate(abc as Call.Call<string, string>, (value) => value))).toEqual({
        value: "abc",
        parts: ["a", "b", "c"]
      })
    })
  )

  it.effect("puts another value in the place of the parts", () =>
    Effect.gen(function* () {
      const judged = Call.gate(abc as Call.Call<string, string>, (value) => Effect.succeed(`not ${value}`))
      expect(yield* collect(judged)).toEqual({ value: "not abc", parts: ["not abc"] })
    })
  )

  it.effect("lets nothing out when the judge fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      for (const judge of [Effect.fail(oops), Effect.die("defect"), Effect.interrupt]) {
        const out: Array<unknown> = []
        const gated = Call.gate(abc as Call.Call<string, string>, () => judge)
        const watched = Call.tap(gated, (part) => {
          out.push(part)
        })
        expect(Exit.isFailure(yield* Effect.exit(run(watched)))).toBe(true)
        const { elements, exit } = yield* readAll(Call.stream(watched, joined))
        expect(Exit.isFailure(exit)).toBe(true)
        expect([out, elements]).toEqual([[], []])
      }
    })
  )

  it.effect("judges the last attempt only", () =>
    Effect.gen(function* () {
      const judged: Array<string> = []
      const call = Call.gate(afterReset(["x", "y"], ["z"]) as Call.Call<string, string, Oops>, (value) => {
        judged.push(value)
        return value
      })
      expect(yield* collect(call)).toEqual({ value: "z", parts: ["z"] })
      expect(judged).toEqual(["z"])
    })
  )
})

describe("tapValue, onExit", () => {
  it.effect("tapValue sees the value at the end, and what it fails with fails the call", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const call = abc as Call.Call<string, string>
      const tapped = Call.tapValue(call, (value) => void seen.push(value))
      expect(yield* collect(tapped)).toEqual({ value: "abc", parts: ["a", "b", "c"] })
      expect(yield* run(tapped)).toBe("abc")
      expect(seen).toEqual(["abc", "abc"])
      expect(yield* run(Call.tapValue(Call.succeed("whole"), (value: string) => void seen.push(value)))).toBe("whole")
      expect(seen.at(-1)).toBe("whole")
      expect(yield* Effect.flip(run(Call.tapValue(call, () => Effect.fail(oops))))).toBe(oops)
    })
  )

  it.effect("onExit sees every way out", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const watched = <E>(call: Call.Call<string, string, E>) =>
        Call.onExit(call, (cause) =>
          Effect.sync(() => {
            seen.push(
              cause === undefined
                ? "well"
                : Cause.isInterruptedOnly(cause)
                  ? "interrupted"
                  : String(Cause.squash(cause))
            )
          })
        )
      yield* run(watched(abc))
      yield* Effect.exit(run(watched(Call.fail("failed"))))
      yield* Effect.exit(run(watched(Call.die("died"))))
      const fiber = yield* Effect.fork(run(watched(Call.fromEffect(Effect.never))))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(seen).toEqual(["well", "failed", "died", "interrupted"])
    })
  )
})

describe("attempts", () => {
  it.effect("retry takes back what a failed attempt has emitted", () =>
    Effect.gen(function* () {
      const call = Call.retry(attempts(["a", "b"], ["c"], ["d"]), { times: 2 })
      expect(yield* collect(call)).toEqual({ value: "d", parts: ["a", "b", Reset, "c", Reset, "d"] })
    })
  )

  it.effect("retry takes nothing back where nothing was emitted", () =>
    Effect.gen(function* () {
      expect((yield* collect(Call.retry(attempts([], [], ["d"]), { times: 2 }))).parts).toEqual(["d"])
    })
  )

  it.effect("retry gives up with the very error", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(run(Call.retry(attempts(["a"], ["b"], ["c"]), { times: 1 })))).toBe(oops)
      const never = Call.retry(attempts(["a"], ["b"]), { while: () => false })
      expect(yield* Effect.flip(run(never))).toBe(oops)
    })
  )

  it.effect("retry keeps to its schedule", () =>
    Effect.gen(function* () {
      const call = Call.retry(attempts(["a"], ["b"]), { schedule: Schedule.spaced("1 minute") })
      const fiber = yield* Effect.fork(collect(call))
      yield* TestClock.adjust("59 seconds")
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(fiber)).parts).toEqual(["a", Reset, "b"])
    })
  )

  it.effect("each run of a retried call begins without a reset", () =>
    Effect.gen(function* () {
      const call = Call.retry(abc, { times: 1 })
      expect((yield* collect(call)).parts).toEqual(["a", "b", "c"])
      expect((yield* collect(call)).parts).toEqual(["a", "b", "c"])
    })
  )

  it.effect("orElse gives another call in the place of a failed one, and takes back what that had emitted", () =>
    Effect.gen(function* () {
      const half = attempts(["a"], [])
      expect((yield* collect(Call.orElse(half, () => Call.succeed("instead")))).parts).toEqual(["a", Reset, "instead"])
      expect((yield* collect(Call.orElse(Call.fail(oops), () => abc))).parts).toEqual(["a", "b", "c"])
      expect((yield* collect(Call.orElse(abc, () => Call.succeed("instead")))).parts).toEqual(["a", "b", "c"])
      const other = new Oops({ from: "other" })
      expect(yield* Effect.flip(run(Call.orElse(Call.fail(oops), () => Call.fail(other))))).toBe(other)
    })
  )

  it.effect("around runs the call inside an operator", () =>
    Effect.gen(function* () {
      const slow = Call.fromEffect(Effect.delay(Effect.succeed("late"), "1 minute"))
      const fiber = yield* Effect.fork(Effect.flip(run(Call.around(slow, Effect.timeout("10 seconds")))))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(fiber)).toBeInstanceOf(Cause.TimeoutException)
      expect(yield* run(Call.around(abc, Effect.timeout("10 seconds")))).toBe("abc")
    })
  )

  it.effect("an operator that runs the call again emits a reset", () =>
    Effect.gen(function* () {
      const call = Call.around(attempts(["a"], ["b"]), Effect.retry({ times: 1 }))
      expect((yield* collect(call)).parts).toEqual(["a", Reset, "b"])
      const twice = Call.around(abc, (effect) => Effect.zipRight(effect, effect))
      expect(yield* collect(twice)).toEqual({ value: "abc", parts: ["a", "b", "c", Reset, "a", "b", "c"] })
    })
  )
})

describe("stream", () => {
  /** A call that counts what it has produced. */
  const counting = (size: number) => {
    const count = { made: 0, left: 0 }
    const call = Call.make<number>((emit) =>
      Effect.ensuring(
        Effect.forEach(
          Array.from({ length: size }, (_, i) => i),
          (i) =>
            Effect.suspend(() => {
              count.made++
              return emit(i)
            }),
          { discard: true }
        ),
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => count.left++)
        )
      )
    )
    return { call, count }
  }
  const last: Call.Fold<number, number> = {
    make: () => {
      let value = -1
      return { add: (n) => void (value = n), reset: () => void (value = -1), value: () => value }
    },
    whole: (n) => [n]
  }

  it.effect("a slow reader holds the producer back", () =>
    Effect.gen(function* () {
      const { call, count } = counting(10_000)
      const go = yield* Deferred.make<void>()
      const read: Array<number | Call.Reset> = []
      const fiber = yield* Call.stream(call, last).pipe(
        Stream.rechunk(1),
        Stream.runForEach((n) =>
          Effect.suspend(() => {
            read.push(n)
            return n === 0 ? Deferred.await(go) : Effect.void
          })
        ),
        Effect.fork
      )
      for (let i = 0; i < 1000; i++) yield* Effect.yieldNow()
      expect(read.length).toBe(1)
      // A full buffer, what the reader has taken at once, and the part that waits.
      expect(count.made).toBeLessThanOrEqual(2 * 1024 + 2)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(fiber)
      expect(read).toEqual(Array.from({ length: 10_000 }, (_, i) => i))
    })
  )

  it.effect("ending it early interrupts the call and waits for its finalizers", () =>
    Effect.gen(function* () {
      const { call, count } = counting(10_000)
      const read = yield* Stream.runCollect(Stream.take(Call.stream(call, last), 3))
      expect(Array.from(read)).toEqual([0, 1, 2])
      expect(count.left).toBe(1)
      const { made } = count
      for (let i = 0; i < 100; i++) yield* Effect.yieldNow()
      expect(count.made).toBe(made)
    })
  )

  it.effect("can be closed while the producer waits for its reader", () =>
    Effect.gen(function* () {
      const { call, count } = counting(10_000)
      const reader = Call.stream(call, last).pipe(
        Stream.tap(() => Effect.never),
        Stream.runDrain
      )
      const fiber = yield* Effect.fork(reader)
      for (let i = 0; i < 1000; i++) yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(count.left).toBe(1)
    })
  )

  it.effect("can be closed when a finalizer emits into a full buffer", () =>
    Effect.gen(function* () {
      let left = false
      const call = Call.make<number>((emit) =>
        Effect.ensuring(
          Effect.forEach(Array.from({ length: 1000 }), () => emit(1), { discard: true }),
          Effect.zipRight(
            Effect.forEach(Array.from({ length: 1000 }), () => emit(2), { discard: true }),
            Effect.sync(() => {
              left = true
            })
          )
        )
      )
      yield* Stream.runDrain(Stream.take(Call.stream(call, last), 1))
      expect(left).toBe(true)
    })
  )

  for (const [what, body] of [
    ["goes on", Effect.never],
    ["fails", Effect.fail(new Errors.ModelError({ reason: "Network", message: "broke" }))]
  ] as const) {
    it.effect(`a run with many events that nobody reads, and that ${what}, can be closed early`, () =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const chatty = ChatModel.layer(() =>
          Call.make((emit) =>
            Effect.gen(function* () {
              for (let i = 0; i < 600; i++) yield* emit({ _tag: "Text", text: `${i} ` })
              return yield* body
            })
          )
        )
        const handlers = Handler.onExit(
          ({ exit }) => Effect.sync(() => log.push(Exit.isFailure(exit) ? "left by failure" : "left well")),
          "last word"
        )
        const stream = Agent.stream(Agent.make({ name: "a", handlers }), "go")
        const read = yield* Stream.runCollect(Stream.take(stream, 2)).pipe(Effect.provide(chatty))
        expect(Array.from(read, (event) => event._tag)).toEqual(["RunStarted", "StepStarted"])
        expect(log).toEqual(["left by failure"])
      })
    )
  }

  it.effect("an interrupted reader of a run interrupts the run", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const log: Array<string> = []
      const hanging = ChatModel.layer(() =>
        Call.fromEffect(
          Effect.onInterrupt(Effect.zipRight(Deferred.succeed(reached, undefined), Effect.never), () =>
            Effect.sync(() => log.push("stopped"))
          )
        )
      )
      const reader = Stream.runDrain(Agent.stream(Agent.make({ name: "a" }), "go"))
      const fiber = yield* Effect.fork(Effect.provide(reader, hanging))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      expect(log).toEqual(["stopped"])
    })
  )
})

describe("the fold of a whole value is the value", () => {
  const folded = <Part, A>(fold: Call.Fold<Part, A>, value: A): A => {
    const all = fold.make()
    for (const part of fold.whole(value)) all.add(part)
    return all.value()
  }

  const reply: FastCheck.Arbitrary<ChatModel.ModelReply> = FastCheck.record({
    message: Arbitraries.assistantMessage,
    finishReason: FastCheck.constantFrom("stop" as const, "tool-calls" as const, "length" as const),
    usage: FastCheck.record({ inputTokens: FastCheck.nat(), outputTokens: FastCheck.nat() })
  }).map(({ finishReason, message, usage }) => {
    // What a model replies: no outcomes yet, adjacent pieces of one kind are one, and none is empty.
    const content: Array<Message.AssistantMessage["content"][number]> = []
    for (const piece of message.content) {
      const last = content.at(-1)
      if (piece._tag === "ToolCall") content.push({ ...piece, outcome: Message.pending })
      else if (piece.text !== "" && last?._tag !== piece._tag) content.push(piece)
    }
    return { content, finishReason, usage }
  })

  it.prop("of a model's reply", [reply], ([value]) => {
    expect(folded(ChatModel.fold, value)).toEqual(value)
  })

  it.prop("of a tool's outcome", [Arbitraries.outcome], ([value]) => {
    expect(folded(Tool.fold, value)).toEqual(value)
  })

  it.prop("of a run's result", [FastCheck.anything()], ([value]) => {
    expect(folded(AgentEvent.fold<unknown>(), value)).toBe(value)
  })

  it.prop("also when it was reset before", [reply, reply, Arbitraries.outcome, Arbitraries.outcome], ([a, b, c, d]) => {
    const replies = ChatModel.fold.make()
    ChatModel.fold.whole(a).forEach(replies.add)
    replies.reset()
    ChatModel.fold.whole(b).forEach(replies.add)
    expect(replies.value()).toEqual(b)
    const outcomes = Tool.fold.make()
    Tool.fold.whole(c).forEach(outcomes.add)
    outcomes.reset()
    Tool.fold.whole(d).forEach(outcomes.add)
    expect(outcomes.value()).toEqual(d)
  })

  it("a run's result that was taken back is none", () => {
    const runs = AgentEvent.fold<string>().make()
    runs.add({ _tag: "Completed", result: "first" })
    runs.reset()
    expect(() => runs.value()).toThrow("without a Completed event")
    runs.add({ _tag: "Completed", result: "second" })
    expect(runs.value()).toBe("second")
  })

  it("a run that ends without a result is a mistake of the engine", () => {
    expect(() => AgentEvent.fold().make().value()).toThrow("without a Completed event")
  })

  it("text of a tool is its result unless it says otherwise", () => {
    const text = Tool.fold.make()
    text.add({ _tag: "Text", text: "a" })
    text.add({ _tag: "Progress", value: 1 })
    text.add({ _tag: "Text", text: "b" })
    expect(text.value()).toEqual(Message.succeeded("ab"))
  })

  it.effect("a tool's call runs alone, too", () =>
    Effect.gen(function* () {
      const request = { id: "1", name: "echo", arguments: { text: "hi" }, tool: echo, offered: ["echo"] }
      expect(yield* Tool.run(Tool.execute(request) as Tool.ToolRun)).toEqual(Message.succeeded("hi"))
    })
  )
})

describe("whole values among parts", () => {
  it.effect("several whole values fold like their parts", () =>
    Effect.gen(function* () {
      const both = Call.fromSink<string, string>((sink) =>
        Effect.sync(() => {
          sink.whole("a")
          sink.whole("b")
          sink.emit("c")
        })
      )
      expect(yield* run(both)).toBe("abc")
      expect(yield* collect(both)).toEqual({ value: "abc", parts: ["a", "b", "c"] })
    })
  )

  it.effect("a whole value after a reset stands alone", () =>
    Effect.gen(function* () {
      const call = Call.fromSink<string, string>((sink) =>
        Effect.sync(() => {
          sink.whole("a")
          sink.emit(Reset)
          sink.whole("b")
        })
      )
      expect(yield* run(call)).toBe("b")
      expect(Call.isReset(Reset)).toBe(true)
      expect(Call.isReset({ _tag: "Reset" })).toBe(true)
      expect(Call.isReset("Reset")).toBe(false)
    })
  )
})
