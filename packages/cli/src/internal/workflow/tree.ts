/**
 * How the progress of a workflow looks: as a tree, or a line for each change.
 */
import { type WorkflowEvent, WorkflowProgress } from "@heddle/workflow"
import type { Sheet } from "../Output.ts"
import { paint, short } from "../text.ts"

const looks = {
  running: ["•", "cyan"],
  retrying: ["↻", "yellow"],
  done: ["✓", "green"],
  skipped: ["»", "yellow"],
  failed: ["✗", "red"],
  cancelled: ["–", "dim"]
} as const

const seconds = (ms: number): string => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`

/** Letters of a name at the least; where there is no room for more, the time is left out. */
const leastName = 6

/** The tree as lines, none wider than the sheet. */
export const tree = (
  progress: WorkflowProgress.WorkflowProgress,
  now: number,
  sheet: Pick<Sheet, "columns" | "colours">
): ReadonlyArray<string> => {
  const columns = sheet.columns()
  const lines: Array<string> = []
  const draw = (branch: WorkflowProgress.Branch, depth: number): void => {
    const indent = " ".repeat(Math.min(2 * depth, Math.floor(columns / 3)))
    const room = columns - indent.length
    const name = branch.path.at(-1)
    if (branch._tag === "Node") {
      const [mark, colour] = looks[branch.status]
      const time = seconds((branch.endedAt ?? now) - branch.startedAt)
      const said = branch.note === "" ? `${name}` : `${name}  ${branch.note}`
      const left = room - 4 - time.length
      const text = left < leastName ? short(said, room - 2) : `${short(said, left)}  ${paint(sheet, "dim", time)}`
      lines.push(`${indent}${paint(sheet, colour, mark)} ${text}`)
      for (const call of branch.calls) {
        const outcome = outcomeText(call)
        const text = short(`${short(callText(call), Math.max(1, room - outcome.length - 5))} ${outcome}`, room - 4)
        lines.push(`${indent}    ${paint(sheet, "dim", text)}`)
      }
    } else lines.push(`${indent}${short(`${branch._tag.toLowerCase()} ${name}`, room)}`)
    for (const inner of branch.inside) draw(inner, depth + 1)
  }
  for (const branch of progress) draw(branch, 0)
  return lines
}

const callText = ({ arguments: args, name }: WorkflowProgress.ToolCall): string => {
  const values = typeof args === "object" && args !== null ? Object.values(args) : []
  return `${name}(${values.map((value) => JSON.stringify(value)).join(", ")})`
}

const outcomeText = ({ outcome }: WorkflowProgress.ToolCall): string =>
  outcome === "Pending" ? "…" : outcome.toLowerCase()

const longestLine = 200

/** An event as a line, for where nothing can be drawn anew; `undefined` when it changes nothing. */
export const line = (
  progress: WorkflowProgress.WorkflowProgress,
  event: WorkflowEvent.WorkflowEvent
): string | undefined => {
  if (!("path" in event)) return undefined
  const branch = WorkflowProgress.at(progress, event.path)
  if (branch?._tag !== "Node") return undefined
  const told = () => {
    if (event._tag === "Agent") {
      const { event: inner } = event
      if (inner._tag !== "ToolFinished") return undefined
      const call = branch.calls.findLast(({ id }) => id === inner.id)
      return call === undefined ? undefined : `${outcomeText(call)} ${callText(call)}`
    }
    if (event._tag === "NodeFinished" && branch.status === "skipped") return undefined
    const ended = branch.endedAt === undefined ? "" : `, ${seconds(branch.endedAt - branch.startedAt)}`
    return `${branch.status}${ended}${branch.note === "" || event._tag === "NodeFinished" ? "" : ` ${branch.note}`}`
  }
  const text = told()
  return text === undefined ? undefined : short(`${event.path.join(" > ")}: ${text}`, longestLine)
}
