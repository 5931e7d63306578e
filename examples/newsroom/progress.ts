/**
 * The progress of a workflow, from its events: a tree of nodes that is drawn anew in
 * its place on a terminal, and a line for each change everywhere else.
 */
import { describe } from "@heddle/example-quickstart/runMain.ts"
import { paint, short, type Terminal } from "@heddle/example-quickstart/terminal.ts"
import type { WorkflowEvent } from "@heddle/workflow"
import { Clock, Effect, Exit, Schedule, Stream } from "effect"

type Event = WorkflowEvent.WorkflowEvent
type Path = WorkflowEvent.Path

/** Where progress is shown: in place if `rows` are known, else line by line. */
export interface Screen extends Terminal {
  readonly rows?: number
}

type Status = "running" | "retrying" | "done" | "skipped" | "failed" | "cancelled"

interface ToolCall {
  readonly id: string
  readonly step: number
  readonly text: string
  readonly outcome?: string
}

interface Entry {
  readonly path: Path
  readonly kind: WorkflowEvent.NodeKind
  readonly status: Status
  readonly startedAt: number
  readonly endedAt?: number
  readonly note: string
  readonly calls: ReadonlyArray<ToolCall>
}

/** The nodes that have started, by their paths, in the order in which they did. */
export type Progress = ReadonlyMap<string, Entry>

export const empty: Progress = new Map()

// -----------------------------------------------------------------------------
// what is known
// -----------------------------------------------------------------------------

const keyOf = (path: Path) => JSON.stringify(path)

const isOver = ({ status }: Entry) => status !== "running" && status !== "retrying"

const change = (self: Progress, path: Path, f: (entry: Entry) => Partial<Entry>): Progress => {
  const entry = self.get(keyOf(path))
  return entry === undefined ? self : new Map(self).set(keyOf(path), { ...entry, ...f(entry) })
}

const isInside = (path: Path, outer: Path) =>
  path.length > outer.length && outer.every((name, depth) => path[depth] === name)

/** What is known after an event. The same value when the event changes nothing. */
export const update = (self: Progress, event: Event, now: number): Progress => {
  switch (event._tag) {
    case "NodeStarted": {
      const { kind, path } = event
      return new Map(self).set(keyOf(path), { path, kind, status: "running", startedAt: now, note: "", calls: [] })
    }
    case "NodeFinished":
      return change(self, event.path, ({ status }) => ({
        status: status === "skipped" ? status : "done",
        endedAt: now
      }))
    case "NodeFailed":
      return change(self, event.path, () => ({ status: "failed", endedAt: now, note: describe(event.error) }))
    case "NodeCancelled":
      return change(self, event.path, () => ({ status: "cancelled", endedAt: now }))
    case "NodeRetrying": {
      const kept = new Map([...self].filter(([, { path }]) => !isInside(path, event.path)))
      const note = `attempt ${event.attempt} after: ${describe(event.error)}`
      return change(kept, event.path, () => ({ status: "retrying", note, calls: [] }))
    }
    case "NodeSkipped":
      return change(self, event.path, () => ({ status: "skipped", note: describe(event.error) }))
    case "NodeFellBack":
      return change(self, event.path, () => ({ note: `fallback after: ${describe(event.error)}` }))
    case "Chosen":
      return change(self, event.path, () => ({ note: `→ ${event.choice}` }))
    case "Agent": {
      const before = self.get(keyOf(event.path))?.calls ?? []
      const calls = toolCalls(before, event.event)
      return calls === before ? self : change(self, event.path, () => ({ calls }))
    }
    case "Completed":
    case "Failed":
    case "Cancelled":
      // Whoever stops looking is not told how the nodes end.
      return new Map(
        [...self].map(([key, entry]) => [key, isOver(entry) ? entry : { ...entry, status: "cancelled", endedAt: now }])
      )
    case "RunStarted":
    case "Warning":
      return self
  }
}

const toolCalls = (
  calls: ReadonlyArray<ToolCall>,
  event: Extract<Event, { readonly _tag: "Agent" }>["event"]
): ReadonlyArray<ToolCall> => {
  switch (event._tag) {
    case "ToolStarted":
      return [...calls, { id: event.id, step: event.step, text: `${event.name}(${argumentsOf(event.arguments)})` }]
    case "ToolFinished":
      return calls.map((call) =>
        call.id === event.id && call.step === event.step ? { ...call, outcome: event.outcome._tag.toLowerCase() } : call
      )
    case "StepReset":
      return calls.filter((call) => call.step !== event.step)
    case "Reset":
      return []
    default:
      return calls
  }
}

const argumentsOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.values(value)
        .map((field) => JSON.stringify(field))
        .join(", ")
    : ""

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

/** A node with what is inside of it. Rounds and elements have a number in place of a name, and no entry. */
interface Branch {
  readonly path: Path
  readonly entry: Entry | undefined
  readonly inside: Array<Branch>
}

const tree = (self: Progress): ReadonlyArray<Branch> => {
  const root: Branch = { path: [], entry: undefined, inside: [] }
  const branches = new Map([[keyOf([]), root]])
  const at = (path: Path): Branch => {
    const known = branches.get(keyOf(path))
    if (known !== undefined) return known
    const branch: Branch = { path, entry: self.get(keyOf(path)), inside: [] }
    branches.set(keyOf(path), branch)
    at(path.slice(0, -1)).inside.push(branch)
    return branch
  }
  for (const { path } of self.values()) at(path)
  return root.inside
}

/** The tree as lines, none wider than the terminal. */
export const render = (self: Progress, now: number, terminal: Terminal): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const draw = ({ entry, inside, path }: Branch, indent: string): void => {
    const room = terminal.columns - indent.length
    const name = path.at(-1)
    if (entry === undefined) {
      const isElement = self.get(keyOf(path.slice(0, -1)))?.kind === "each"
      lines.push(`${indent}${isElement ? "element" : "round"} ${name}`)
    } else {
      const [mark, colour] = looks[entry.status]
      const time = seconds((entry.endedAt ?? now) - entry.startedAt)
      const said = short(entry.note === "" ? `${name}` : `${name}  ${entry.note}`, room - time.length - 4)
      lines.push(`${indent}${paint(terminal, colour, mark)} ${said}  ${paint(terminal, "dim", time)}`)
      for (const { outcome = "…", text } of entry.calls) {
        lines.push(`${indent}    ${paint(terminal, "dim", `${short(text, room - outcome.length - 6)} ${outcome}`)}`)
      }
    }
    for (const branch of inside) draw(branch, `${indent}  `)
  }
  for (const branch of tree(self)) draw(branch, "  ")
  return lines
}

const longestLine = 200

/** An event as a line, for where nothing can be drawn anew; `undefined` when it changes nothing. */
export const line = (self: Progress, event: Event): string | undefined => {
  if (!("path" in event)) return undefined
  const place = event.path.join(" > ")
  const entry = self.get(keyOf(event.path))
  const told = () => {
    if (event._tag === "Agent") {
      const { event: inner } = event
      if (inner._tag !== "ToolFinished") return undefined
      const call = entry?.calls.findLast(({ id }) => id === inner.id)
      return call === undefined ? undefined : `${call.outcome} ${call.text}`
    }
    if (entry === undefined) return undefined
    if (event._tag === "NodeFinished" && entry.status === "skipped") return undefined
    const ended = entry.endedAt === undefined ? "" : `, ${seconds(entry.endedAt - entry.startedAt)}`
    return `${entry.status}${ended}${entry.note === "" || event._tag === "NodeFinished" ? "" : ` ${entry.note}`}`
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
      let progress = empty
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
          progress = update(progress, event, now)
          if (rows !== undefined) return progress === before ? Effect.void : redraw
          const text = line(progress, event)
          return text === undefined ? Effect.void : Effect.sync(() => screen.write(`${text}\n`))
        })
      // In whole at the end: what could not be seen can then be scrolled to.
      const last = (exit: Exit.Exit<unknown, unknown>) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (Exit.isInterrupted(exit)) progress = update(progress, { _tag: "Cancelled" }, now)
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
