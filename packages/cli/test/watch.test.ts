import { Asking, type Service as AskingService } from "../src/internal/Asking.ts"
import { describe, expect, it } from "@effect/vitest"
import { Node, Workflow } from "@heddle/workflow"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import type { Sheet } from "../src/internal/Output.ts"
import { watch } from "../src/internal/workflow/watch.ts"

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

const screen = (
  size: Partial<{ readonly columns: number; readonly rows: number; readonly isTerminal: boolean }> = {}
) => {
  let written = ""
  const { columns = 60, isTerminal = true, rows = 24 } = size
  const sheet: Sheet = {
    write: (text) => Effect.sync(() => void (written += text)),
    isTerminal,
    colours: false,
    columns: () => columns,
    rows: () => rows
  }
  return { sheet, lines: () => shown(written), written: () => written }
}

const nobody: AskingService = { ask: () => Effect.die("not asked for") }

const workflow = Workflow.make({
  name: "work",
  node: Node.loop(
    "count",
    Node.step("wait", (n: number) => Effect.delay(Effect.succeed(n + 1), "1 second")),
    { until: (n) => n >= 2, max: 5, onMax: "stop" }
  )
})

const watching = (sheet: Sheet) =>
  Effect.fork(watch(sheet)(Workflow.stream(workflow, 0)).pipe(Effect.provideService(Asking, nobody)))

describe("watching a workflow", () => {
  it.effect("draws the tree anew in its place, also when only time has passed", () =>
    Effect.gen(function* () {
      const { lines, sheet } = screen()
      const fiber = yield* watching(sheet)
      yield* TestClock.adjust("600 millis")
      expect(lines()).toEqual(["• count  0.6 s", "  round 1", "    • wait  0.6 s", ""])
      yield* TestClock.adjust("2 seconds")
      expect((yield* Fiber.join(fiber)).output).toBe(2)
      expect(lines()).toEqual([
        "✓ count  2.0 s",
        "  round 1",
        "    ✓ wait  1.0 s",
        "  round 2",
        "    ✓ wait  1.0 s",
        ""
      ])
    })
  )

  it.effect("draws no more than there is room for, until it is over", () =>
    Effect.gen(function* () {
      const { lines, sheet } = screen({ rows: 5 })
      const fiber = yield* watching(sheet)
      yield* TestClock.adjust("1600 millis")
      expect(lines()).toEqual(["…", "    ✓ wait  1.0 s", "  round 2", "    • wait  0.6 s", ""])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      expect(lines()).toHaveLength(6)
    })
  )

  it.effect("writes a line for each change where nothing can be drawn anew, or the terminal is too small", () =>
    Effect.gen(function* () {
      const expected = [
        "count: running",
        "count > 1 > wait: running",
        "count > 1 > wait: done, 1.0 s",
        "count > 2 > wait: running",
        "count > 2 > wait: done, 1.0 s",
        "count: done, 2.0 s",
        ""
      ]
      for (const size of [{ isTerminal: false }, { columns: 10 }, { rows: 3 }]) {
        const { sheet, written } = screen(size)
        const fiber = yield* watching(sheet)
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(fiber)
        expect(written().split("\n")).toEqual(expected)
      }
    })
  )

  it.effect("shows what was interrupted as cancelled, and lets no clock go on", () =>
    Effect.gen(function* () {
      const { lines, sheet, written } = screen()
      const fiber = yield* watching(sheet)
      yield* TestClock.adjust("600 millis")
      yield* Fiber.interrupt(fiber)
      expect(lines()).toContain("    – wait  0.6 s")
      const before = written()
      yield* TestClock.adjust("1 minute")
      expect(written()).toBe(before)
    })
  )

  it.effect("leaves the place to a question while it is asked", () =>
    Effect.gen(function* () {
      const { lines, sheet } = screen()
      const answer = yield* Deferred.make<string>()
      const asking: AskingService = {
        ask: (question) => Effect.zipRight(sheet.write(question), Deferred.await(answer))
      }
      const asks = Workflow.make({
        name: "asks",
        node: Node.step("ask", () => Effect.flatMap(Asking, ({ ask }) => Effect.delay(ask("May I? "), "1 second")))
      })
      const fiber = yield* Effect.fork(
        watch(sheet)(Workflow.stream(asks, 0)).pipe(Effect.provideService(Asking, asking))
      )
      yield* TestClock.adjust("3 seconds")
      expect(lines()).toEqual(["May I? "])
      yield* sheet.write("\n")
      yield* Deferred.succeed(answer, "yes")
      yield* Fiber.join(fiber)
      expect(lines()).toEqual(["May I? ", "✓ ask  3.0 s", ""])
    })
  )
})
