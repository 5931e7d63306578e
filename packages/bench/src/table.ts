/** Results as a table for people. */
import type { Result, Subject } from "./measure.ts"

/** What a case must reach: `times` the bare Effect loop, or `most` of its unit. */
export interface Target {
  readonly times?: number
  readonly most?: number
}

const figure = (n: number) => {
  const digits = Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2
  return n.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

const spread = (result: Result | undefined) =>
  result === undefined ? "–" : `${figure(result.median)} (${figure(result.min)}–${figure(result.max)})`

const ratio = (a: Result | undefined, b: Result | undefined) =>
  a === undefined || b === undefined || b.median <= 0 ? "–" : `${figure(a.median / b.median)}×`

const targetOf = (
  target: Target | undefined,
  heddle: Result | undefined,
  effect: Result | undefined
): ReadonlyArray<string> => {
  const goals = [
    ...(target?.times !== undefined && heddle && effect
      ? [{ text: `≤ ${target.times}× effect`, met: heddle.median <= target.times * effect.median }]
      : []),
    ...(target?.most !== undefined && heddle
      ? [{ text: `≤ ${target.most} ${heddle.unit}`, met: heddle.median <= target.most }]
      : [])
  ]
  return goals.length === 0
    ? ["", ""]
    : [goals.map((goal) => goal.text).join(", "), goals.every((goal) => goal.met) ? "met" : "missed"]
}

const header = ["case", "unit", "heddle", "effect", "javascript", "/effect", "/javascript", "target", ""]

/** One row a case; figures are medians, with minimum and maximum. */
export const table = (results: ReadonlyArray<Result>, targets: Readonly<Record<string, Target>>): string => {
  const names = [...new Set(results.map((result) => result.case))]
  const rows = names.map((name) => {
    const of = (subject: Subject) => results.find((result) => result.case === name && result.subject === subject)
    const [heddle, effect, javascript] = [of("heddle"), of("effect"), of("javascript")]
    const unit = (heddle ?? effect ?? javascript)?.unit ?? ""
    return [
      name,
      unit,
      spread(heddle),
      spread(effect),
      spread(javascript),
      ratio(heddle, effect),
      ratio(heddle, javascript),
      ...targetOf(targets[name], heddle, effect)
    ]
  })
  const widths = header.map((title, i) => Math.max(title.length, 3, ...rows.map((row) => row[i]!.length)))
  const line = (cells: ReadonlyArray<string>) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}
