/**
 * Shows the progress of a workflow while it runs: a tree that is drawn anew in its
 * place on a terminal, and a line for each change everywhere else.
 */
import { type WorkflowEvent, WorkflowProgress } from "@heddle/workflow"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Asking, type Service as AskingService } from "../Asking.ts"
import { describe } from "../failure.ts"
import type { Sheet } from "../Output.ts"
import { paint, short } from "../text.ts"
import { line, tree } from "./tree.ts"

/** Below this, a tree says less than lines do. */
const least = { columns: 16, rows: 5 }

const rowsOf = (sheet: Sheet): number => sheet.rows?.() ?? 24

/** Whether a tree can be drawn in its place. */
const isLive = (sheet: Sheet): boolean =>
  sheet.isTerminal && sheet.columns() >= least.columns && rowsOf(sheet) >= least.rows

/** Draws lines in the place of those that were drawn before. */
const canvas = (sheet: Sheet) => {
  let drawn = 0
  return (lines: ReadonlyArray<string>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const up = drawn === 0 ? "" : `\u001b[${drawn}A`
      drawn = lines.length
      // A line that is wider than it seems is cut by the terminal, as a wrapped one would be left standing.
      return sheet.write(`${up}\r\u001b[J\u001b[?7l${lines.map((text) => `${text}\n`).join("")}\u001b[?7h`)
    })
}

const inPlace = (sheet: Sheet) => {
  const draw = canvas(sheet)
  return {
    /** As much as the terminal has room for: the cursor gets no further up than the first line that can be seen. */
    some: (lines: ReadonlyArray<string>) => {
      const most = Math.max(1, rowsOf(sheet) - 1)
      return draw(lines.length <= most ? lines : ["…", ...lines.slice(lines.length - most + 1)])
    },
    /** What could not be seen can then be scrolled to. */
    all: draw,
    /** Says something above the tree. */
    above: (text: string) => Effect.zipRight(draw([]), sheet.write(`${text}\n`))
  }
}

/** How often the tree is drawn: time goes on between the events, too. */
const tick = "100 millis"

/** Runs a workflow's stream to its result, and shows its progress meanwhile. While the person is asked something, that waits. */
export const watch =
  (sheet: Sheet) =>
  <Out, E, R>(events: Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E, R>) =>
    Effect.gen(function* () {
      const live = isLive(sheet) ? inPlace(sheet) : undefined
      const turn = Effect.unsafeMakeSemaphore(1)
      let progress = WorkflowProgress.empty
      let result: WorkflowEvent.WorkflowResult<Out> | undefined

      const drawn = (how: "some" | "all") =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => live?.[how](tree(progress, now, sheet)) ?? Effect.void)
      const said = (text: string) => turn.withPermits(1)(live?.above(text) ?? sheet.write(`${text}\n`))
      const told = (event: WorkflowEvent.WorkflowEvent<Out>) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (event._tag === "Completed") result = event.result
          progress = WorkflowProgress.update(progress, event, now)
          const warning = warningOf(event)
          if (warning !== undefined) return said(`${paint(sheet, "yellow", "!")} ${short(warning, 300)}`)
          const text = live === undefined ? line(progress, event) : undefined
          return text === undefined ? Effect.void : said(text)
        })
      const last = (exit: Exit.Exit<unknown, unknown>) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (Exit.isInterrupted(exit)) progress = WorkflowProgress.update(progress, { _tag: "Cancelled" }, now)
          return turn.withPermits(1)(drawn("all"))
        })
      const asking = ({ ask }: AskingService): AskingService => ({
        // What is asked stands in the place of the tree, which is drawn anew below.
        ask: (question) => turn.withPermits(1)(Effect.zipRight(live?.some([]) ?? Effect.void, ask(question)))
      })
      const ticking = Effect.repeat(turn.withPermitsIfAvailable(1)(drawn("some")), Schedule.spaced(tick))
      yield* Effect.acquireUseRelease(
        live === undefined ? Effect.void : Effect.fork(Effect.interruptible(ticking)),
        () => Stream.runForEach(Stream.updateService(events, Asking, asking), told),
        (fiber) => (fiber === undefined ? Effect.void : Fiber.interrupt(fiber))
      ).pipe(Effect.onExit(last))
      // A stream that does not fail has ended with `Completed`.
      return result ?? (yield* Effect.dieMessage("The run has ended without a result."))
    })

const warningOf = (event: WorkflowEvent.WorkflowEvent): string | undefined => {
  if (event._tag === "Warning") return event.error.message
  if (event._tag !== "Agent" || event.event._tag !== "Warning") return undefined
  return `${event.path.join(" > ")}: ${describe(event.event.error)}`
}
