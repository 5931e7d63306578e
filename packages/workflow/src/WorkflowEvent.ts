/**
 * What happens in a run of a workflow, as it happens: the nodes, and the events of
 * the agents in them. A run ends its events with exactly one of `Completed`,
 * `Failed` and `Cancelled`.
 *
 * Every node that has started ends, with one of `NodeFinished`, `NodeFailed` and
 * `NodeCancelled`. `NodeRetrying` takes back what came from inside of the node before.
 */
import { AgentEvent, type Call } from "@heddle/core"
import type * as Cause from "effect/Cause"
import type { HistoryUnavailable } from "./WorkflowErrors.ts"

/** The names on the way from the workflow to a node; the number of a round (from 1) in a loop, of an element (from 0) in an array. */
export type Path = ReadonlyArray<string | number>

/** What a node is. */
export type NodeKind =
  "step" | "agent" | "sequence" | "condition" | "loop" | "parallel" | "each" | "router" | "workflow"

/** What happens in a run. */
export type WorkflowEvent<Out = unknown> =
  | { readonly _tag: "RunStarted"; readonly workflow: string; readonly runId: string; readonly sessionId?: string }
  | { readonly _tag: "NodeStarted"; readonly path: Path; readonly kind: NodeKind; readonly input: unknown }
  | { readonly _tag: "NodeFinished"; readonly path: Path; readonly output: unknown }
  | {
      readonly _tag: "NodeFailed"
      readonly path: Path
      readonly error: unknown
      readonly cause: Cause.Cause<unknown>
    }
  | { readonly _tag: "NodeCancelled"; readonly path: Path }
  /** The node begins anew. `attempt` counts from 1; `error` is what the attempt before failed with. */
  | { readonly _tag: "NodeRetrying"; readonly path: Path; readonly attempt: number; readonly error: unknown }
  /** The node has failed, and passes its input on. */
  | { readonly _tag: "NodeSkipped"; readonly path: Path; readonly error: unknown }
  /** The node has failed, and its fallback takes over. */
  | { readonly _tag: "NodeFellBack"; readonly path: Path; readonly error: unknown }
  /** A condition (`"true"` or `"false"`) or a router (the name of a route) has decided. */
  | { readonly _tag: "Chosen"; readonly path: Path; readonly choice: string }
  /** What an agent does. A reset takes back what it did before. */
  | { readonly _tag: "Agent"; readonly path: Path; readonly event: AgentEvent.AgentEvent | Call.Reset }
  /** The history cannot be read, and the run goes on without it; or it cannot be written. */
  | { readonly _tag: "Warning"; readonly error: HistoryUnavailable }
  | { readonly _tag: "Completed"; readonly result: WorkflowResult<Out> }
  | { readonly _tag: "Failed"; readonly error: unknown; readonly cause: Cause.Cause<unknown> }
  | { readonly _tag: "Cancelled" }

/** What a run gives. */
export interface WorkflowResult<out Out = unknown> {
  readonly output: Out
  readonly runId: string
  readonly sessionId?: string
  /** Why the run is missing in the history of its session, if it is. */
  readonly unsaved?: HistoryUnavailable
  /** Why nothing was shown of earlier runs, where the run was to go on without. */
  readonly withoutHistory?: HistoryUnavailable
}

/** The result of a run is that of its `Completed` event. */
export const fold = <Out>(): Call.Fold<WorkflowEvent<Out>, WorkflowResult<Out>> =>
  // The fold looks at `Completed` alone, which is the same in both.
  AgentEvent.fold<WorkflowResult<Out>>() as unknown as Call.Fold<WorkflowEvent<Out>, WorkflowResult<Out>>
