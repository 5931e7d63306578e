/**
 * What happens in a run, as it happens. A run ends its events with exactly one
 * of `Completed`, `Failed` and `Cancelled`.
 */
import type * as Cause from "effect/Cause"
import type { AgentResult } from "./AgentRun.ts"
import * as Call from "./Call.ts"
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
  | { readonly _tag: "ToolStarted"; readonly step: number; readonly id: string; readonly name: string }
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
  | { readonly _tag: "Completed"; readonly result: A }
  /** The run fails with `error`. `handler` and `hook` say whose failure it is, if it came from a handler. */
  | {
      readonly _tag: "Failed"
      readonly error: unknown
      readonly cause: Cause.Cause<unknown>
      readonly handler?: string
      readonly hook?: HookName | "provide" | "effect"
      readonly history: History
    }
  | { readonly _tag: "Cancelled"; readonly history: History }

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
