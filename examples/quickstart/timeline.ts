/**
 * A run as a chart in plain text.
 */
import type { Pipeline } from "@heddle/core"
import { short } from "./terminal.ts"
import type { Span } from "./timing.ts"

const labelWidth = 32
const figureWidth = 10

const ms = (n: number): string => `${n.toFixed(n < 9.95 ? 2 : n < 99.5 ? 1 : 0)} ms`

const row = (label: string, chart: string, figure: string): string =>
  `  ${short(label, labelWidth).padEnd(labelWidth)} ${chart} ${figure.padStart(figureWidth)}`

const eighths = " ▏▎▍▌▋▊▉"

/** A bar that begins at `from` and ends at `to`, as parts of `width`. One that is too short to see is a hairline. */
export const bar = (from: number, to: number, width: number): string => {
  const start = Math.min(width - 1, Math.max(0, Math.floor(from * width)))
  const length = Math.min(width - start, Math.max(1 / 8, (Math.min(1, to) - Math.max(0, from)) * width))
  const whole = Math.floor(length)
  const rest = Math.round((length - whole) * 8)
  const body = rest === 8 ? "█".repeat(whole + 1) : "█".repeat(whole) + (rest > 0 ? eighths[rest]! : "")
  return (" ".repeat(start) + body).slice(0, width).padEnd(width)
}

/** When each call of a run began and how long it took. */
export const calls = (spans: ReadonlyArray<Span>, columns = 80): string => {
  if (spans.length === 0) return "  No calls were made."
  const first = Math.min(...spans.map((span) => span.startedAt))
  const total = Math.max(...spans.map((span) => span.endedAt)) - first || 1e-9
  const width = Math.max(8, columns - labelWidth - figureWidth - 5)
  return spans
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ endedAt, label, startedAt }) =>
      row(label, bar((startedAt - first) / total, (endedAt - first) / total, width), ms(endedAt - startedAt))
    )
    .join("\n")
}

/** How much time each hook took for itself, all its calls together. */
export const handlers = (seen: ReadonlyArray<Pipeline.Seen>, columns = 80): string => {
  if (seen.length === 0) return "  No handlers ran."
  const sums = new Map<string, { self: number; times: number }>()
  for (const { handler, hook, self } of seen) {
    const label = `${handler} ${hook}`
    const sum = sums.get(label) ?? { self: 0, times: 0 }
    sums.set(label, { self: sum.self + self, times: sum.times + 1 })
  }
  const longest = Math.max(...Array.from(sums.values(), ({ self }) => self)) || 1e-9
  const width = Math.max(8, columns - labelWidth - figureWidth - 5 - 5)
  return Array.from(sums, ([label, { self, times }]) =>
    row(label, bar(0, self / longest, width), `${String(times).padStart(3)} × ${ms(self).padStart(figureWidth - 1)}`)
  ).join("\n")
}
