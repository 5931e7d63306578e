/**
 * What holds for every workflow, whatever it is made of.
 */
import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Instructions } from "@heddle/core"
import {
  HistoryContext,
  HistoryFormat,
  type HistoryPolicy,
  HistoryStore,
  Node,
  Workflow,
  WorkflowEvent
} from "@heddle/workflow"
import {
  Chunk,
  Context,
  Effect,
  Exit,
  FastCheck,
  Fiber,
  Layer,
  Option,
  Schedule,
  Stream,
  Supervisor,
  TestClock
} from "effect"
import { record } from "./support.ts"

// -----------------------------------------------------------------------------
// workflows of any shape
// -----------------------------------------------------------------------------

const composites = [
  "sequence",
  "condition",
  "loop",
  "router",
  "parallel",
  "settle",
  "each",
  "workflow",
  "orElse",
  "retry"
] as const

interface Tree {
  readonly kind: "step" | "agent" | (typeof composites)[number]
  readonly policy: HistoryPolicy.HistoryPolicy
  readonly inside: ReadonlyArray<Tree>
}

const policy: FastCheck.Arbitrary<HistoryPolicy.HistoryPolicy> = FastCheck.record(
  {
    mode: FastCheck.constantFrom("inherit" as const, "on" as const, "off" as const),
    runs: FastCheck.constantFrom("inherit" as const, "all" as const, 0, 1, 2, 5)
  },
  { requiredKeys: [] }
)

const tree = FastCheck.letrec<{ leaf: Tree; tree: Tree }>((tie) => ({
  leaf: FastCheck.record({
    kind: FastCheck.constantFrom<Tree["kind"]>("step", "agent"),
    policy,
    inside: FastCheck.constant([])
  }),
  tree: FastCheck.oneof(
    { maxDepth: 3, withCrossShrink: true },
    tie("leaf"),
    FastCheck.record({
      kind: FastCheck.constantFrom(...composites),
      policy,
      inside: FastCheck.array(tie("tree"), { minLength: 1, maxLength: 3 })
    })
  )
})).tree

type AnyNode = Node.Node<unknown, unknown, never, ChatModel.ChatModel>

/** What a leaf does: it is told its name. */
type Leaf = (name: string) => Effect.Effect<unknown>

/** The agent that is every agent step of every workflow. */
const shared = Agent.make({ name: "shared", instructions: "Answer." })

/** A workflow of a tree. Every node has the name of its place; the nodes inside a `workflow` too. */
const build = (root: Tree, leaf: Leaf) => {
  const node = (tree: Tree, name: string): AnyNode => {
    const inside = tree.inside.map((child, i) => node(child, `${name}.${i}`))
    const [first = Node.step("nothing", () => undefined), ...others] = inside
    const made = (): Node.Node<unknown, unknown, unknown, ChatModel.ChatModel> => {
      switch (tree.kind) {
        case "step":
          return Node.step(name, () => leaf(name))
        case "agent":
          return Node.agent(name, shared, { prompt: () => name })
        case "sequence":
          return Node.sequence(first, ...others)
        case "condition":
          return Node.condition(name, {
            if: () => Effect.succeed(true),
            onTrue: first,
            onFalse: Node.step(`${name}-`, () => 0)
          })
        case "loop":
          return Node.loop(name, first, { max: 2, onMax: "stop" })
        case "router":
          return Node.router(name, {
            choose: () => "0",
            routes: Object.fromEntries(inside.map((node, i) => [`${i}`, node]))
          })
        case "parallel":
        case "settle":
          return Node.parallel(name, Object.fromEntries(inside.map((node, i) => [`${i}`, node])), {
            settlement: tree.kind === "settle" ? "settle" : "fail-fast"
          })
        case "each":
          return Node.step(`${name}+`, () => [1, 2]).pipe(Node.andThen(Node.each(name, first)))
        case "workflow":
          return Workflow.make({ name, node: first, history: tree.policy }) as AnyNode
        case "orElse":
          return Node.step(`${name}!`, () => Effect.fail("no")).pipe(Node.orElse(first))
        case "retry": {
          let tries = 0
          // Two runs of one workflow may share the count: then one of them has less to retry.
          const flaky = Node.step(`${name}!`, () => (tries++ % 2 === 0 ? Effect.fail("no") : Effect.void))
          return first.pipe(Node.andThen(flaky), Node.retry({ schedule: Schedule.forever }))
        }
      }
    }
    const whole = made() as AnyNode
    return tree.kind === "workflow" ? whole : (Node.withHistory(whole, tree.policy) as AnyNode)
  }
  return Workflow.make({ name: "root", node: node(root, "n"), history: root.policy })
}

/** The rule: which leaf sees how many of `total` runs. */
const rule = (root: Tree, total: number): ReadonlyMap<string, number> => {
  const seen = new Map<string, number>()
  const visit = (tree: Tree, name: string, on: boolean, count: number) => {
    const { mode = "inherit", runs = "inherit" } = tree.policy
    const isOn = mode === "inherit" ? on : mode === "on"
    const shown = runs === "inherit" ? count : runs === "all" ? total : runs
    if (tree.inside.length === 0) seen.set(name, isOn ? Math.min(shown, total) : 0)
    // The first is the one that a node with one place inside takes.
    const all = ["sequence", "parallel", "settle"].includes(tree.kind)
    for (const [i, child] of tree.inside.entries()) if (all || i === 0) visit(child, `${name}.${i}`, isOn, shown)
  }
  visit(root, "n", false, 3)
  return seen
}

// -----------------------------------------------------------------------------
// who sees what
// -----------------------------------------------------------------------------

/** Which run a fiber belongs to. */
class Session extends Context.Reference<Session>()("test/Session", { defaultValue: () => "" }) {}

/** What the leaves of each session saw: the ids of runs, which are their inputs too. */
const sightings = () => {
  const seen = new Map<string, Map<string, ReadonlyArray<string | undefined>>>()
  const clashes: Array<string> = []
  const note = (name: string, ids: ReadonlyArray<string | undefined>) =>
    Effect.map(Session, (session) => {
      const leaves = seen.get(session) ?? new Map<string, ReadonlyArray<string | undefined>>()
      seen.set(session, leaves)
      const before = leaves.get(name)
      if (before !== undefined && before.join() !== ids.join()) clashes.push(`${session} ${name}`)
      leaves.set(name, ids)
    })
  const leaf: Leaf = (name) =>
    Effect.flatMap(HistoryContext.current, ({ records, text }) =>
      Effect.zipRight(
        Effect.yieldNow(),
        note(
          name,
          // The text tells of the same runs as the records.
          HistoryFormat.parse(text).map(({ input }, i) => (records[i]?.input === input ? input : "a clash"))
        )
      )
    )
  const model = ChatModel.layer((request) => {
    const section = request.instructions.sections.find(({ source }) => source === "workflow-history")
    const ids = HistoryFormat.parse(section?.text ?? "").map(({ input }) => input)
    const noted = Effect.zipRight(Effect.yieldNow(), note(ChatModel.question(request), ids))
    return Call.fromEffect(Effect.as(noted, ChatModel.replyValue("done")))
  })
  return { seen, clashes, leaf, model }
}

const ids = (session: string, runs: number) => Array.from({ length: runs }, (_, i) => `${session}-${i}`)

/** A store in which session `i` has `i % 7` runs. */
const sessions = (count: number) =>
  Effect.gen(function* () {
    const store = yield* HistoryStore.HistoryStore
    for (let i = 0; i < count; i++) {
      for (const id of ids(`s${i}`, i % 7)) yield* store.append(record(id, { sessionId: `s${i}`, input: id }))
    }
  })

const checkRule = (root: Tree, count: number) =>
  Effect.gen(function* () {
    const { clashes, leaf, model, seen } = sightings()
    const workflow = build(root, leaf)
    yield* sessions(count)
    const run = (i: number) =>
      Effect.provideService(
        // Whether it is watched makes no difference.
        i % 2 === 0
          ? Workflow.run(workflow, i, { sessionId: `s${i}` })
          : Stream.runDrain(Workflow.stream(workflow, i, { sessionId: `s${i}` })),
        Session,
        `s${i}`
      )
    yield* Effect.provide(
      Effect.forEach(
        Array.from({ length: count }, (_, i) => i),
        run,
        { concurrency: "unbounded" }
      ),
      model
    )
    expect(clashes).toEqual([])
    for (let i = 0; i < count; i++) {
      const all = ids(`s${i}`, i % 7)
      const expected = Array.from(rule(root, all.length), ([name, n]) => [name, n === 0 ? [] : all.slice(-n)])
      expect(Object.fromEntries(seen.get(`s${i}`) ?? [])).toEqual(Object.fromEntries(expected))
    }
  }).pipe(Effect.provide(HistoryStore.layerMemory({ maxSessions: Infinity })))

describe("each step sees exactly the runs that the rule says", () => {
  it.effect.prop(
    "for every tree of nodes and every assignment of policies, in runs at once",
    [tree],
    ([root]) => checkRule(root, 9),
    { fastCheck: { numRuns: 300 } }
  )

  it.effect(
    "with one agent in all steps, in parallel, in 1,000 runs interleaved",
    () => {
      const leaf = (kind: Tree["kind"], policy: Tree["policy"]): Tree => ({ kind, policy, inside: [] })
      return checkRule(
        {
          kind: "parallel",
          policy: { mode: "on", runs: 2 },
          inside: [
            leaf("agent", {}),
            leaf("agent", { runs: "all" }),
            {
              kind: "sequence",
              policy: { mode: "off" },
              inside: [leaf("agent", {}), leaf("step", {}), leaf("agent", { mode: "on" })]
            }
          ]
        },
        1_000
      )
    },
    60_000
  )
})

it.effect.prop(
  "the agents are the very values that they were",
  [tree],
  ([root]) =>
    Effect.gen(function* () {
      const before = { ...shared }
      Object.freeze(shared)
      Object.freeze(shared.tools)
      Object.freeze(shared.options)
      yield* checkRule(root, 3)
      expect({ ...shared }).toEqual(before)
      expect(Instructions.render(shared.instructions)).toBe("Answer.")
    }),
  { fastCheck: { numRuns: 50 } }
)

// -----------------------------------------------------------------------------
// running and streaming
// -----------------------------------------------------------------------------

const inEmptySession = { sessionId: "s", runId: "r" }
const memory = HistoryStore.layerMemory()
const plainModel = ChatModel.layer((request) => ChatModel.reply(ChatModel.question(request)))

it.effect.prop(
  "a stream ends with the result of the run, tells of each node's beginning and end, and leaves the same record",
  [tree],
  ([root]) =>
    Effect.gen(function* () {
      const workflow = build(root, (name) => Effect.succeed(name))
      const kept = Effect.flatMap(HistoryStore.HistoryStore, (store) => store.last("s", 1, ["completed"]))
      const provide = Effect.provide(Layer.merge(Layer.fresh(memory), plainModel))
      const [result, record] = yield* provide(Effect.zip(Workflow.run(workflow, 0, inEmptySession), kept))
      const [events, streamed] = yield* provide(
        Effect.zip(Stream.runCollect(Workflow.stream(workflow, 0, inEmptySession)), kept)
      )
      expect(Option.getOrThrow(Chunk.last(events))).toEqual({ _tag: "Completed", result })
      expect(streamed).toEqual(record)
      const open: Array<string> = []
      for (const event of events) {
        if (event._tag === "NodeStarted") open.push(event.path.join("/"))
        if (event._tag === "NodeFinished" || event._tag === "NodeFailed") {
          const at = open.lastIndexOf(event.path.join("/"))
          expect(at).toBeGreaterThanOrEqual(0)
          open.splice(at, 1)
        }
      }
      expect(open).toEqual([])
    }),
  { fastCheck: { numRuns: 200 } }
)

// -----------------------------------------------------------------------------
// sequences, branches, retries
// -----------------------------------------------------------------------------

/** All that can be seen of a run: its result, its events and its record. */
const observed = (workflow: Workflow.Workflow<number, number, string>) =>
  Effect.gen(function* () {
    const events: Array<unknown> = []
    const exit = yield* Effect.exit(
      Call.runEach(Workflow.call(workflow, 0, inEmptySession), WorkflowEvent.fold<number>(), "live", (event) => {
        events.push({ ...event, cause: undefined })
      })
    )
    const store = yield* HistoryStore.HistoryStore
    return { events, exit, records: yield* store.last("s", 9, ["completed", "failed"]) }
  }).pipe(Effect.provide(Layer.fresh(memory)))

it.effect.prop(
  "a sequence is associative: grouping changes nothing that can be seen",
  [
    FastCheck.array(FastCheck.constantFrom("value", "effect", "late", "failure"), { minLength: 3, maxLength: 8 }),
    FastCheck.infiniteStream(FastCheck.nat())
  ],
  ([kinds, choices]) =>
    Effect.gen(function* () {
      const steps = kinds.map((kind, i) =>
        Node.step(`s${i}`, (n: number): number | Effect.Effect<number, string> => {
          if (kind === "value") return n + 1
          if (kind === "late") return Effect.as(Effect.yieldNow(), n + 2)
          return kind === "effect" ? Effect.succeed(n + 3) : Effect.fail(`s${i}`)
        })
      )
      const grouped = [...steps]
      while (grouped.length > 1) {
        const at = (choices.next().value as number) % (grouped.length - 1)
        grouped.splice(at, 2, Node.andThen(grouped[at]!, grouped[at + 1]!))
      }
      const [first, ...others] = steps
      const one = yield* observed(Workflow.make({ name: "w", node: grouped[0]! }))
      const other = yield* observed(
        Workflow.make({ name: "w", node: Node.sequence(first!, ...others) as (typeof steps)[number] })
      )
      expect(one).toEqual(other)
    })
)

it.effect.prop(
  "results of branches do not depend on when they come",
  [
    FastCheck.array(FastCheck.nat({ max: 20 }), { minLength: 1, maxLength: 8 }),
    FastCheck.option(FastCheck.integer({ min: 1, max: 4 }))
  ],
  ([delays, limit]) =>
    Effect.gen(function* () {
      const step = (i: number, delay: number) => Node.step(`b${i}`, () => Effect.delay(Effect.succeed(i), delay))
      const branches = Object.fromEntries(delays.map((delay, i) => [`b${i}`, step(i, delay)]))
      const node = Node.parallel("p", branches, { concurrency: limit ?? "unbounded" })
      const fiber = yield* Effect.fork(Workflow.run(Workflow.make({ name: "w", node }), 0))
      for (let i = 0; i < delays.length; i++) yield* TestClock.adjust(20)
      const { output } = yield* Fiber.join(fiber)
      expect(Object.entries(output)).toEqual(delays.map((_, i) => [`b${i}`, i]))
    })
)

it.effect.prop(
  "retry runs a node no more often than it may, and no more often than it has to",
  [FastCheck.nat({ max: 6 }), FastCheck.nat({ max: 6 }), FastCheck.boolean(), FastCheck.nat({ max: 8 })],
  ([failures, times, bySchedule, refusedFrom]) =>
    Effect.gen(function* () {
      let runs = 0
      const flaky = Node.step("flaky", () => (runs++ < failures ? Effect.fail(runs) : Effect.succeed(runs)))
      const retried = Node.retry(flaky, {
        ...(bySchedule ? { schedule: Schedule.recurs(times) } : { times }),
        while: (failure) => failure <= refusedFrom
      })
      const exit = yield* Effect.exit(Workflow.run(Workflow.make({ name: "w", node: retried }), 0))
      expect(runs).toBe(1 + Math.min(failures, times, refusedFrom))
      expect(Exit.isSuccess(exit)).toBe(runs > failures)
    })
)

// -----------------------------------------------------------------------------
// interruption
// -----------------------------------------------------------------------------

it.effect.prop(
  "a workflow that is interrupted at any moment leaves no fiber, and leaves every step that it entered",
  [tree, FastCheck.nat({ max: 60 }), FastCheck.boolean()],
  ([root, moment, streamed]) =>
    Effect.gen(function* () {
      const inside = new Set<string>()
      let started = 0
      let over = false
      const leaf: Leaf = (name) =>
        Effect.gen(function* () {
          started++
          expect(over).toBe(false)
          inside.add(name)
          for (let i = 0; i < 5; i++) yield* Effect.yieldNow()
          if (started % 3 === 0) yield* Effect.never
        }).pipe(Effect.ensuring(Effect.sync(() => inside.delete(name))))
      const workflow = build(root, leaf)
      const supervisor = yield* Supervisor.track
      const going = streamed
        ? Stream.runDrain(Workflow.stream(workflow, 0, inEmptySession))
        : Effect.asVoid(Workflow.run(workflow, 0, inEmptySession))
      const provided = Effect.provide(going, Layer.merge(Layer.fresh(memory), plainModel))
      const fiber = yield* Effect.fork(Effect.supervised(provided, supervisor))
      for (let i = 0; i < moment; i++) yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      over = true
      expect([...inside]).toEqual([])
      expect(yield* Effect.map(supervisor.value, (fibers) => fibers.length)).toBe(0)
      const before = started
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow()
      expect(started).toBe(before)
    }),
  { fastCheck: { numRuns: 300 } }
)
