/**
 * What happens in a run, as it happens. A run ends its events with exactly one
 * of `Completed`, `Failed` and `Cancelled`.
 *
 * A `Call.Reset` among the events takes back everything before it: a handler has
 * caught a failure, or begins the run anew. A handler's `wrapAgent` sees the last
 * event of the attempt inside of it as well; the reader of a stream does not.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AgentCall, AgentResult, Warning } from "./AgentRun.ts"
import * as Call from "./Call.ts"
import { plainError } from "./cause.ts"
import type { FinishReason, Usage } from "./ChatModel.ts"
import type { HookName } from "./Handler.ts"
import type { History } from "./History.ts"
import type { AssistantMessage, ToolOutcome } from "./Message.ts"

/** What happens in a run. `step` counts the model calls from 1. */
export type AgentEvent<A = AgentResult> =
  | { readonly _tag: "RunStarted"; readonly agent: string }
  | { readonly _tag: "StepStarted"; readonly step: number }
  /** A piece of the model's text. */
  | { readonly _tag: "Text"; readonly step: number; readonly text: string }
  | { readonly _tag: "Reasoning"; readonly step: number; readonly text: string }
  /** The model asks for a tool. */
  | {
      readonly _tag: "ToolCall"
      readonly step: number
      readonly id: string
      readonly name: string
      readonly arguments: unknown
    }
  /** The model call begins anew: what this step has emitted so far belongs to a failed attempt. */
  | { readonly _tag: "StepReset"; readonly step: number }
  | {
      readonly _tag: "StepFinished"
      readonly step: number
      readonly content: AssistantMessage["content"]
      readonly finishReason: FinishReason
      readonly usage: Usage
    }
  | {
      readonly _tag: "ToolStarted"
      readonly step: number
      readonly id: string
      readonly name: string
      readonly arguments: unknown
    }
  /** A piece of a tool's result. */
  | { readonly _tag: "ToolText"; readonly step: number; readonly id: string; readonly text: string }
  /** News of a tool at work; of an agent used as a tool, its events. */
  | { readonly _tag: "ToolProgress"; readonly step: number; readonly id: string; readonly value: unknown }
  /** The tool call begins anew: the pieces it has emitted so far belong to a failed attempt. */
  | { readonly _tag: "ToolReset"; readonly step: number; readonly id: string }
  | {
      readonly _tag: "ToolFinished"
      readonly step: number
      readonly id: string
      readonly name: string
      readonly outcome: ToolOutcome
    }
  /** A handler could not do something, and the run goes on without. */
  | { readonly _tag: "Warning"; readonly handler: string; readonly error: unknown }
  | { readonly _tag: "Completed"; readonly result: A }
  /** The run fails with `error`. `handler` and `hook` say whose failure it is, if it came from a handler. */
  | {
      readonly _tag: "Failed"
      readonly error: unknown
      readonly cause: Cause.Cause<unknown>
      readonly handler?: string
      readonly hook?: HookName | "provide" | "effect"
      readonly history: History
      readonly steps: number
      readonly usage: Usage
    }
  | { readonly _tag: "Cancelled"; readonly history: History; readonly steps: number; readonly usage: Usage }

/** The result of a run is that of its `Completed` event. */
export const fold = <A>(): Call.Fold<AgentEvent<A>, A> => foldAny as Call.Fold<AgentEvent<A>, A>

const foldAny: Call.Fold<AgentEvent<unknown>, unknown> = {
  make: () => {
    let completed: { readonly result: unknown } | undefined
    return {
      add: (event) => {
        if (event._tag === "Completed") completed = event
      },
      reset: () => {
        completed = undefined
      },
      value: () => {
        if (completed === undefined) throw new Error("A run ended well without a Completed event.")
        return completed.result
      }
    }
  },
  whole: (result) => [{ _tag: "Completed", result }]
}

/** Changes the result of a run that has ended well. For use in `wrapAgent`. */
export const mapResult = <E, R>(
  call: AgentCall<AgentResult, E, R>,
  f: (result: AgentResult) => AgentResult
): AgentCall<AgentResult, E, R> =>
  Call.fromSink((sink) =>
    Call.into(
      call,
      Call.sink<AgentEvent, AgentResult>(fold(), sink.demand, (event) =>
        event._tag === "Completed" ? sink.whole(f(event.result)) : sink.emit(event)
      )
    )
  )

/**
 * Runs `f` when a run has ended well, and passes the result on when it is through.
 * What `f` gives are warnings: they are told as events, and go with the result. For
 * use in `wrapAgent`.
 */
export const warnAfter = <E, R, E2 = never, R2 = never>(
  call: AgentCall<AgentResult, E, R>,
  f: (result: AgentResult) => Effect.Effect<ReadonlyArray<Warning>, E2, R2>
): AgentCall<AgentResult, E | E2, R | R2> =>
  Call.fromSink<AgentEvent, AgentResult, E | E2, R | R2>((sink) => {
    let held: AgentResult | undefined
    const inner = Call.sink<AgentEvent, AgentResult>(fold(), sink.demand, (event) => {
      if (event._tag === "Completed") return void (held = event.result)
      if (Call.isReset(event)) held = undefined
      return sink.emit(event)
    })
    const passOn = (result: AgentResult, warnings: ReadonlyArray<Warning>): Effect.Effect<void> =>
      warnings.length === 0
        ? (sink.whole(result) ?? Effect.void)
        : Effect.zipRight(
            Effect.forEach(warnings, (warning) => sink.emit({ _tag: "Warning", ...warning }) ?? Effect.void),
            Effect.suspend(() => sink.whole(withWarnings(result, warnings)) ?? Effect.void)
          )
    return Effect.flatMap(Call.into(call, inner), () => {
      const result = held
      return result === undefined ? Effect.void : Effect.flatMap(f(result), (warnings) => passOn(result, warnings))
    })
  })

const withWarnings = (result: AgentResult, warnings: ReadonlyArray<Warning>): AgentResult => ({
  ...result,
  warnings: [...(result.warnings ?? []), ...warnings]
})

/**
 * An event as JSON, for a log or for a client. A failure is told by its tag and
 * message; of a defect only that there was one.
 */
export const toJson = (event: AgentEvent | Call.Reset): Readonly<Record<string, unknown>> => {
  // An agent that runs as a tool tells its events as progress.
  if (event._tag === "ToolProgress" && isEvent(event.value)) return { ...event, value: toJson(event.value) }
  if (event._tag === "Warning") return { ...event, error: plainError(event.error) }
  if (event._tag === "Completed" && event.result.warnings !== undefined) {
    const warnings = event.result.warnings.map((warning) => ({ ...warning, error: plainError(warning.error) }))
    return { ...event, result: { ...event.result, warnings } }
  }
  if (event._tag !== "Failed") return { ...event }
  const { cause, error, ...rest } = event
  return { ...rest, error: Cause.isFailure(cause) ? plainError(error) : { _tag: "Defect" } }
}

const isEvent = (value: unknown): value is AgentEvent => {
  if (typeof value !== "object" || value === null) return false
  const { _tag, cause } = value as { readonly _tag?: unknown; readonly cause?: unknown }
  return (
    (_tag === "Failed" && Cause.isCause(cause)) || (_tag === "Warning" && "handler" in value) || _tag === "ToolProgress"
  )
}
