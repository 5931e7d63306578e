import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Timeline from "../timeline.ts"

describe("the timeline", () => {
  it("shows when each call began and how long it took", () => {
    const chart = Timeline.calls([
      { label: "search", startedAt: 110, endedAt: 120 },
      { label: "model call 1", startedAt: 100, endedAt: 110 }
    ])
    const lines = chart.split("\n")
    expect(lines[0]).toMatch(/^ {2}model call 1 {21}█+▌ +10\.0 ms$/)
    expect(lines[1]).toMatch(/^ {2}search {27} {16}█+▌ +10\.0 ms$/)
  })

  it("adds up what each hook took for itself", () => {
    const seen = (self: number) => ({ handler: "cache", hook: "wrapToolCall" as const, startedAt: 0, endedAt: 9, self })
    expect(Timeline.handlers([seen(1), seen(2)])).toMatch(/^ {2}cache wrapToolCall +█+ +2 × +3\.00 ms$/)
  })

  it("says so when nothing ran", () => {
    expect(Timeline.calls([])).toBe("  No calls were made.")
    expect(Timeline.handlers([])).toBe("  No handlers ran.")
  })

  const span = fc.record({
    label: fc.string(),
    startedAt: fc.integer({ min: 0, max: 1e9 }),
    length: fc.double({ min: 0, max: 1e9, noNaN: true })
  })

  it.prop(
    "every line fits the width, whatever took how long",
    [fc.array(span, { minLength: 1, maxLength: 10 })],
    ([spans]) => {
      const lines = Timeline.calls(spans.map((s) => ({ ...s, endedAt: s.startedAt + s.length }))).split("\n")
      expect(lines).toHaveLength(spans.length)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(84)
    }
  )

  it.prop(
    "a bar is as wide as its chart and never empty",
    [fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })],
    ([a, b]) => {
      const bar = Timeline.bar(Math.min(a, b), Math.max(a, b), 20)
      expect(bar).toHaveLength(20)
      expect(bar.trim()).not.toBe("")
    }
  )
})
