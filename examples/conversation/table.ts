/**
 * What is shown: reports as a table, and conversations as lists.
 */
import { Message } from "@heddle/core"
import { paint, short, type Terminal, wrapping } from "@heddle/example-quickstart/terminal.ts"
import type { Conversations } from "@heddle/memory"
import type { Report } from "./ask.ts"

/** The title of a part. */
export const title = (terminal: Terminal, text: string): void =>
  terminal.write(`\n${paint(terminal, "bold", short(text, terminal.columns))}\n`)

/** A text, wrapped. */
export const paragraph = (terminal: Terminal, text: string, indent = "  "): void => {
  const words = wrapping(terminal, indent)
  words.push(text)
  words.end()
}

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
  ["agent", 19],
  ["sees of main", 21],
  ["of its own", 13],
  ["summary", 9],
  ["to main", 9],
  ["to own", 6]
] as const

const line = (cells: ReadonlyArray<string>): string =>
  `  ${cells.map((cell, i) => cell.padEnd(columns[i]?.[1] ?? 0)).join("")}`.trimEnd()

const grown = (before: number, after: number): string => (after === before ? "·" : `+${after - before}`)

/** What is shown of so many exchanges. */
const part = (shown: ReadonlyArray<number>, total: number): string => {
  if (total === 0) return "·"
  if (shown.length === 0) return `none of ${total}`
  const all = ranges(shown)
  return `${all.length > 12 ? `${shown.length} exchanges` : all} of ${total}`
}

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
    paragraph(terminal, `“${report.answer}”`, "      ")
  }
}

/** Each exchange in two lines: what was asked, and who answered what. */
export const exchanges = (terminal: Terminal, all: ReadonlyArray<Conversations.Exchange>): void => {
  for (const { agent, messages, position } of all) {
    const [first, last] = [messages[0], messages.at(-1)].map((message) => (message ? Message.text(message) : ""))
    const calls = messages.flatMap(Message.toolCalls).map(({ name }) => `, with a call of ${name}`)
    const who = agent + calls.join("")
    const width = terminal.columns - 7
    terminal.write(`  ${String(position).padStart(3)}  ${short(first ?? "", width)}\n`)
    terminal.write(`       ${paint(terminal, "cyan", who)}: ${short(last ?? "", width - who.length - 2)}\n`)
  }
}
