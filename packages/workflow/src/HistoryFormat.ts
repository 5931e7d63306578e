/**
 * How past runs are written down for a model.
 */
import type { RunRecord } from "./RunRecord.ts"

/** How past runs are written down. */
export interface HistoryFormat {
  /** First line. @default "<workflow_history_context>" */
  readonly header: string
  readonly footer: string
  readonly inputLabel: string
  readonly outputLabel: string
  readonly includeInput: boolean
  readonly includeOutput: boolean
  readonly includeTimestamp: boolean
  /** Characters at the most; the oldest runs are left out, whole, until the rest fits. */
  readonly maxCharacters: number
}

/** Writes runs down, oldest first: what a policy takes in place of a `HistoryFormat`. */
export type FormatFunction = (records: ReadonlyArray<RunRecord>) => string

/** The layout that is used unless something else is said. */
export const defaults: HistoryFormat = {
  header: "<workflow_history_context>",
  footer: "</workflow_history_context>",
  inputLabel: "input",
  outputLabel: "output",
  includeInput: true,
  includeOutput: true,
  includeTimestamp: false,
  maxCharacters: Infinity
}

export const format = (records: ReadonlyArray<RunRecord>, _format: HistoryFormat = defaults): string =>
  JSON.stringify(records)
