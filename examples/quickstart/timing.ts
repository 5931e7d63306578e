/**
 * A handler that times every model call and every tool call of a run. Its list
 * is built for each run, so that runs cannot get into each other's.
 */
import { Call, Handler, type Tool } from "@heddle/core"
import { Clock, Effect } from "effect"

/** One call, in milliseconds. */
export interface Span {
  readonly label: string
  readonly startedAt: number
  readonly endedAt: number
}

const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000n) / 1_000)

/** A tool call by its name and the first of its arguments. */
const labelOf = ({ arguments: args, name }: Tool.ToolRequest): string => {
  const first: unknown = typeof args === "object" && args !== null ? Object.values(args)[0] : undefined
  return typeof first === "string" ? `${name} ${first}` : name
}

/** Times the calls of a run, and reports them when it ends, however it does. */
export const timing = (report: (spans: ReadonlyArray<Span>) => Effect.Effect<void>) =>
  Handler.effect(
    "timing",
    Effect.sync(() => {
      const spans: Array<Span> = []
      let models = 0
      const timed =
        (label: string) =>
        <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.flatMap(now, (startedAt) =>
            Effect.onExit(effect, () => Effect.map(now, (endedAt) => void spans.push({ label, startedAt, endedAt })))
          )
      return {
        wrapAgent: (run, next) => Call.onExit(next(run), () => report(spans)),
        wrapModelCall: (request, next) => Call.around(next(request), timed(`model call ${++models}`)),
        wrapToolCall: (request, next) => Call.around(next(request), timed(labelOf(request)))
      }
    })
  )
