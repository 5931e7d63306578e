/**
 * The earlier runs that a step may see, as a step that is a function reads them:
 * also in the functions of conditions, loops and routers, in nested nodes and in
 * parallel branches. Each sees what its own policy says.
 *
 * @example
 * ```ts
 * import { HistoryContext, Node } from "@heddle/workflow"
 * import { Effect } from "effect"
 *
 * const count = Node.step("count", () => Effect.map(HistoryContext.current, ({ records }) => records.length)).pipe(
 *   Node.withHistory({ mode: "on", runs: 5 })
 * )
 * ```
 */
import type * as Effect from "effect/Effect"
import { CurrentHistory, historySource } from "./internal/history.ts"
import type { RunRecord } from "./RunRecord.ts"

/** The earlier runs that a step may see. */
export interface HistoryContext {
  /** Oldest first. */
  readonly records: ReadonlyArray<RunRecord>
  /** The runs as an agent is told of them; `""` when there are none. */
  readonly text: string
}

/** What the step at hand may see of earlier runs: nothing where its policy is off, and outside of a workflow. */
export const current: Effect.Effect<HistoryContext> = CurrentHistory

/** The source of the section of an agent's instructions that tells of earlier runs. */
export const source: string = historySource
