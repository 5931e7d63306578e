import { Node, Workflow, type WorkflowEvent, WorkflowProgress } from "@heddle/workflow"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream, TestClock } from "effect"
import { line, render, type Screen, watch } from "../progress.ts"

const plain: Screen = { write: () => undefined, columns: 60, colours: false }

type Event = WorkflowEvent.WorkflowEvent

const started = (path: WorkflowEvent.Path, kind: WorkflowEvent.NodeKind = "step"): Event => ({
  _tag: "NodeStarted",
  path,
  kind,
  input: undefined
})
const finished = (path: WorkflowEvent.Path): Event => ({ _tag: "NodeFinished", path, output: undefined })

/** What is known after events that come 100 ms apart. */
const after = (...events: ReadonlyArray<Event>): WorkflowProgress.WorkflowProgress =>
  events.reduce((progress, event, i) => WorkflowProgress.update(progress, event, i * 100), WorkflowProgress.empty)

/** What a terminal shows after some output, if no line is too long for it. */
const shown = (output: string): ReadonlyArray<string> => {
  const lines = [""]
  let row = 0
  // oxlint-disable-next-line no-control-regex -- what steers a terminal begins with one
  for (const [token] of output.matchAll(/\u001b\[\??\d*[A-Za-z]|[\r\n]|[^\u001b\r\n]+/g)) {
    if (token === "\n") lines[++row] ??= ""
    else if (token === "\u001b[J") lines.splice(row, Infinity, "")
    else if (token.endsWith("A") && token.startsWith("\u001b[")) row -= Number(token.slice(2, -1))
    else if (token !== "\r" && !token.startsWith("\u001b")) lines[row] += token
  }
  return lines
}

describe("the tree", () => {
  it("shows nodes inside of each other, running, done, failed and cancelled, with their times", () => {
    const progress = after(
      started(["plan"]),
      finished(["plan"]),
      started(["draft"], "parallel"),
      started(["draft", "a"]),
      started(["draft", "b"], "agent"),
      {
        _tag: "Agent",
        path: ["draft", "b"],
        event: { _tag: "ToolStarted", step: 1, id: "1", name: "search", arguments: { query: "x" } }
      },
      { _tag: "NodeFailed", path: ["draft", "a"], error: new Error("no ink"), cause: expect.anything() },
      { _tag: "NodeCancelled", path: ["draft", "b"] }
    )
    expect(render(progress, 1_000, plain)).toEqual([
      "  ✓ plan  0.1 s",
      "  • draft  0.8 s",
      "    ✗ a no ink  0.3 s",
      "    – b  0.3 s",
      '        search("x") …'
    ])
  })

  it("numbers the rounds of a loop and the elements of an array", () => {
    const progress = after(
      started(["loop"], "loop"),
      started(["loop", 1, "x"]),
      finished(["loop", 1, "x"]),
      started(["loop", 2, "x"]),
      started(["each"], "each"),
      started(["each", 0, "y"])
    )
    expect(render(progress, 500, plain)).toEqual([
      "  • loop  0.5 s",
      "    round 1",
      "      ✓ x  0.1 s",
      "    round 2",
      "      • x  0.2 s",
      "  • each  0.1 s",
      "    element 0",
      "      • y  0.0 s"
    ])
  })

  it("takes back what a retry takes back", () => {
    const progress = after(started(["a"], "sequence"), started(["a", "b"]), {
      _tag: "NodeRetrying",
      path: ["a"],
      attempt: 2,
      error: new Error("oh")
    })
    expect(render(progress, 200, plain)).toEqual(["  ↻ a attempt 2 after: oh  0.2 s"])
  })

  it("no line is wider than the terminal, and no name steers it", () => {
    const name = `\u001b[31m\n\u202e${"wide ".repeat(50)}`
    const [only, ...more] = render(after(started([name])), 0, plain)
    expect(more).toEqual([])
    expect(only!.length).toBeLessThanOrEqual(plain.columns)
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(only).not.toMatch(/[\u0000-\u001f\u202e]/)
  })

  it("has colours where they are wanted, and nowhere else", () => {
    const progress = after(started(["a"]))
    expect(render(progress, 0, { ...plain, colours: true })[0]).toContain("\u001b[36m•\u001b[0m a")
    expect(render(progress, 0, plain)).toEqual(["  • a  0.0 s"])
  })
})

const workflow = Workflow.make({
  name: "work",
  node: Node.sequence(
    Node.step("shaky", (n: number) => Effect.fail(`failed at ${n}`)).pipe(Node.retry({ times: 1 }), Node.orSkip),
    Node.loop(
      "count",
      Node.step("wait", (n: number) => Effect.delay(Effect.succeed(n + 1), "1 second")),
      {
        until: (n) => n >= 2,
        max: 5,
        onMax: "stop"
      }
    ),
    Node.condition("big?", { if: (n: number) => n > 5, onTrue: Node.step("shrink", (n: number) => n - 5) })
  )
})

const watching = (rows: number | undefined) =>
  Effect.gen(function* () {
    let output = ""
    const screen = { ...plain, write: (text: string) => void (output += text), ...(rows === undefined ? {} : { rows }) }
    const fiber = yield* Effect.fork(watch(screen)(Workflow.stream(workflow, 0)))
    return { fiber, output: () => output }
  })

describe("watching a run", () => {
  it.effect("draws the tree anew in its place, also when only time has passed", () =>
    Effect.gen(function* () {
      const { fiber, output } = yield* watching(24)
      yield* TestClock.adjust("600 millis")
      expect(shown(output())).toEqual([
        "  » shaky failed at 0  0.0 s",
        "  • count  0.6 s",
        "    round 1",
        "      • wait  0.6 s",
        ""
      ])
      yield* TestClock.adjust("2 seconds")
      expect((yield* Fiber.join(fiber)).output).toBe(2)
      expect(shown(output())).toEqual([
        "  » shaky failed at 0  0.0 s",
        "  ✓ count  2.0 s",
        "    round 1",
        "      ✓ wait  1.0 s",
        "    round 2",
        "      ✓ wait  1.0 s",
        "  ✓ big? → false  0.0 s",
        ""
      ])
    })
  )

  it.effect("draws no more than the terminal has room for, until it is over", () =>
    Effect.gen(function* () {
      const { fiber, output } = yield* watching(4)
      yield* TestClock.adjust("600 millis")
      expect(shown(output())).toEqual(["  …", "    round 1", "      • wait  0.6 s", ""])
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      expect(shown(output())).toHaveLength(8)
    })
  )

  it.effect("writes a line for each change where nothing can be drawn anew", () =>
    Effect.gen(function* () {
      const { fiber, output } = yield* watching(undefined)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      expect(output().split("\n")).toEqual([
        "  shaky: running",
        "  shaky: retrying attempt 2 after: failed at 0",
        "  shaky: skipped failed at 0",
        "  count: running",
        "  count > 1 > wait: running",
        "  count > 1 > wait: done, 1.0 s",
        "  count > 2 > wait: running",
        "  count > 2 > wait: done, 1.0 s",
        "  count: done, 2.0 s",
        "  big?: running",
        "  big?: running → false",
        "  big?: done, 0.0 s",
        ""
      ])
    })
  )

  it.effect("shows what was interrupted as cancelled, and lets no clock go on", () =>
    Effect.gen(function* () {
      const { fiber, output } = yield* watching(24)
      yield* TestClock.adjust("600 millis")
      yield* Fiber.interrupt(fiber)
      expect(shown(output())).toContain("      – wait  0.6 s")
      const before = output()
      yield* TestClock.adjust("1 minute")
      expect(output()).toBe(before)
    })
  )

  it("tells the outcome of a tool call", () => {
    const path = ["a"]
    const call = { step: 1, id: "1", name: "search" }
    const outcome = { _tag: "Denied", reason: "no" } as const
    const event: Event = { _tag: "Agent", path, event: { _tag: "ToolFinished", ...call, outcome } }
    const begun: Event = { _tag: "Agent", path, event: { _tag: "ToolStarted", ...call, arguments: {} } }
    expect(line(after(started(path, "agent"), begun, event), event)).toBe("  a: denied search()")
  })

  it.effect("fails as the run fails", () =>
    Effect.gen(function* () {
      const failing = Stream.fail("broken")
      expect(yield* Effect.flip(watch(plain)(failing))).toBe("broken")
    })
  )
})
