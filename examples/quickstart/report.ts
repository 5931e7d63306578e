/**
 * A run, told as it happens.
 */
import { type AgentEvent, type AgentRun, type Call, type History, Message } from "@heddle/core"
import { paint, short, type Terminal, wrapping } from "./terminal.ts"

/** The title of a part of the report. */
export const title = (terminal: Terminal, text: string): void => terminal.write(`\n${paint(terminal, "bold", text)}\n`)

const args = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([key, field]) => `${key}: ${JSON.stringify(field)}`)
        .join(", ")
    : String(value)

const size = (value: unknown): string =>
  Array.isArray(value)
    ? value.length === 1
      ? "1 entry"
      : `${value.length} entries`
    : typeof value === "string"
      ? `${value.length.toLocaleString("en")} characters`
      : short(JSON.stringify(value) ?? "", 40)

const outcome = (terminal: Terminal, told: Message.ToolOutcome, room: number): string => {
  switch (told._tag) {
    case "Succeeded":
      return `${paint(terminal, "green", "ok")}, ${size(told.result)}`
    case "Denied":
      return `${paint(terminal, "yellow", "denied")}: ${short(told.reason, room - 8)}`
    case "Failed":
      return `${paint(terminal, "red", "failed")}: ${short(Message.renderOutcome(told), room - 8)}`
    case "Cancelled":
    case "Pending":
      return "cancelled"
  }
}

/** Tells each event of a run. What the model says is written as it comes. */
export const reporter = (terminal: Terminal) => {
  const text = wrapping(terminal)
  const called = new Map<string, string>()
  let speaking = false
  const pause = () => {
    if (speaking) text.end()
    speaking = false
  }
  return (event: AgentEvent.AgentEvent<AgentRun.AgentResult<string>> | Call.Reset): void => {
    switch (event._tag) {
      case "Text":
        if (!speaking) title(terminal, "Answer")
        speaking = true
        return text.push(event.text)
      case "StepStarted":
        pause()
        return terminal.write(`  step ${event.step}\n`)
      case "ToolCall": {
        pause()
        const call = short(`${event.name}(${args(event.arguments)})`, terminal.columns - 6)
        called.set(event.id, short(call, 44))
        return terminal.write(`    > ${paint(terminal, "cyan", call)}\n`)
      }
      case "ToolFinished": {
        const call = called.get(event.id) ?? event.name
        return terminal.write(
          `    < ${call}: ${outcome(terminal, event.outcome, terminal.columns - call.length - 8)}\n`
        )
      }
      case "StepReset":
      case "Reset":
        pause()
        return terminal.write("    (begins anew)\n")
      case "Completed":
        return pause()
      case "Failed":
      case "Cancelled":
        pause()
        return terminal.write(`  ${paint(terminal, "red", event._tag.toLowerCase())}\n`)
      default:
        return
    }
  }
}

const pathIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "object" && value !== null && "path" in value ? [String(value.path)] : []

/** The documents that tools gave something of and that the answer names. */
export const sources = (history: History.History, answer: string): ReadonlyArray<string> => {
  const seen = history.flatMap(Message.toolCalls).flatMap(({ arguments: args, outcome }) => {
    if (outcome._tag !== "Succeeded") return []
    return [...pathIn(args), ...(Array.isArray(outcome.result) ? outcome.result.flatMap(pathIn) : [])]
  })
  return Array.from(new Set(seen)).filter((path) => answer.includes(path))
}
