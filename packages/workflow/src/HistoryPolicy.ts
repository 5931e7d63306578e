/**
 * How much of a session's earlier runs a node sees. Every field is inherited from
 * the node around unless it is set, each on its own, so that a node can ask for
 * history in a workflow that has none, or for more of it than its neighbours.
 *
 * | field      | a workflow that says nothing | a node that says nothing |
 * | ---------- | ---------------------------- | ------------------------ |
 * | `mode`     | `"off"`                      | as around it             |
 * | `runs`     | 3                            | as around it             |
 * | `statuses` | completed runs only          | as around it             |
 * | `format`   | `HistoryFormat.defaults`     | as around it             |
 *
 * @example
 * ```ts
 * import { Node } from "@heddle/workflow"
 *
 * const review = Node.step("review", (draft: string) => draft.trim()).pipe(
 *   Node.withHistory({ mode: "on", runs: "all" })
 * )
 * ```
 */
import type { FormatFunction, HistoryFormat } from "./HistoryFormat.ts"
import type { HistoryStore } from "./HistoryStore.ts"
import type { RunStatus } from "./RunRecord.ts"

/** How much of a session's earlier runs a node sees. */
export interface HistoryPolicy {
  /** Whether runs are shown. */
  readonly mode?: "inherit" | "on" | "off"
  /** How many runs are shown, the last ones: 0, a number, or all that the store has. */
  readonly runs?: "inherit" | "all" | number
  /** Runs of which endings are shown, and counted by `runs`. */
  readonly statuses?: ReadonlyArray<RunStatus>
  /** How runs are written down: a layout, of which what is not said is that of `HistoryFormat.defaults`, or a function. */
  readonly format?: Partial<HistoryFormat> | FormatFunction
}

/** What a node with this policy needs. */
export type Needs<P> = "mode" extends keyof P ? ("on" extends P["mode"] ? HistoryStore : never) : never

/** Refuses fields that a policy, or the layout in it, does not have. */
export type Known<P> = { readonly [K in Exclude<keyof P, keyof HistoryPolicy>]: never } & (P extends {
  readonly format: infer F extends object
}
  ? F extends FormatFunction
    ? unknown
    : { readonly format: { readonly [K in Exclude<keyof F, keyof HistoryFormat>]: never } }
  : unknown)
