/**
 * Reports as a table, and a conversation as a list.
 */
import { Message } from "@heddle/core"
import type { Conversations } from "@heddle/memory"
import { paint, short, type Terminal, wrapping } from "@heddle/example-quickstart/terminal.ts"
import type { Report } from "./ask.ts"

/** Positions as ranges: `1–4, 7`. */
export const ranges = (positions: ReadonlyArray<number>): string => {
  const found: Array<[from: number, to: number]> = []
  for (const position of positions) {
    const last = found.at(-1)
    if (last !== undefined && position === last[1] + 1) last[1] = position
    else found.push([position, position])
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ")
}

const columns = [
  ["agent", 18],
  ["sees of main", 22],
  ["of its own", 12],
  ["summary", 9],
  ["main", 6],
  ["own", 5]
] as const

const line = (cells: ReadonlyArray<string>): string =>
  `  ${cells.map((cell, i) => cell.padEnd(columns[i]?.[1] ?? 0)).join("")}`.trimEnd()

const grown = (before: number, after: number): string => (after === before ? "·" : `+${after - before}`)

/** What is shown of so many exchanges. */
const part = (shown: ReadonlyArray<number>, total: number): string =>
  total === 0 ? "·" : shown.length === 0 ? `none of ${total}` : `${ranges(shown)} of ${total}`

/** The cells of a report, but for the answer. */
export const cells = ({ after, before, label, seen }: Report): ReadonlyArray<string> => [
  label,
  part(seen.main, before.main) + (seen.goingOn > 0 ? " + now" : ""),
  part(seen.own, before.own),
  seen.summary ? `of 1–${before.summarized}` : "·",
  grown(before.main, after.main),
  grown(before.own, after.own)
]

/** A row for each report, with the answer below it. */
export const table = (terminal: Terminal, reports: ReadonlyArray<Report>): void => {
  terminal.write(`${paint(terminal, "dim", line(columns.map(([name]) => name)))}\n`)
  for (const report of reports) {
    terminal.write(`${line(cells(report)).replace(report.label, (label) => paint(terminal, "cyan", label))}\n`)
    const text = wrapping(terminal, "      ")
    text.push(`“${report.answer}”`)
    text.end()
  }
}

/** An exchange in two lines at the most: who asked what, and the answer. */
export const exchanges = (terminal: Terminal, all: ReadonlyArray<Conversations.Exchange>): void => {
  for (const { agent, messages, position } of all) {
    const [first, last] = [messages[0], messages.at(-1)].map((message) => (message ? Message.text(message) : ""))
    const calls = messages.flatMap(Message.toolCalls).map(({ name }) => ` (with a call of ${name})`)
    const width = terminal.columns - 7
    terminal.write(`  ${String(position).padStart(3)}  ${short(first ?? "", width)}\n`)
    terminal.write(
      `       ${paint(terminal, "cyan", agent)}: ${short((last ?? "") + calls.join(""), width - agent.length - 2)}\n`
    )
  }
}
