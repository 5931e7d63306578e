import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, Errors, Handler, Instructions, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { HistoryContext, HistoryStore, Node, Workflow, type WorkflowErrors, WorkflowEvent } from "@heddle/workflow"
import { Chunk, Data, Deferred, Effect, Exit, Fiber, Layer, Option, Schedule, Schema, Stream, TestClock } from "effect"
import { record, tellsHistory, watchedStore } from "./support.ts"

class Broken extends Data.TaggedError("Broken")<{ readonly at: string }> {}

const add = (name: string, n: number) => Node.step(name, (value: number) => value + n)
const fails = (at: string) => Node.step(at, (_input: number) => new Broken({ at }))

/** All events of a run, and how its stream ended. */
const events = <Out, E>(stream: Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E>) =>
  Effect.gen(function* () {
    const seen: Array<WorkflowEvent.WorkflowEvent> = []
    const exit = yield* Effect.exit(Stream.runForEach(stream, (event) => Effect.sync(() => seen.push(event))))
    return { seen, exit }
  })

/** Events as lines. */
const told = (seen: ReadonlyArray<WorkflowEvent.WorkflowEvent>) =>
  seen.map((event) => {
    const at = "path" in event ? ` ${event.path.join("/")}` : ""
    return `${event._tag}${at}${event._tag === "Chosen" ? ` ${event.choice}` : ""}`
  })

describe("a run in a session", () => {
  const workflow = Workflow.make({
    name: "w",
    node: Node.sequence(
      add("a", 1),
      Node.parallel("p", { x: add("x", 10), y: add("y", 20) }),
      Node.step("sum", ({ x, y }: { readonly x: number; readonly y: number }) => x + y)
    )
  })

  it.effect(
    "is recorded when it has ended, in one write, with the outputs of its steps in the order of the workflow",
    () =>
      Effect.gen(function* () {
        const store = watchedStore()
        yield* TestClock.adjust(5)
        const result = yield* Effect.provide(Workflow.run(workflow, 1, { sessionId: "s", runId: "r" }), store.layer)
        expect(result).toEqual({ output: 34, runId: "r", sessionId: "s" })
        expect(store.asked).toEqual(["append r"])
        expect(store.records).toEqual([
          {
            runId: "r",
            sessionId: "s",
            workflow: "w",
            status: "completed",
            input: 1,
            output: 34,
            startedAt: 5,
            endedAt: 5,
            steps: [
              { path: ["a"], status: "completed", output: 2 },
              { path: ["p", "x"], status: "completed", output: 12 },
              { path: ["p", "y"], status: "completed", output: 22 },
              { path: ["sum"], status: "completed", output: 34 }
            ]
          }
        ])
      })
  )

  it.effect("keeps a copy: what is done to input and output later does not reach the record", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const push = Node.step("push", (list: Array<number>) => {
        list.push(2)
        return list
      })
      const run = Workflow.run(Workflow.make({ name: "w", node: push }), [1], { sessionId: "s" })
      const { output } = yield* Effect.provide(run, store.layer)
      output.push(3)
      expect(store.records[0]).toMatchObject({ input: [1], output: [1, 2], steps: [{ output: [1, 2] }] })
    })
  )

  it.effect("keeps what JSON has no word for as well as it can, and loses no result for it", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const circle: { self?: unknown; text: string } = { text: "kept" }
      circle.self = circle
      const bare = Object.assign(Object.create(null) as object, { self: circle })
      const unreadable = {
        toJSON: () => {
          throw new Error("no")
        }
      }
      let deep: unknown = []
      for (let i = 0; i < 100_000; i++) deep = [deep]
      const cases: ReadonlyArray<readonly [unknown, unknown]> = [
        [undefined, undefined],
        [10n, "10"],
        [
          { id: 10n, text: "kept" },
          { id: "10", text: "kept" }
        ],
        [circle, { text: "kept", self: "[circular]" }],
        [bare, { self: { text: "kept", self: "[circular]" } }],
        [
          { a: unreadable, b: 1 },
          { a: "[unreadable]", b: 1 }
        ],
        [unreadable, "[unreadable]"],
        [Number.NaN, null],
        [new Date(0), "1970-01-01T00:00:00.000Z"],
        [
          [undefined, 1],
          [null, 1]
        ],
        [{ a: undefined }, {}],
        [new Map([["a", new Set([1])]]), [["a", [1]]]],
        [new Error("no"), { name: "Error", message: "no" }],
        [Option.some(1), { _id: "Option", _tag: "Some", value: 1 }],
        [
          [new String("a"), Object(1), Object(true)],
          ["a", 1, true]
        ],
        [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')]
      ]
      for (const [value] of [...cases, [deep] as const]) {
        const node = Node.step("a", (input: unknown) => Effect.succeed(input))
        const run = Workflow.run(Workflow.make({ name: "w", node }), value, { sessionId: "s" })
        expect((yield* Effect.provide(run, store.layer)).output).toBe(value)
      }
      expect(store.records.slice(0, -1).map((r) => r.output)).toEqual(cases.map(([, plain]) => plain))
      expect("output" in store.records[0]!).toBe(false)
      expect(JSON.stringify(store.records.at(-1)!.output)).toContain('[["[deeper]"]]')
    })
  )

  it.effect("that fails is recorded as failed, and fails with the very error", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const node = Node.sequence(add("a", 1), fails("b"), add("c", 1))
      const run = Workflow.run(Workflow.make({ name: "w", node }), 1, { sessionId: "s" })
      expect(yield* Effect.flip(Effect.provide(run, store.layer))).toEqual(new Broken({ at: "b" }))
      expect(store.records).toMatchObject([
        {
          status: "failed",
          error: '{"at":"b","_tag":"Broken"}',
          input: 1,
          steps: [
            { path: ["a"], status: "completed", output: 2 },
            { path: ["b"], status: "failed", error: '{"at":"b","_tag":"Broken"}' }
          ]
        }
      ])
      expect("output" in store.records[0]!).toBe(false)
    })
  )

  it.effect("that is interrupted is recorded as cancelled, its unfinished steps too", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const started = yield* Deferred.make<void>()
      const waits = Node.step("w", () => Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      const workflow = Workflow.make({ name: "w", node: Node.sequence(add("a", 1), waits) })
      const fiber = yield* Effect.fork(Effect.provide(Workflow.run(workflow, 1, { sessionId: "s" }), store.layer))
      yield* Deferred.await(started)
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
      expect(store.records).toMatchObject([
        {
          status: "cancelled",
          steps: [
            { path: ["a"], status: "completed" },
            { path: ["w"], status: "cancelled" }
          ]
        }
      ])
    })
  )

  it.effect("records the last attempt of a node that was retried, and what failed before a fallback", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      let tried = 0
      const flaky = Node.sequence(
        Node.step("one", (n: number) => n),
        Node.step("two", (n: number) => (++tried < 3 ? new Broken({ at: "two" }) : n))
      )
      const node = Node.sequence(Node.retry(flaky, { times: 5 }), Node.orElse(fails("no"), add("yes", 1)))
      yield* Effect.provide(Workflow.run(Workflow.make({ name: "w", node }), 1, { sessionId: "s" }), store.layer)
      expect(store.records[0]!.steps.map(({ path, status }) => `${path.join("/")} ${status}`)).toEqual([
        "one → two/one completed",
        "one → two/two completed",
        // By its fallback.
        "no completed",
        "no/yes completed"
      ])
    })
  )

  it.effect("keeps what came before a node that was retried, and elements in their order, not that of arrival", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      let tried = 0
      const flaky = Node.step("flaky", (n: number) => (++tried < 3 ? new Broken({ at: "flaky" }) : n))
      const late = Node.step("late", (n: number) => Effect.delay(Effect.succeed(n), 10 - n))
      const node = Node.sequence(
        add("a", 1),
        Node.andThen(flaky, add("b", 1)).pipe(Node.retry({ times: 5 }), Node.withName("both")),
        Node.step("list", () => [1, 2, 3]),
        Node.each("each", late)
      )
      const run = Workflow.run(Workflow.make({ name: "w", node }), 1, { sessionId: "s" })
      const fiber = yield* Effect.fork(Effect.provide(run, store.layer))
      yield* TestClock.adjust(10)
      yield* Fiber.join(fiber)
      expect(store.records[0]!.steps.map(({ path }) => path.join("/"))).toEqual([
        "a",
        "both/flaky",
        "both/b",
        "list",
        "each/0/late",
        "each/1/late",
        "each/2/late"
      ])
    })
  )

  it.effect("numbers the rounds of a loop and the elements of an array", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const loop = Node.loop("loop", add("a", 1), { max: 2, onMax: "stop" })
      const workflow = Workflow.make({
        name: "w",
        node: Node.sequence(
          loop,
          Node.step("pair", (n: number) => [n, n]),
          Node.each("all", add("b", 1))
        )
      })
      yield* Effect.provide(Workflow.run(workflow, 1, { sessionId: "s" }), store.layer)
      expect(store.records[0]!.steps.map(({ path }) => path)).toEqual([
        ["loop", 1, "a"],
        ["loop", 2, "a"],
        ["pair"],
        ["all", 0, "b"],
        ["all", 1, "b"]
      ])
    })
  )

  it.effect("has a run id of its own unless one is given", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const run = Effect.provide(Workflow.run(workflow, 1, { sessionId: "s" }), store.layer)
      // One effect, run twice, is two runs.
      yield* run
      yield* run
      const ids = store.records.map((r) => r.runId)
      expect(new Set(ids).size).toBe(2)
      expect(ids.every((id) => id.length > 10)).toBe(true)
    })
  )

  it.effect("keeps the records of two runs at once, each whole", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const both = ["one", "two"].map((runId) => Workflow.run(workflow, 1, { sessionId: "s", runId }))
      yield* Effect.provide(Effect.all(both, { concurrency: "unbounded" }), store.layer)
      expect(store.records.map((r) => [r.runId, r.steps.length]).toSorted()).toEqual([
        ["one", 4],
        ["two", 4]
      ])
    })
  )
})

describe("a run outside of a session", () => {
  it.effect("records nothing, and asks no store", () =>
    Effect.gen(function* () {
      const result = yield* Workflow.run(Workflow.make({ name: "w", node: add("a", 1) }), 1, { runId: "r" })
      expect(result).toEqual({ output: 2, runId: "r" })
    })
  )
})

describe("ids", () => {
  const workflow = Workflow.make({ name: "w", node: add("a", 1) })
  const shown = Workflow.make({ name: "w", node: add("a", 1), history: { mode: "on" } })
  it.effect("that are empty, or missing where history is shown, fail the run before it begins", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const refused = [
        Workflow.run(workflow, 1, { sessionId: "" }),
        Workflow.run(workflow, 1, { runId: "" }),
        Workflow.run(workflow, 1, { sessionId: 5 as unknown as string }),
        Workflow.run(workflow, 1, { sessionId: null as unknown as string }),
        // As a program without types has it.
        Workflow.run(shown as unknown as typeof workflow, 1)
      ]
      const errors = yield* Effect.forEach(refused, (run) => Effect.flip(Effect.provide(run, store.layer)))
      expect(errors.map((error) => [error._tag, error.message])).toEqual([
        ["InvalidSession", "The session id is empty."],
        ["InvalidSession", "The run id is empty."],
        ["InvalidSession", "The session id is no text, but 5."],
        ["InvalidSession", "The session id is no text, but null."],
        ["InvalidSession", 'Workflow "w" shows earlier runs to its nodes, so a run of it needs a sessionId.']
      ])
      expect(store.asked).toEqual([])
    })
  )
  it.effect("are not asked for by a workflow whose policies show nothing to anybody", () =>
    Effect.gen(function* () {
      const node = Node.withHistory(add("a", 1), { mode: "off" })
      const off = Workflow.make({ name: "w", node, history: { mode: "on" } })
      const none = Workflow.make({ name: "w", node: add("a", 1), history: { mode: "on", runs: 0 } })
      for (const workflow of [off, none]) {
        expect(yield* Workflow.run(workflow as Workflow.Workflow<number, number>, 1)).toMatchObject({ output: 2 })
      }
    })
  )
})

describe("a store that fails", () => {
  const tell = Node.step("tell", () => Effect.map(HistoryContext.current, ({ text }) => text))
  const make = (onHistoryUnavailable?: "fail" | "continue") =>
    Workflow.make({
      name: "w",
      node: tell,
      history: { mode: "on" },
      ...(onHistoryUnavailable && { onHistoryUnavailable })
    })

  it.effect("on read fails the run before it begins", () =>
    Effect.gen(function* () {
      const store = watchedStore([record("r1")])
      store.broken.add("last")
      for (const workflow of [make(), make("fail")]) {
        const error = yield* Effect.flip(Effect.provide(Workflow.run(workflow, 0, { sessionId: "s" }), store.layer))
        expect(error).toMatchObject({ _tag: "HistoryUnavailable", operation: "last" })
      }
      expect(store.records.slice(1)).toMatchObject([
        { status: "failed", steps: [] },
        { status: "failed", steps: [] }
      ])
    })
  )

  it.effect("on read lets a run go on without history, after a warning, when that is chosen", () =>
    Effect.gen(function* () {
      const store = watchedStore([record("r1")])
      store.broken.add("last")
      const stream = Workflow.stream(make("continue"), 0, { sessionId: "s" })
      const { exit, seen } = yield* events(Stream.provideLayer(stream, store.layer))
      expect(exit).toEqual(Exit.void)
      expect(told(seen)).toEqual(["RunStarted", "Warning", "NodeStarted tell", "NodeFinished tell", "Completed"])
      expect(seen[1]).toMatchObject({ error: { _tag: "HistoryUnavailable", operation: "last" } })
      expect(seen.at(-1)).toMatchObject({ result: { output: "" } })
    })
  )

  it.effect("on append does not cost the result, which comes with the failure", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      store.broken.add("append")
      const workflow = Workflow.make({ name: "w", node: add("a", 1) })
      const result = yield* Effect.provide(Workflow.run(workflow, 1, { sessionId: "s" }), store.layer)
      expect(result).toMatchObject({ output: 2, unsaved: { _tag: "HistoryUnavailable", operation: "append" } })
      const stream = Workflow.stream(workflow, 1, { sessionId: "s" })
      const { seen } = yield* events(Stream.provideLayer(stream, store.layer))
      expect(told(seen).slice(-2)).toEqual(["Warning", "Completed"])
    })
  )

  const misbehaving: ReadonlyArray<readonly [string, () => Effect.Effect<never>, string]> = [
    ["dies", () => Effect.die("gone"), "gone"],
    ["interrupts itself", () => Effect.interrupt, ""],
    [
      "throws",
      () => {
        throw new Error("thrown")
      },
      "thrown"
    ],
    ["dies with what has no words", () => Effect.die(Object.create(null)), "{}"],
    ["fails with something else", () => Effect.fail("else") as Effect.Effect<never>, "else"]
  ]
  for (const [what, access, cause] of misbehaving) {
    it.effect(`that ${what} is as unavailable as one that fails`, () =>
      Effect.gen(function* () {
        const provide = Effect.provideService(HistoryStore.HistoryStore, {
          ...watchedStore().service,
          append: access,
          last: access
        })
        const workflow = Workflow.make({ name: "w", node: add("a", 1) })
        const result = yield* provide(Workflow.run(workflow, 1, { sessionId: "s" }))
        expect(result).toMatchObject({ output: 2, unsaved: { operation: "append", sessionId: "s" } })
        const error = yield* Effect.flip(provide(Workflow.run(make(), 1, { sessionId: "s" })))
        expect(error).toMatchObject({ _tag: "HistoryUnavailable", operation: "last" })
        expect(error.message).toContain(`The run history of session "s" is unavailable (last): ${cause}`)
        const gone = yield* provide(Workflow.run(make("continue"), 1, { sessionId: "s" }))
        expect(gone).toMatchObject({
          output: "",
          withoutHistory: { operation: "last" },
          unsaved: { operation: "append" }
        })
      })
    )
  }

  it.effect("fails with an error that cannot be read, and costs nothing either", () =>
    Effect.gen(function* () {
      class Unreadable extends Data.TaggedError("Unreadable") {
        override get message(): string {
          throw new Error("no message")
        }
      }
      class Odd extends Data.TaggedError("Odd")<{ readonly message: string }> {}
      const store = watchedStore()
      const odd = new Odd({ message: { a: 1 } as unknown as string })
      for (const error of [new Unreadable(), odd]) {
        const node = Node.step("a", () => Effect.fail(error))
        const run = Workflow.run(Workflow.make({ name: "w", node }), 0, { sessionId: "s" })
        expect(yield* Effect.flip(Effect.provide(run, store.layer))).toBe(error)
      }
      expect(store.records.map((r) => [r.status, typeof r.error])).toEqual([
        ["failed", "string"],
        ["failed", "string"]
      ])
    })
  )

  it.effect("on append leaves the error of a run that failed", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      store.broken.add("append")
      const run = Workflow.run(Workflow.make({ name: "w", node: fails("a") }), 1, { sessionId: "s" })
      expect(yield* Effect.flip(Effect.provide(run, store.layer))).toEqual(new Broken({ at: "a" }))
    })
  )
})

describe("history", () => {
  const writer = Agent.make({ name: "writer", instructions: "Write." })
  const given = [record("r1"), record("r2"), record("bad", { status: "failed" }), record("r3")]
  const block = (...runs: ReadonlyArray<string>) =>
    [
      "<workflow_history_context>",
      ...runs.flatMap((run, i) => [`[run-${i + 1}]`, `input: input of ${run}`, `output: output of ${run}`, ""]),
      "</workflow_history_context>"
    ].join("\n")

  it.effect("is a section of an agent's instructions, for its run alone", () =>
    Effect.gen(function* () {
      const store = watchedStore(given)
      const model = yield* ScriptedModel.make((request) => request.purpose)
      const workflow = Workflow.make({
        name: "w",
        node: Node.agent("a", writer),
        history: { mode: "on", runs: 2 }
      })
      const run = Workflow.run(workflow, "Go.", { sessionId: "s", runId: "new" })
      yield* Effect.provide(run, Layer.merge(store.layer, model.layer))
      yield* Effect.provide(Agent.run(writer, "Go."), model.layer)
      const [inside, alone] = yield* model.requests
      expect(inside!.instructions.sections).toEqual([
        { source: "writer", text: "Write." },
        { source: "workflow-history", text: block("r2", "r3") }
      ])
      expect(Instructions.render(alone!.instructions)).toBe("Write.")
      // Nor is it kept.
      expect(JSON.stringify(store.records.at(-1))).not.toContain("workflow_history")
      expect(inside!.history).toHaveLength(1)
    })
  )

  it.effect("does not reach an agent that the agent uses as a tool", () =>
    Effect.gen(function* () {
      const helper = Agent.make({ name: "helper", instructions: "Help." })
      const boss = Agent.make({ name: "boss", instructions: "Lead.", tools: Tools.make(Agent.asTool(helper)) })
      const model = yield* ScriptedModel.make([
        { calls: [{ tool: "helper", arguments: { input: "?" } }] },
        "yes",
        "done"
      ])
      const workflow = Workflow.make({ name: "w", node: Node.agent("a", boss), history: { mode: "on" } })
      const run = Workflow.run(workflow, "Go.", { sessionId: "s" })
      yield* Effect.provide(run, Layer.merge(watchedStore(given).layer, model.layer))
      const all = (yield* model.requests).map((r) => r.instructions.sections.map((section) => section.source))
      expect(all).toEqual([["boss", "workflow-history"], ["helper"], ["boss", "workflow-history"]])
    })
  )

  it.effect("is read by a function from the context, in nested nodes, branches and questions too", () =>
    Effect.gen(function* () {
      const seen = new Map<string, ReadonlyArray<string>>()
      const see = (name: string) =>
        Effect.map(HistoryContext.current, ({ records }) => {
          seen.set(
            name,
            records.map((r) => r.runId)
          )
          return true
        })
      const step = (name: string) => Node.step(name, (_input: unknown) => see(name))
      const node = Node.parallel("p", {
        x: Node.condition("c", { if: () => see("if"), onTrue: step("onTrue") }).pipe(
          Node.withHistory({ mode: "on", runs: 1 })
        ),
        y: Node.loop("l", step("body").pipe(Node.withHistory({ runs: "all" })), {
          until: () => see("until"),
          max: 1,
          onMax: "stop"
        }),
        z: Node.router("r", { choose: () => Effect.as(see("choose"), "z"), routes: { z: step("z") } }).pipe(
          Node.withHistory({ mode: "off" })
        )
      })
      const workflow = Workflow.make({ name: "w", node, history: { mode: "on", runs: 2 } })
      const store = watchedStore(given)
      yield* Effect.provide(Workflow.run(workflow, 0, { sessionId: "s" }), store.layer)
      expect(Object.fromEntries(seen)).toEqual({
        if: ["r3"],
        onTrue: ["r3"],
        body: ["r1", "r2", "r3"],
        until: ["r2", "r3"],
        choose: [],
        z: []
      })
      // One read serves them all.
      expect(store.asked.filter((a) => a.startsWith("last"))).toEqual(["last s Infinity completed"])
    })
  )

  it.effect("shows runs of other endings where the policy says so", () =>
    Effect.gen(function* () {
      const ids = Effect.map(HistoryContext.current, ({ records }) => records.map((r) => r.runId))
      const node = Node.parallel("p", {
        all: Node.step("all", () => ids).pipe(Node.withHistory({ statuses: ["failed", "completed"], runs: 2 })),
        failed: Node.step("failed", () => ids).pipe(Node.withHistory({ statuses: ["failed"], runs: "all" })),
        rest: Node.step("rest", () => ids)
      })
      const workflow = Workflow.make({ name: "w", node, history: { mode: "on", runs: 2 } })
      const run = Workflow.run(workflow, 0, { sessionId: "s" })
      expect((yield* Effect.provide(run, watchedStore(given).layer)).output).toEqual({
        all: ["bad", "r3"],
        failed: ["bad"],
        rest: ["r2", "r3"]
      })
    })
  )

  it.effect("is read once for the same statuses in any order, and policies of a node add up", () =>
    Effect.gen(function* () {
      const ids = Effect.map(HistoryContext.current, ({ records }) => records.map((r) => r.runId))
      const see = (name: string) => Node.step(name, () => ids)
      const node = Node.parallel("p", {
        a: see("a").pipe(Node.withHistory({ statuses: ["failed", "completed"] }), Node.withHistory({ runs: 1 })),
        b: see("b").pipe(Node.withHistory({ statuses: ["completed", "failed"], runs: 3 }))
      })
      const store = watchedStore(given)
      const run = Workflow.run(Workflow.make({ name: "w", node, history: { mode: "on" } }), 0, { sessionId: "s" })
      expect((yield* Effect.provide(run, store.layer)).output).toEqual({ a: ["r3"], b: ["r2", "bad", "r3"] })
      expect(store.asked.filter((asked) => asked.startsWith("last"))).toHaveLength(1)
    })
  )

  it.effect("is written down once for all nodes that see the same", () =>
    Effect.gen(function* () {
      let written = 0
      const format = (records: ReadonlyArray<unknown>) => `${records.length} in text ${++written}`
      const text = Effect.map(HistoryContext.current, (history) => history.text)
      const steps = ["a", "b", "c"].map((name) =>
        Node.step(name, () => text).pipe(Node.withHistory({ mode: "on", runs: 2, format }))
      )
      const node = Node.parallel("p", Object.fromEntries(steps.map((step) => [step.name ?? "", step])))
      const run = Workflow.run(Workflow.make({ name: "w", node }), 0, { sessionId: "s" })
      const { output } = yield* Effect.provide(run, watchedStore(given).layer)
      expect(output).toEqual({ a: "2 in text 1", b: "2 in text 1", c: "2 in text 1" })
    })
  )

  it.effect("is written down as the policy says, by a function too", () =>
    Effect.gen(function* () {
      const node = Node.parallel("p", {
        x: Node.agent("x", writer, { prompt: (_input: number) => "Go." }),
        y: Node.agent("y", writer, { prompt: (_input: number) => "Go." }).pipe(
          Node.withHistory({ format: (records) => records.map((r) => r.runId).join() })
        )
      })
      const workflow = Workflow.make({ name: "w", node, history: { mode: "on", runs: 1 } })
      const run = Workflow.run(workflow, 0, { sessionId: "s" })
      const { output } = yield* Effect.provide(run, Layer.merge(watchedStore(given).layer, tellsHistory))
      expect(output).toEqual({ x: block("r3"), y: "r3" })
    })
  )

  it.effect("that cannot be written down fails the step, whether it is watched or not", () =>
    Effect.gen(function* () {
      const format = (): string => {
        throw new Error("no format")
      }
      const workflow = Workflow.make({ name: "w", node: Node.agent("a", writer), history: { mode: "on", format } })
      const store = watchedStore(given)
      const layer = Layer.merge(store.layer, tellsHistory)
      yield* Effect.exit(Effect.provide(Workflow.run(workflow, "go", { sessionId: "s" }), layer))
      yield* Effect.exit(Effect.provide(Stream.runDrain(Workflow.stream(workflow, "go", { sessionId: "s" })), layer))
      const [one, other] = store.records.slice(-2).map(({ error, status, steps }) => ({ error, status, steps }))
      expect(one).toEqual({
        status: "failed",
        error: "no format",
        steps: [{ path: ["a"], status: "failed", error: "no format" }]
      })
      expect(other).toEqual(one)
    })
  )

  it.effect("of a run inside of a step is that run's own", () =>
    Effect.gen(function* () {
      const ids = Effect.map(HistoryContext.current, ({ records }) => records.length)
      const inner = Workflow.make({ name: "inner", node: Node.step("in", () => ids) })
      const node = Node.step("out", () => Effect.zip(ids, Workflow.run(inner, 0)))
      const workflow = Workflow.make({ name: "w", node, history: { mode: "on" } })
      const run = Workflow.run(workflow, 0, { sessionId: "s" })
      const { output } = yield* Effect.provide(run, watchedStore(given).layer)
      expect([output[0], output[1].output]).toEqual([3, 0])
      expect(yield* HistoryContext.current).toMatchObject({ records: [], text: "" })
    })
  )

  it.effect("of the session so far: a second run sees the first", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const workflow = Workflow.make({ name: "w", node: Node.agent("a", writer), history: { mode: "on" } })
      const run = (input: string) =>
        Effect.provide(Workflow.run(workflow, input, { sessionId: "s" }), Layer.merge(store.layer, tellsHistory))
      expect((yield* run("one")).output).toBe("none: Write.")
      expect((yield* run("two")).output).toContain("[run-1]\ninput: one\noutput: none: Write.\n")
    })
  )
})

describe("a workflow as a node", () => {
  const inner = Workflow.make({ name: "inner", node: Node.sequence(add("a", 1), add("b", 1)) })

  it.effect("has names of its own, is told of, and recorded with the run around it", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const outer = Workflow.make({ name: "outer", node: Node.sequence(add("a", 1), inner) })
      const stream = Workflow.stream(outer, 1, { sessionId: "s" })
      const { seen } = yield* events(Stream.provideLayer(stream, store.layer))
      expect(told(seen)).toEqual([
        "RunStarted",
        "NodeStarted a",
        "NodeFinished a",
        "NodeStarted inner",
        "NodeStarted inner/a",
        "NodeFinished inner/a",
        "NodeStarted inner/b",
        "NodeFinished inner/b",
        "NodeFinished inner",
        "Completed"
      ])
      expect(store.records).toMatchObject([{ workflow: "outer", output: 4 }])
      expect(store.records[0]!.steps.map((step) => step.path.join("/"))).toEqual(["a", "inner/a", "inner/b"])
    })
  )

  it.effect("inherits the history policy that it does not set", () =>
    Effect.gen(function* () {
      const count = Node.step("count", () => Effect.map(HistoryContext.current, ({ records }) => records.length))
      const silent = Workflow.make({ name: "silent", node: count })
      const off = Workflow.make({ name: "off", node: count, history: { mode: "off" } })
      const all = Workflow.make({ name: "all", node: count, history: { runs: "all" } })
      const workflow = Workflow.make({
        name: "w",
        node: Node.parallel("p", { silent, off, all }),
        history: { mode: "on", runs: 1 }
      })
      const store = watchedStore([record("r1"), record("r2")])
      const run = Workflow.run(workflow, 0, { sessionId: "s" })
      expect((yield* Effect.provide(run, store.layer)).output).toEqual({ silent: 1, off: 0, all: 2 })
    })
  )

  it.effect("counts towards the nodes of the run around it", () =>
    Effect.gen(function* () {
      const outer = Workflow.make({ name: "outer", node: Node.sequence(inner, add("c", 1)), maxNodes: 3 })
      expect(yield* Effect.flip(Workflow.run(outer, 1))).toMatchObject({ _tag: "NodeLimitReached", workflow: "outer" })
    })
  )
})

describe("the limit of nodes", () => {
  it.effect("ends a run with a typed error, that no node can catch, retry or settle", () =>
    Effect.gen(function* () {
      let entered = 0
      const count = Node.step("count", (n: number) => {
        entered++
        return n
      })
      const endless = Node.loop("endless", count, { max: 1e9, onMax: "stop" })
      const nodes: ReadonlyArray<Node.Node<number, unknown, WorkflowErrors.TooFewSucceeded>> = [
        endless,
        Node.orSkip(endless),
        Node.retry(endless, { schedule: Schedule.forever }),
        Node.retry(
          Node.step("flaky", () => {
            entered++
            return new Broken({ at: "flaky" })
          }),
          { schedule: Schedule.forever }
        ) as unknown as Node.Node<number, never>,
        Node.orElse(endless, add("b", 1)),
        Node.parallel("p", { endless, b: add("b", 1) }, { settlement: "settle" }),
        Node.parallel("p", { endless, b: add("b", 1) }, { settlement: { atLeast: 1 } })
      ]
      for (const node of nodes) {
        entered = 0
        const workflow = Workflow.make({ name: "w", node, maxNodes: 100 })
        const error = yield* Effect.flip(Workflow.run(workflow, 1))
        expect(error).toMatchObject({ _tag: "NodeLimitReached", workflow: "w", maxNodes: 100 })
        expect(entered).toBeLessThanOrEqual(100)
      }
      const error = yield* Effect.flip(Workflow.run(Workflow.make({ name: "w", node: nodes[0]!, maxNodes: 1 }), 1))
      expect(error.message).toBe('Workflow "w" did not end within 1 nodes.')
    })
  )
})

describe("events", () => {
  it.effect("tell what happens in each node, and what its agent does", () =>
    Effect.gen(function* () {
      const echo = Tool.make({
        name: "echo",
        description: "",
        parameters: Schema.Struct({ text: Schema.String }),
        execute: ({ text }) => text
      })
      const agent = Agent.make({ name: "writer", tools: Tools.make(echo) })
      const model = ScriptedModel.layer([{ calls: [{ tool: "echo", arguments: { text: "hi" } }] }, "done"])
      const node = Node.sequence(
        Node.agent("draft", agent),
        Node.condition("long?", {
          if: (s: string) => s.length > 9,
          onTrue: Node.step("cut", (s: string) => s),
          onFalse: Node.step("keep", (s: string) => s)
        })
      )
      const { seen } = yield* events(
        Stream.provideLayer(Workflow.stream(Workflow.make({ name: "w", node }), "go", { runId: "r" }), model)
      )
      expect(told(seen).filter((line) => !line.startsWith("Agent"))).toEqual([
        "RunStarted",
        "NodeStarted draft",
        "NodeFinished draft",
        "NodeStarted long?",
        "Chosen long? false",
        "NodeStarted long?/keep",
        "NodeFinished long?/keep",
        "NodeFinished long?",
        "Completed"
      ])
      const agentEvents = seen.flatMap((e) => (e._tag === "Agent" ? [[e.path.join(), e.event._tag]] : []))
      expect(agentEvents).toContainEqual(["draft", "ToolFinished"])
      expect(agentEvents.at(-1)).toEqual(["draft", "Completed"])
      expect(seen[0]).toEqual({ _tag: "RunStarted", workflow: "w", runId: "r" })
      expect(seen.find((e) => e._tag === "NodeStarted")).toMatchObject({ kind: "agent", input: "go" })
    })
  )

  it.effect("tell of retries, skips and fallbacks", () =>
    Effect.gen(function* () {
      let tried = 0
      const flaky = Node.step("flaky", (n: number) => (++tried === 1 ? new Broken({ at: "flaky" }) : n))
      const node = Node.sequence(
        Node.retry(flaky, { times: 1 }),
        Node.orSkip(fails("skipped")),
        Node.orElse(fails("first"), add("second", 1))
      )
      const { seen } = yield* events(Workflow.stream(Workflow.make({ name: "w", node }), 1))
      expect(told(seen)).toEqual([
        "RunStarted",
        "NodeStarted flaky",
        "NodeRetrying flaky",
        "NodeFinished flaky",
        "NodeStarted skipped",
        "NodeSkipped skipped",
        "NodeFinished skipped",
        "NodeStarted first",
        "NodeFellBack first",
        "NodeStarted first/second",
        "NodeFinished first/second",
        "NodeFinished first",
        "Completed"
      ])
      expect(seen[2]).toMatchObject({ attempt: 2, error: new Broken({ at: "flaky" }) })
      expect(seen.at(-1)).toMatchObject({ result: { output: 2 } })
    })
  )

  it.effect("end with Failed, and the stream with the error", () =>
    Effect.gen(function* () {
      const { exit, seen } = yield* events(Workflow.stream(Workflow.make({ name: "w", node: fails("a") }), 1))
      expect(told(seen)).toEqual(["RunStarted", "NodeStarted a", "NodeFailed a", "Failed"])
      expect(seen.at(-1)).toMatchObject({ error: new Broken({ at: "a" }) })
      expect(exit).toEqual(Exit.fail(new Broken({ at: "a" })))
    })
  )

  it.effect("tell which branch failed, and which were cancelled for it", () =>
    Effect.gen(function* () {
      const waits = Node.step("waits", (_input: number) => Effect.never)
      const fails = Node.step("fails", (_input: number) =>
        Effect.zipRight(Effect.yieldNow(), new Broken({ at: "fails" }))
      )
      const node = Node.parallel("p", { waits, fails })
      const { seen } = yield* events(Workflow.stream(Workflow.make({ name: "w", node }), 1))
      const ends = told(seen).filter((line) => /Failed|Cancelled/.test(line))
      expect(ends.toSorted()).toEqual(["Failed", "NodeCancelled p/waits", "NodeFailed p", "NodeFailed p/fails"])
    })
  )

  it.effect("of a run that cannot begin are its beginning and its failure", () =>
    Effect.gen(function* () {
      const stream = Workflow.stream(Workflow.make({ name: "w", node: fails("a") }), 1, { runId: "" })
      const { seen } = yield* events(stream)
      expect(told(seen)).toEqual(["RunStarted", "Failed"])
    })
  )

  it.effect("end with Cancelled, once every branch is interrupted", () =>
    Effect.gen(function* () {
      const seen: Array<WorkflowEvent.WorkflowEvent> = []
      const left: Array<string> = []
      const waits = (name: string) =>
        Node.step(name, (_input: number) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => left.push(name))))
      const workflow = Workflow.make({ name: "w", node: Node.parallel("p", { a: waits("a"), b: waits("b") }) })
      const call = Workflow.call(workflow, 1)
      const fiber = yield* Effect.fork(
        Call.runEach(call, WorkflowEvent.fold(), "live", (event) => void (Call.isReset(event) || seen.push(event)))
      )
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      expect(left.toSorted()).toEqual(["a", "b"])
      const lines = told(seen)
      expect(lines.slice(0, 4)).toEqual(["RunStarted", "NodeStarted p", "NodeStarted p/a", "NodeStarted p/b"])
      expect(lines.slice(4, 6).toSorted()).toEqual(["NodeCancelled p/a", "NodeCancelled p/b"])
      expect(lines.slice(6)).toEqual(["NodeCancelled p", "Cancelled"])
    })
  )

  it.effect("a stream that is ended early interrupts the run, and the run is recorded", () =>
    Effect.gen(function* () {
      const store = watchedStore()
      const left: Array<string> = []
      const waits = Node.step("waits", () =>
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => left.push("waits")))
      )
      const stream = Workflow.stream(Workflow.make({ name: "w", node: waits }), 1, { sessionId: "s" })
      const first = yield* Stream.runCollect(Stream.take(Stream.provideLayer(stream, store.layer), 2))
      expect(told(Chunk.toReadonlyArray(first))).toEqual(["RunStarted", "NodeStarted waits"])
      expect(left).toEqual(["waits"])
      expect(store.records).toMatchObject([{ status: "cancelled" }])
    })
  )
})

describe("what makes no sense is refused where it is built", () => {
  const a = add("a", 1)
  const cases: ReadonlyArray<readonly [string, () => unknown, string]> = [
    ["a workflow without a name", () => Workflow.make({ name: "", node: a }), "A workflow needs a name"],
    ["no nodes at all", () => Workflow.make({ name: "w", node: a, maxNodes: 0 }), "maxNodes must be a whole number"],
    ["what is no node", () => Workflow.make({ name: "w", node: undefined as unknown as typeof a }), "A node is needed"],
    [
      "a policy for missing history that is not known",
      () => Workflow.make({ name: "w", node: a, onHistoryUnavailable: "Fail" as "fail" }),
      'onHistoryUnavailable must be "fail" or "continue", not "Fail".'
    ],
    ["half a node", () => Workflow.make({ name: "w", node: a, maxNodes: 1.5 }), "not 1.5"],
    [
      "minus one run",
      () => Workflow.make({ name: "w", node: a, history: { runs: -1 } }),
      'Workflow "w": runs of history must be'
    ],
    [
      "two nodes of one name",
      () => Workflow.make({ name: "w", node: Node.sequence(a, Node.parallel("p", { x: add("a", 2) })) }),
      'Workflow "w" has two nodes named "a": w > a and w > p > a.'
    ],
    [
      "a fallback of the same name",
      () => Workflow.make({ name: "w", node: Node.orElse(a, add("a", 2)) }),
      "two nodes named"
    ],
    [
      "two workflows of one name in another",
      () => {
        const inner = Workflow.make({ name: "inner", node: a })
        return Workflow.make({ name: "w", node: Node.sequence(inner, inner) })
      },
      'two nodes named "inner"'
    ]
  ]
  for (const [what, build, message] of cases) {
    it(what, () => {
      expect(build).toThrow(Errors.DefinitionError)
      expect(build).toThrow(message)
    })
  }

  it("names such as __proto__ are ordinary", () => {
    const node = Node.sequence(add("__proto__", 1), add("constructor", 1), add("toString", 1))
    expect(Effect.runSync(Workflow.run(Workflow.make({ name: "__proto__", node }), 0)).output).toBe(3)
  })

  it("a node under another name may stand beside itself", () => {
    const node = Node.sequence(a, Node.withName(a, "again"))
    expect(Effect.runSync(Workflow.run(Workflow.make({ name: "w", node }), 0)).output).toBe(2)
  })
})

describe("scoped instructions around a run", () => {
  it.effect("hold for each agent that is a step of it", () =>
    Effect.gen(function* () {
      const writer = Agent.make({ name: "writer", instructions: "Write.", handlers: Handler.instructions("More.") })
      const node = Node.sequence(Node.agent("a", writer), Node.agent("b", writer))
      const model = yield* ScriptedModel.make(["one", "two"])
      const run = Workflow.run(Workflow.make({ name: "w", node }), "go")
      yield* Effect.provide(Instructions.scoped(Instructions.append("For Ada."))(run), model.layer)
      const all = (yield* model.requests).map((request) => Instructions.render(request.instructions))
      expect(all).toEqual(["Write.\n\nFor Ada.\n\nMore.", "Write.\n\nFor Ada.\n\nMore."])
    })
  )
})
