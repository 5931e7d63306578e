/** What is said in one line of what happens in a run. */
import type { Message } from "@heddle/core"
import { describe } from "../failure.ts"
import type { Sheet } from "../Output.ts"
import { clean, paint, short, widthOf } from "../text.ts"
import { unkept } from "./errors.ts"

/** A call of a tool, as far as it is known. */
export interface ToolCall {
  readonly name: string
  readonly arguments: unknown
}

/** Columns of a line where nobody knows how many there are. */
const unknown = 200

/** Columns in which a reason can be read; where there are fewer it gets a line of its own. */
const readable = 30

/** Columns that a line may have: one is left, since a terminal begins a new line behind the last. */
const room = (sheet: Sheet): number => {
  // Some terminals say that they have none.
  const columns = sheet.columns() > 0 ? sheet.columns() : 80
  return sheet.isTerminal ? Math.max(10, columns - 1) : unknown
}

/** Arguments, as short as they can be understood. */
const argumentsOf = ({ arguments: args }: ToolCall, length: number): string => {
  const one = (value: unknown) =>
    typeof value === "string" ? JSON.stringify(value.slice(0, unknown)) : (JSON.stringify(value) ?? "")
  const fields = typeof args === "object" && args !== null && !Array.isArray(args) ? Object.entries(args) : []
  const text = fields.length === 0 ? "" : fields.map(([key, value]) => `${key}: ${one(value)}`).join(", ")
  return text === "" || length < 6 ? "" : `(${short(text, length - 2)})`
}

/** Elapsed time, for a person. */
const time = (milliseconds: number): string => {
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)}s`
  return `${Math.floor(seconds / 60)}m ${Math.floor(seconds % 60)}s`
}

const marks = {
  Succeeded: ["✓", "green"],
  Failed: ["✗", "red"],
  Denied: ["–", "yellow"],
  Cancelled: ["–", "yellow"],
  Pending: ["…", "dim"]
} as const

/** What the person is told of an outcome besides its mark. */
const outcomeText = (outcome: Message.ToolOutcome): string => {
  switch (outcome._tag) {
    case "Failed":
      return outcome.reason
    case "Denied":
      return `not allowed: ${outcome.reason}`
    case "Cancelled":
      return "cancelled"
    default:
      return ""
  }
}

/** A call that has ended: what was called with what, how that ended and how long it took. */
export const finishedLine = (
  sheet: Sheet,
  call: ToolCall,
  outcome: Message.ToolOutcome,
  milliseconds: number,
  indent: number
): string => {
  const [mark, colour] = marks[outcome._tag]
  const said = outcomeText(outcome)
  const width = room(sheet) - indent
  const took = ` ${time(milliseconds)}`
  const name = short(call.name, width - 2)
  const rest = width - 2 - widthOf(name) - took.length
  // Why it went wrong is worth more than what with.
  const args = argumentsOf(call, said === "" ? rest : Math.floor(rest / 3))
  const left = rest - widthOf(args) - 2
  const line = `${" ".repeat(indent)}${paint(sheet, colour, mark)} ${name}${paint(sheet, "dim", `${args}${rest >= 0 ? took : ""}`)}`
  if (said === "") return line
  return left >= Math.min(readable, widthOf(said))
    ? `${line}: ${short(said, left)}`
    : `${line}\n${" ".repeat(indent + 2)}${short(said, width - 2)}`
}

/** A call in which there is more to see. */
export const startedLine = (sheet: Sheet, call: ToolCall, indent: number): string => {
  const left = room(sheet) - indent - 2
  const name = short(call.name, left)
  return `${" ".repeat(indent)}${paint(sheet, "cyan", "▸")} ${name}${paint(sheet, "dim", argumentsOf(call, left - widthOf(name)))}`
}

/** Something that went wrong without ending the run. It is told whole. */
export const warningLine = (sheet: Sheet, handler: string, error: unknown, indent: number): string => {
  const reason = unkept(error)
  const text = reason === undefined ? `${handler}: ${describe(error)}` : `not kept: ${reason}`
  return `${" ".repeat(indent)}${paint(sheet, "yellow", "!")} ${clean(text)}`
}

/** What was shown does not count. */
export const resetLine = (sheet: Sheet, indent: number): string =>
  `${" ".repeat(indent)}${paint(sheet, "yellow", short("↺ What stands above does not count: it begins anew.", room(sheet) - indent))}`

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

/** The line that is drawn while nothing comes. */
export const waitingLine = (sheet: Sheet, waitingFor: string, milliseconds: number): string => {
  const frame = frames[Math.floor(milliseconds / 100) % frames.length]!
  const elapsed = ` ${Math.floor(milliseconds / 1000)}s`
  const what = short(waitingFor, room(sheet) - 2 - elapsed.length)
  return `${paint(sheet, "cyan", frame)} ${what}${paint(sheet, "dim", elapsed)}`
}
