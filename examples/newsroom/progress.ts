/**
 * The progress of a workflow, from its events: a tree of nodes that is drawn anew in
 * its place on a terminal, and a line for each change everywhere else.
 */
import { paint, short, type Terminal } from "@heddle/example-quickstart/terminal.ts"
import { type WorkflowEvent, WorkflowProgress } from "@heddle/workflow"
import { Clock, Effect, Exit, Schedule, Stream } from "effect"

/** Where progress is shown: in place if `rows` are known, else line by line. */
export interface Screen extends Terminal {
  readonly rows?: number
}

// -----------------------------------------------------------------------------
// how it looks
// -----------------------------------------------------------------------------

const looks = {
  running: ["•", "cyan"],
  retrying: ["↻", "yellow"],
  done: ["✓", "green"],
  skipped: ["»", "yellow"],
  failed: ["✗", "red"],
  cancelled: ["–", "dim"]
} as const

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

const callText = ({ arguments: args, name }: WorkflowProgress.ToolCall): string => {
  const values = typeof args === "object" && args !== null ? Object.values(args) : []
  return `${name}(${values.map((value) => JSON.stringify(value)).join(", ")})`
}

const outcomeText = ({ outcome }: WorkflowProgress.ToolCall) => (outcome === "Pending" ? "…" : outcome.toLowerCase())

/** The tree as lines, none wider than the terminal. */
export const render = (
  progress: WorkflowProgress.WorkflowProgress,
  now: number,
  terminal: Terminal
): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const draw = (branch: WorkflowProgress.Branch, indent: string): void => {
    const room = terminal.columns - indent.length
    const name = branch.path.at(-1)
    if (branch._tag === "Node") {
      const [mark, colour] = looks[branch.status]
      const time = seconds((branch.endedAt ?? now) - branch.startedAt)
      const said = short(branch.note === "" ? `${name}` : `${name}  ${branch.note}`, room - time.length - 4)
      lines.push(`${indent}${paint(terminal, colour, mark)} ${said}  ${paint(terminal, "dim", time)}`)
      for (const call of branch.calls) {
        const outcome = outcomeText(call)
        const text = short(callText(call), room - outcome.length - 6)
        lines.push(`${indent}    ${paint(terminal, "dim", `${text} ${outcome}`)}`)
      }
    } else lines.push(`${indent}${branch._tag.toLowerCase()} ${name}`)
    for (const inner of branch.inside) draw(inner, `${indent}  `)
  }
  for (const branch of progress) draw(branch, "  ")
  return lines
}

const longestLine = 200

/** An event as a line, for where nothing can be drawn anew; `undefined` when it changes nothing. */
export const line = (
  progress: WorkflowProgress.WorkflowProgress,
  event: WorkflowEvent.WorkflowEvent
): string | undefined => {
  if (!("path" in event)) return undefined
  const place = event.path.join(" > ")
  const branch = WorkflowProgress.at(progress, event.path)
  const told = () => {
    if (branch?._tag !== "Node") return undefined
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
  return text === undefined ? undefined : `  ${short(`${place}: ${text}`, longestLine)}`
}

// -----------------------------------------------------------------------------
// showing it
// -----------------------------------------------------------------------------

/** Draws lines in the place of those that were drawn before. */
const canvas = (screen: Screen) => {
  let drawn = 0
  return (lines: ReadonlyArray<string>): void => {
    const up = drawn === 0 ? "" : `\u001b[${drawn}A`
    // A line that is wider than it seems is cut by the terminal, as a wrapped one would be left standing.
    screen.write(`${up}\r\u001b[J\u001b[?7l${lines.map((text) => `${text}\n`).join("")}\u001b[?7h`)
    drawn = lines.length
  }
}

/** Runs a workflow's stream to its result, and shows its progress meanwhile. */
export const watch =
  (screen: Screen) =>
  <Out, E, R>(events: Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E, R>) =>
    Effect.gen(function* () {
      let progress = WorkflowProgress.empty
      let result: WorkflowEvent.WorkflowResult<Out> | undefined
      const { rows } = screen
      const draw = canvas(screen)
      const redraw = Effect.map(Clock.currentTimeMillis, (now) => {
        if (rows === undefined) return
        const lines = render(progress, now, screen)
        // The cursor gets no further up than the first line that can be seen.
        const most = Math.max(1, rows - 1)
        draw(lines.length <= most ? lines : ["  …", ...lines.slice(lines.length - most + 1)])
      })
      const told = (event: WorkflowEvent.WorkflowEvent<Out>) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (event._tag === "Completed") result = event.result
          if (event._tag === "Warning") screen.write(`  ${short(event.error.message, screen.columns - 2)}\n`)
          const before = progress
          progress = WorkflowProgress.update(progress, event, now)
          if (rows !== undefined) return progress === before ? Effect.void : redraw
          const text = line(progress, event)
          return text === undefined ? Effect.void : Effect.sync(() => screen.write(`${text}\n`))
        })
      // In whole at the end: what could not be seen can then be scrolled to.
      const last = (exit: Exit.Exit<unknown, unknown>) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (Exit.isInterrupted(exit)) progress = WorkflowProgress.update(progress, { _tag: "Cancelled" }, now)
          if (rows !== undefined) draw(render(progress, now, screen))
        })
      yield* Effect.scoped(
        Effect.gen(function* () {
          // Time goes on between the events, too.
          if (rows !== undefined) yield* Effect.forkScoped(Effect.repeat(redraw, Schedule.spaced("200 millis")))
          yield* Stream.runForEach(events, told)
        })
      ).pipe(Effect.onExit(last))
      // A stream that does not fail has ended with `Completed`.
      return result ?? (yield* Effect.dieMessage("The run has ended without a result."))
    })
