import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { Agent, Errors, Message } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Node, Workflow, WorkflowErrors } from "@heddle/workflow"
import { Cause, Data, Deferred, Effect, Exit, Fiber, Option, Schedule, TestClock } from "effect"

class Broken extends Data.TaggedError("Broken")<{ readonly at: string }> {}

/** Runs a node by itself. */
const run = <In, Out, E, R>(node: Node.Node<In, Out, E, R>, input: In) =>
  Effect.map(
    Workflow.run(Workflow.make({ name: "test", node }) as Workflow.Workflow<In, Out, E>, input),
    (result) => result.output
  )

const add = (name: string, n: number) => Node.step(name, (value: number) => value + n)
const fails = (at: string) => Node.step(at, (_input: unknown) => new Broken({ at }))
const hangs = (name: string, left: Array<string>) =>
  Node.step(name, (_input: unknown) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => left.push(name))))

describe("a step", () => {
  it.effect("gives the value of its function, or what its Effect gives", () =>
    Effect.gen(function* () {
      expect(yield* run(add("a", 1), 1)).toBe(2)
      expect(
        yield* run(
          Node.step("a", (n: number) => Effect.succeed(n + 1)),
          1
        )
      ).toBe(2)
      expect(
        yield* run(
          Node.step("a", () => undefined),
          1
        )
      ).toBe(undefined)
    })
  )

  it.effect("gives what looks like an exit or an option inside of an Effect as it is", () =>
    Effect.gen(function* () {
      const values = [Option.some(1), Option.none(), Exit.succeed(1), Exit.fail("no"), Effect.succeed(1)]
      for (const value of values) {
        const node = Node.step("a", () => Effect.succeed(value)).pipe(
          Node.andThen(Node.step("b", (v) => Effect.succeed(v)))
        )
        expect(yield* run(node, 0)).toBe(value)
      }
    })
  )

  it.effect("keeps the identity of an error, and dies with what it throws", () =>
    Effect.gen(function* () {
      const error = new Broken({ at: "here" })
      expect(
        yield* Effect.flip(
          run(
            Node.step("a", () => Effect.fail(error)),
            0
          )
        )
      ).toBe(error)
      const defect = new Error("thrown")
      const throwing = Node.step("a", () => {
        throw defect
      })
      expect(yield* Effect.exit(run(throwing, 0))).toEqual(Exit.die(defect))
    })
  )

  it.effect("refuses a promise, which would not be waited for", () =>
    Effect.gen(function* () {
      const promises: ReadonlyArray<() => PromiseLike<number>> = [
        () => Promise.resolve(1),
        () => Promise.reject(new Error("nobody waits for this")),
        // oxlint-disable-next-line unicorn/no-thenable -- what is waited for elsewhere
        () => ({ then: () => Promise.resolve() as never })
      ]
      for (const promise of promises) {
        for (const node of [Node.step("a", promise), fails("a").pipe(Node.orElse(promise))]) {
          const exit = yield* Effect.exit(run(node as Node.Node<number, unknown, unknown>, 0))
          expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("returned a promise")
        }
      }
    })
  )

  it.effect("that is an agent gives the agent's output, asked what `prompt` says, run as `run` says", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["hello"])
      const node = Node.agent("a", Agent.make({ name: "writer" }), {
        prompt: (n: number) => `Write ${n} words.`,
        run: { model: { temperature: 0.5 } }
      })
      expect(yield* Effect.provide(Workflow.run(Workflow.make({ name: "w", node }), 3), model.layer)).toMatchObject({
        output: "hello"
      })
      const [request] = yield* model.requests
      expect(request).toMatchObject({
        options: { temperature: 0.5 },
        history: [{ role: "user", content: [{ text: "Write 3 words." }] }]
      })
    })
  )

  it.effect("that is an agent gives what `result` makes of its result and the input", () =>
    Effect.gen(function* () {
      const node = Node.agent("a", Agent.make({ name: "writer" }), {
        prompt: (n: number) => `${n}`,
        result: ({ output, steps }, n) => (n < 0 ? new Broken({ at: "result" }) : Effect.succeed({ output, steps, n }))
      })
      const run = (n: number) =>
        Effect.provide(
          Workflow.run(Workflow.make({ name: "w", node }), n),
          ScriptedModel.layer(() => "hello")
        )
      expect((yield* run(3)).output).toEqual({ output: "hello", steps: 1, n: 3 })
      expect(yield* Effect.flip(run(-3))).toEqual(new Broken({ at: "result" }))
    })
  )

  it.effect("that is an agent may find out in an Effect what it asks, and fail with what that fails with", () =>
    Effect.gen(function* () {
      const asks = Node.agent("ask", Agent.make({ name: "a" }), {
        prompt: (n: number) => (n > 0 ? Effect.succeed(`Write ${n} words.`) : Effect.fail("none" as const))
      })
      expectTypeOf<Extract<Node.Error<typeof asks>, string>>().toEqualTypeOf<"none">()
      expectTypeOf<Node.Output<typeof asks>>().toEqualTypeOf<string>()
      const workflow = Workflow.make({ name: "w", node: asks })
      expect((yield* Workflow.run(workflow, 3)).output).toBe("Write 3 words.")
      expect(yield* Effect.flip(Workflow.run(workflow, 0))).toBe("none")
    }).pipe(Effect.provide(ScriptedModel.layer(({ history }) => Message.text(history.at(-1)!))))
  )

  it.effect("whose prompt throws dies with it", () =>
    Effect.gen(function* () {
      const node = Node.agent("a", Agent.make({ name: "writer" }), {
        prompt: (_input: number): string => {
          throw new Error("no prompt")
        }
      })
      const running = Workflow.run(Workflow.make({ name: "w", node }), 3)
      const exit = yield* Effect.exit(Effect.provide(running, ScriptedModel.layer([])))
      expect(exit).toEqual(Exit.die(new Error("no prompt")))
    })
  )
})

describe("a sequence", () => {
  it.effect("gives each node what the one before gave", () =>
    Effect.gen(function* () {
      expect(
        yield* run(
          Node.sequence(
            add("a", 1),
            Node.step("b", String),
            Node.step("c", (s: string) => `${s}!`)
          ),
          1
        )
      ).toBe("2!")
      expect(yield* run(add("a", 1).pipe(Node.andThen(add("b", 2)), Node.withName("both")), 1)).toBe(4)
    })
  )

  it.effect("ends at the first failure", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const node = Node.sequence(
        fails("a"),
        Node.step("b", () => seen.push(1))
      )
      expect(yield* Effect.flip(run(node, 0))).toEqual(new Broken({ at: "a" }))
      expect(seen).toEqual([])
    })
  )

  it.effect("of a thousand steps is run", () =>
    Effect.gen(function* () {
      const steps = Array.from({ length: 1000 }, (_, i) => add(`s${i}`, 1))
      expect(
        yield* run(
          steps.reduce((all, step) => Node.andThen(all, step)),
          0
        )
      ).toBe(1000)
    })
  )
})

describe("a condition", () => {
  const sign = Node.condition("sign", {
    if: (n: number) => n >= 0,
    onTrue: Node.step("plus", (n: number) => `+${n}`),
    onFalse: Node.step("minus", (n: number) => `-${-n}`)
  })
  it.effect("runs one or the other", () =>
    Effect.gen(function* () {
      expect(yield* run(sign, 2)).toBe("+2")
      expect(yield* run(sign, -2)).toBe("-2")
    })
  )
  it.effect("passes its input on without an `onFalse`, and may ask in an Effect", () =>
    Effect.gen(function* () {
      const node = Node.condition("c", { if: (n: number) => Effect.succeed(n > 1), onTrue: add("a", 10) })
      expect(yield* run(node, 1)).toBe(1)
      expect(yield* run(node, 2)).toBe(12)
    })
  )
  it.effect("fails as its question does", () =>
    Effect.gen(function* () {
      const node = Node.condition("c", { if: () => new Broken({ at: "if" }), onTrue: add("a", 10) })
      expect(yield* Effect.flip(run(node, 1))).toEqual(new Broken({ at: "if" }))
    })
  )
})

describe("a loop", () => {
  const body = add("body", 1)
  it.effect("goes round while a thing holds, not at all if it does not", () =>
    Effect.gen(function* () {
      const node = Node.loop("l", body, { while: (n) => n < 5, max: 10, onMax: "fail" })
      expect(yield* run(node, 0)).toBe(5)
      expect(yield* run(node, 7)).toBe(7)
    })
  )
  it.effect("goes round until a thing holds, once at least", () =>
    Effect.gen(function* () {
      const node = Node.loop("l", body, { until: (n) => Effect.succeed(n >= 5), max: 10, onMax: "fail" })
      expect(yield* run(node, 0)).toBe(5)
      expect(yield* run(node, 7)).toBe(8)
    })
  )
  it.effect("tells its questions how many rounds are done", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [string, number, number]> = []
      const ask = (what: string, holds: boolean) => (value: number, rounds: number) => {
        asked.push([what, value, rounds])
        return holds
      }
      yield* run(
        Node.loop("l", body, { while: ask("while", true), until: ask("until", false), max: 2, onMax: "stop" }),
        0
      )
      expect(asked).toEqual([
        ["while", 0, 0],
        ["until", 1, 1],
        ["while", 1, 1],
        ["until", 2, 2],
        ["while", 2, 2]
      ])
    })
  )
  it.effect("at its maximum fails with what it has, or stops with it, as chosen", () =>
    Effect.gen(function* () {
      const forever = { while: () => true, max: 3 }
      const error = yield* Effect.flip(run(Node.loop("l", body, { ...forever, onMax: "fail" }), 0))
      expect(error).toMatchObject({ _tag: "LoopLimitReached", node: "l", max: 3, value: 3 })
      expect(error.message).toBe('Loop "l" did not end within 3 rounds.')
      expect(yield* run(Node.loop("l", body, { ...forever, onMax: "stop" }), 0)).toBe(3)
      expect(yield* run(Node.loop("l", body, { max: 3, onMax: "stop" }), 0)).toBe(3)
    })
  )
  it.effect("that ends by itself in its last round does not fail", () =>
    Effect.gen(function* () {
      expect(yield* run(Node.loop("l", body, { while: (n) => n < 3, max: 3, onMax: "fail" }), 0)).toBe(3)
      expect(yield* run(Node.loop("l", body, { until: (n) => n === 3, max: 3, onMax: "fail" }), 0)).toBe(3)
    })
  )
  it.effect("of many rounds does not fill the stack", () =>
    Effect.gen(function* () {
      const node = Node.loop("l", body, { while: (n) => n < 9_000, max: 10_000, onMax: "fail" })
      expect(yield* run(node, 0)).toBe(9_000)
    })
  )
})

describe("a parallel node", () => {
  const late = (name: string, millis: number, failing = false) =>
    Node.step(name, (n: number) =>
      Effect.delay(failing ? new Broken({ at: name }) : Effect.succeed(`${name}${n}`), millis)
    )

  it.effect("gives each branch the input, and the results by name, whichever came first", () =>
    Effect.gen(function* () {
      const node = Node.parallel("p", {
        slow: late("slow", 100),
        quick: late("quick", 1),
        ["__proto__"]: late("proto", 50)
      })
      const fiber = yield* Effect.fork(run(node, 1))
      yield* TestClock.adjust(100)
      const result = yield* Fiber.join(fiber)
      expect(Object.entries(result)).toEqual([
        ["slow", "slow1"],
        ["quick", "quick1"],
        ["__proto__", "proto1"]
      ])
    })
  )

  it.effect("fails with the first failure, once the other branches are interrupted", () =>
    Effect.gen(function* () {
      const left: Array<string> = []
      const node = Node.parallel("p", { a: hangs("a", left), b: late("b", 5, true), c: hangs("c", left) })
      const fiber = yield* Effect.fork(Effect.flip(run(node, 0)))
      yield* TestClock.adjust(5)
      expect(yield* Fiber.join(fiber)).toEqual(new Broken({ at: "b" }))
      expect(left.toSorted()).toEqual(["a", "c"])
    })
  )

  it.effect("that settles keeps how each branch ended", () =>
    Effect.gen(function* () {
      const dies = Node.step("d", (): string => {
        throw new Error("thrown")
      })
      const node = Node.parallel("p", { a: late("a", 0), b: late("b", 0, true), d: dies }, { settlement: "settle" })
      const fiber = yield* Effect.fork(run(node, 1))
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(fiber)).toEqual({
        a: Exit.succeed("a1"),
        b: Exit.fail(new Broken({ at: "b" })),
        d: Exit.die(new Error("thrown"))
      })
    })
  )

  it.effect("that needs so many successes gives those that there are", () =>
    Effect.gen(function* () {
      const branches = { a: late("a", 0), b: late("b", 0, true), c: late("c", 3) }
      const fiber = yield* Effect.fork(run(Node.parallel("p", branches, { settlement: { atLeast: 2 } }), 1))
      yield* TestClock.adjust(3)
      expect(yield* Fiber.join(fiber)).toEqual({ a: "a1", c: "c1" })
    })
  )

  it.effect("that cannot have so many any more fails at once, with all failures in the order of the branches", () =>
    Effect.gen(function* () {
      const left: Array<string> = []
      const branches = { a: late("a", 9, true), b: late("b", 1, true), c: hangs("c", left) }
      const fiber = yield* Effect.fork(
        Effect.flip(run(Node.parallel("p", branches, { settlement: { atLeast: 2 } }), 1))
      )
      yield* TestClock.adjust(9)
      const error = yield* Fiber.join(fiber)
      expect(error).toMatchObject({
        _tag: "TooFewSucceeded",
        node: "p",
        needed: 2,
        branches: 3,
        failures: [
          { branch: "a", error: new Broken({ at: "a" }) },
          { branch: "b", error: new Broken({ at: "b" }) }
        ]
      })
      expect(error.message).toBe('Of the 3 branches of "p", 2 had to succeed; failed: a, b.')
      expect(left).toEqual(["c"])
    })
  )

  it.effect("that needs so many successes dies when a branch dies", () =>
    Effect.gen(function* () {
      const dies = Node.step("d", (): string => {
        throw new Error("thrown")
      })
      const exit = yield* Effect.exit(run(Node.parallel("p", { d: dies }, { settlement: { atLeast: 0 } }), 1))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toEqual(new Error("thrown"))
    })
  )

  it.effect("runs so many branches at a time as it may", () =>
    Effect.gen(function* () {
      let now = 0
      let most = 0
      const busy = Node.step("busy", (n: number) =>
        Effect.gen(function* () {
          most = Math.max(most, ++now)
          yield* Effect.sleep(1)
          now--
          return n
        })
      )
      const node = Node.each("e", busy, { concurrency: 3 })
      const fiber = yield* Effect.fork(
        run(
          node,
          Array.from({ length: 10 }, (_, i) => i)
        )
      )
      yield* TestClock.adjust(10)
      expect(yield* Fiber.join(fiber)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(most).toBe(3)
    })
  )
})

describe("a node over an array", () => {
  const half = Node.step("half", (n: number) => (n % 2 === 0 ? Effect.succeed(n / 2) : new Broken({ at: String(n) })))
  it.effect("gives a result for each element, in their order", () =>
    Effect.gen(function* () {
      expect(yield* run(Node.each("e", half), [2, 4, 6])).toEqual([1, 2, 3])
      expect(yield* run(Node.each("e", half), [])).toEqual([])
      const holes: Array<number | undefined> = [2]
      holes[2] = 6
      const known = Node.step("known", (n: number | undefined) => n ?? 0)
      expect(yield* run(Node.each("e", known), holes)).toEqual([2, 0, 6])
    })
  )
  it.effect("fails fast, settles, or counts successes", () =>
    Effect.gen(function* () {
      const odd = new Broken({ at: "3" })
      expect(yield* Effect.flip(run(Node.each("e", half), [2, 3]))).toEqual(odd)
      expect(yield* run(Node.each("e", half, { settlement: "settle" }), [2, 3])).toEqual([
        Exit.succeed(1),
        Exit.fail(odd)
      ])
      const two = Node.each("e", half, { settlement: { atLeast: 2 } })
      expect(yield* run(two, [2, 3, 4])).toEqual([Option.some(1), Option.none(), Option.some(2)])
      expect(yield* Effect.flip(run(two, [2, 3]))).toMatchObject({ failures: [{ branch: "1", error: odd }] })
      expect(yield* Effect.flip(run(two, [2]))).toMatchObject({ _tag: "TooFewSucceeded", branches: 1, failures: [] })
    })
  )
})

describe("a router", () => {
  const routes = { up: add("up", 1), ["__proto__"]: add("proto", 100) }
  const router = (choose: (n: number) => string) => Node.router("r", { choose, routes })
  it.effect("runs the route that was chosen, whatever its name", () =>
    Effect.gen(function* () {
      expect(
        yield* run(
          router(() => "up"),
          1
        )
      ).toBe(2)
      expect(
        yield* run(
          router(() => "__proto__"),
          1
        )
      ).toBe(101)
    })
  )
  it.effect("fails with UnknownRoute for a choice that it does not have", () =>
    Effect.gen(function* () {
      for (const choice of ["down", "constructor", ""]) {
        const error = yield* Effect.flip(
          run(
            router(() => choice),
            1
          )
        )
        expect(error).toEqual(new WorkflowErrors.UnknownRoute({ node: "r", choice, routes: ["up", "__proto__"] }))
        expect(error.message).toContain(`no route ${JSON.stringify(choice)}, only up, __proto__`)
      }
    })
  )
})

describe("retry", () => {
  const flaky = (succeedsAt: number) => {
    const tried = { times: 0 }
    const node = Node.step("flaky", (n: number) =>
      ++tried.times >= succeedsAt ? Effect.succeed(n) : new Broken({ at: String(tried.times) })
    )
    return { node, tried }
  }
  it.effect("runs a node again, so many times more at the most", () =>
    Effect.gen(function* () {
      expect(yield* run(Node.retry(flaky(3).node, { times: 2 }), 7)).toBe(7)
      const { node, tried } = flaky(9)
      expect(yield* Effect.flip(run(Node.retry(node, { times: 2 }), 7))).toEqual(new Broken({ at: "3" }))
      expect(tried.times).toBe(3)
    })
  )
  it.effect("only while the predicate holds", () =>
    Effect.gen(function* () {
      const { node, tried } = flaky(9)
      yield* Effect.flip(run(Node.retry(node, { times: 5, while: (error) => error.at !== "2" }), 7))
      expect(tried.times).toBe(2)
    })
  )
  it.effect("when its schedule says, never more often", () =>
    Effect.gen(function* () {
      const { node, tried } = flaky(9)
      const spaced = Node.retry(node, { schedule: Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(3)) })
      const fiber = yield* Effect.fork(Effect.flip(run(spaced, 7)))
      for (let i = 1; i <= 4; i++) {
        yield* Effect.yieldNow()
        expect(tried.times).toBe(i)
        yield* TestClock.adjust("1 second")
      }
      yield* Fiber.join(fiber)
      expect(tried.times).toBe(4)
    })
  )
})

describe("timeout", () => {
  it.effect("interrupts the node and fails", () =>
    Effect.gen(function* () {
      const left: Array<string> = []
      const fiber = yield* Effect.fork(Effect.flip(run(Node.timeout(hangs("slow", left), "2 seconds"), 0)))
      yield* TestClock.adjust("2 seconds")
      const error = yield* Fiber.join(fiber)
      expect(error).toEqual(new WorkflowErrors.NodeTimeout({ node: "slow", after: 2000 }))
      expect(error.message).toBe('Node "slow" did not end within 2000 ms.')
      expect(left).toEqual(["slow"])
    })
  )
  it.effect("and other errors name the node as it is called in the workflow", () =>
    Effect.gen(function* () {
      const one = Node.each("one", add("a", 1), { settlement: { atLeast: 1 } })
      const nodes: ReadonlyArray<Node.Node<number, unknown, { readonly node: string }>> = [
        Node.timeout(
          Node.step("one", () => Effect.never),
          5
        ),
        Node.loop("one", add("a", 1), { while: () => true, max: 1, onMax: "fail" }),
        Node.router("one", { choose: () => "none" as string, routes: { a: add("a", 1) } }),
        Node.andThen(
          Node.step("none", () => []),
          one
        ).pipe(Node.withName("another"))
      ]
      for (const node of nodes) {
        const fiber = yield* Effect.fork(Effect.flip(run(Node.withName(node, "two"), 0)))
        yield* TestClock.adjust(5)
        expect(yield* Fiber.join(fiber)).toMatchObject({ node: node.name === "another" ? "one" : "two" })
      }
    })
  )
  it.effect("inside of retry is for each attempt, around it for all together", () =>
    Effect.gen(function* () {
      let tried = 0
      const slow = Node.step("slow", () =>
        Effect.zipRight(
          Effect.sync(() => tried++),
          Effect.never
        )
      )
      const each = slow.pipe(Node.timeout("1 second"), Node.retry({ times: 2 }))
      const first = yield* Effect.fork(Effect.flip(run(each, 0)))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(first)
      expect(tried).toBe(3)
      tried = 0
      const all = slow.pipe(Node.timeout("1 second"), Node.retry({ times: 99 }), Node.timeout("2500 millis"))
      const second = yield* Effect.fork(Effect.flip(run(all, 0)))
      yield* TestClock.adjust("3 seconds")
      expect(yield* Fiber.join(second)).toMatchObject({ after: 2500 })
      expect(tried).toBe(3)
    })
  )
})

describe("on a failure", () => {
  it.effect("skipping passes the input on", () =>
    Effect.gen(function* () {
      expect(yield* run(Node.orSkip(fails("a")), 5)).toBe(5)
      expect(yield* run(Node.orSkip(add("a", 1)), 5)).toBe(6)
    })
  )
  it.effect("a fallback gets the input, a function the error as well", () =>
    Effect.gen(function* () {
      expect(yield* run(fails("a").pipe(Node.orElse(add("b", 1))), 5)).toBe(6)
      expect(yield* run(fails("a").pipe(Node.orElse((error, input) => `${error.at} ${String(input)}`)), 5)).toBe("a 5")
      expect(yield* Effect.flip(run(fails("a").pipe(Node.orElse(fails("b"))), 5))).toEqual(new Broken({ at: "b" }))
      expect(yield* run(add("a", 1).pipe(Node.orElse(fails("b"))), 5)).toBe(6)
    })
  )
  it.effect("defects and interruptions are nobody's to catch", () =>
    Effect.gen(function* () {
      const dies = Node.step("d", (): number => {
        throw new Error("thrown")
      })
      expect(yield* Effect.exit(run(dies.pipe(Node.orSkip), 0))).toEqual(Exit.die(new Error("thrown")))
      const started = yield* Deferred.make<void>()
      const waits = Node.step("w", () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      const fiber = yield* Effect.fork(run(waits.pipe(Node.orElse(add("b", 1))), 0))
      yield* Deferred.await(started)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    })
  )
})

describe("what makes no sense is refused where it is built", () => {
  const a = add("a", 1)
  const loop = (max: number) => Node.loop("l", a, { until: () => true, max, onMax: "fail" })
  const cases: ReadonlyArray<readonly [string, () => unknown, string]> = [
    ["a step without a name", () => add("", 1), 'A step needs a name, and "" is none.'],
    ["a name of white space", () => Node.withName(a, " "), 'A node needs a name, and " " is none.'],
    ["an agent step without a name", () => Node.agent("", Agent.make({ name: "x" })), "An agent step needs a name"],
    ["a loop of no rounds", () => loop(0), 'Loop "l": max must be a whole number from 1, not 0.'],
    ["a loop of minus one rounds", () => loop(-1), "not -1"],
    ["a loop of half a round", () => loop(1.5), "not 1.5"],
    ["a loop of no number", () => loop(Number.NaN), "not NaN"],
    ["a loop that can only fail", () => Node.loop("l", a, { max: 3, onMax: "fail" }), "it always fails"],
    ["an empty parallel", () => Node.parallel("p", {}), 'Parallel "p" needs a branch at least.'],
    [
      "an empty router",
      () => Node.router("r", { choose: () => "x", routes: {} }),
      'Router "r" needs a route at least.'
    ],
    ["no branches at a time", () => Node.parallel("p", { a }, { concurrency: 0 }), "concurrency must be"],
    ["half a branch at a time", () => Node.each("e", a, { concurrency: 0.5 }), "concurrency must be"],
    ["minus one success", () => Node.parallel("p", { a }, { settlement: { atLeast: -1 } }), "atLeast must be"],
    ["half a success", () => Node.each("e", a, { settlement: { atLeast: 0.5 } }), "atLeast must be"],
    [
      "more successes than branches",
      () => Node.parallel("p", { a }, { settlement: { atLeast: 2 } }),
      'Parallel "p" has 1 branches: 2 cannot succeed.'
    ],
    ["retry without an end", () => Node.retry(a, {}), 'Retry of "a" needs "times" or a "schedule".'],
    ["retry of minus one", () => Node.retry(a, { times: -1 }), 'Retry of "a": times must be'],
    ["a timeout of nothing", () => Node.timeout(a, 0), 'The timeout of "a" must be a duration of more than 0, not 0.'],
    ["a negative timeout", () => Node.timeout(a, -5), "not -5"],
    ["a timeout that is no duration", () => Node.timeout(a, "soon" as never), "not soon"],
    ["a loop that ends in no known way", () => Node.loop("l", a, { max: 1, onMax: "halt" as "stop" }), 'not "halt"'],
    ["a settlement that is not known", () => Node.each("e", a, { settlement: "settel" as "settle" }), 'not "settel"'],
    ["a step that does nothing", () => Node.step("a", undefined as unknown as () => 1), 'Step "a" needs a function'],
    [
      "a condition that asks nothing",
      () => Node.condition("c", { onTrue: a } as unknown as { if: () => boolean; onTrue: typeof a }),
      'Condition "c" needs a function'
    ],
    ["branches in words", () => Node.each("e", a, { concurrency: "4" as "unbounded" }), "concurrency must be"],
    [
      "retry without anything",
      () => (Node.retry as (node: unknown, o: unknown) => unknown)(a, undefined),
      '"times" or a'
    ],
    [
      "a misspelt field of a layout",
      () => Node.withHistory(a, { format: { maxCharacter: 3 } as object }),
      '"maxCharacter"'
    ],
    [
      "a field of a layout of another type",
      () => Node.withHistory(a, { format: { includeInput: "no" as never } }),
      "boolean"
    ],
    ["what is no node", () => Node.sequence(a, {} as typeof a), "A node is needed"],
    ["no nodes at all", () => (Node.sequence as () => unknown)(), "A sequence needs a node at least."],
    [
      "minus one run of history",
      () => Node.withHistory(a, { runs: -1 }),
      'Node "a": runs of history must be "inherit", "all", 0 or a whole number, not -1.'
    ],
    ["half a run of history", () => Node.withHistory(a, { runs: 0.5 }), "not 0.5"],
    ["infinitely many runs", () => Node.withHistory(a, { runs: Infinity }), "not Infinity"],
    ["runs in words", () => Node.withHistory(a, { runs: "5" as "all" }), 'not "5"'],
    ["a mode that is not known", () => Node.withHistory(a, { mode: "onn" as "on" }), 'not "onn"'],
    ["a status that is not known", () => Node.withHistory(a, { statuses: ["done" as "failed"] }), 'not ["done"]'],
    [
      "a misspelt field of history",
      () => Node.withHistory(a, { run: 5 } as object),
      'history has no "run", only mode, runs, statuses, format.'
    ],
    ["a format that no text is safe in", () => Node.withHistory(a, { format: { header: "#" } }), "header"],
    ["history of no status", () => Node.withHistory(a, { statuses: [] }), "statuses of history must be"]
  ]
  for (const [what, build, message] of cases) {
    it(what, () => {
      expect(build).toThrow(Errors.DefinitionError)
      expect(build).toThrow(message)
    })
  }

  it("a sequence that something is done around is called by what is in it", () => {
    expect(Node.sequence(a, add("b", 1)).name).toBe(undefined)
    expect(Node.sequence(a, add("b", 1)).pipe(Node.retry({ times: 1 })).name).toBe("a → b")
    expect(() => Node.retry(Node.sequence(a, add("b", 1)), {})).toThrow('Retry of "a → b"')
  })

  it("isNode tells nodes and workflows from other things", () => {
    const workflow = Workflow.make({ name: "w", node: a })
    expect([a, Node.sequence(a), workflow, {}, null, "a", () => a].map(Node.isNode)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false
    ])
  })
})
