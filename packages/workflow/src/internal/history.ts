/**
 * History policies with everything inherited filled in, and the runs that they show.
 */
import { Errors } from "@heddle/core"
import * as Context from "effect/Context"
import type { HistoryContext } from "../HistoryContext.ts"
import * as HistoryFormat from "../HistoryFormat.ts"
import type { HistoryPolicy } from "../HistoryPolicy.ts"
import type { RunRecord, RunStatus } from "../RunRecord.ts"

/** What an agent's instructions give as the source of the section that tells of earlier runs. */
export const historySource = "workflow-history"

/** A policy with nothing left to inherit. */
export interface Effective {
  readonly on: boolean
  readonly runs: number
  readonly statuses: ReadonlyArray<RunStatus>
  readonly format: HistoryFormat.HistoryFormat | HistoryFormat.FormatFunction
}

/** What a workflow that says nothing has. */
export const byDefault: Effective = { on: false, runs: 3, statuses: ["completed"], format: HistoryFormat.defaults }

/** Whether runs are shown at all. */
export const shows = (effective: Effective): boolean => effective.on && effective.runs > 0

/** What holds for a node with this policy inside of one for which `around` holds. */
export const resolve = (around: Effective, policy: CheckedPolicy | undefined): Effective => {
  if (policy === undefined) return around
  const { format = around.format, mode = "inherit", runs = "inherit", statuses = around.statuses } = policy
  return {
    on: mode === "inherit" ? around.on : mode === "on",
    runs: runs === "inherit" ? around.runs : runs === "all" ? Infinity : runs,
    statuses,
    format
  }
}

/** A policy that has been looked at. */
export interface CheckedPolicy extends HistoryPolicy {
  readonly format?: Effective["format"]
}

/** Refuses a policy that makes no sense. */
export const checkedPolicy = (policy: HistoryPolicy, where: string): CheckedPolicy => {
  const { format, runs, statuses, ...rest } = policy
  if (typeof runs === "number" && !(Number.isInteger(runs) && runs >= 0)) {
    throw new Errors.DefinitionError(`${where}: the number of history runs must be 0, a whole number, or "all".`)
  }
  if (statuses?.length === 0) throw new Errors.DefinitionError(`${where}: history of no status at all: use mode "off".`)
  return {
    ...rest,
    ...(runs !== undefined && { runs }),
    ...(statuses !== undefined && { statuses }),
    ...(format !== undefined && { format: typeof format === "function" ? format : HistoryFormat.make(format) })
  }
}

/** Runs, written down when somebody asks for it. */
export class Shown implements HistoryContext {
  static readonly nothing = new Shown([], () => "")
  readonly records: ReadonlyArray<RunRecord>
  private readonly format: Effective["format"]
  private written: string | undefined = undefined

  constructor(records: ReadonlyArray<RunRecord>, format: Effective["format"]) {
    this.records = records
    this.format = format
  }
  get text(): string {
    if (this.written === undefined) {
      const { format, records } = this
      this.written =
        records.length === 0
          ? ""
          : typeof format === "function"
            ? format(records)
            : HistoryFormat.format(records, format)
    }
    return this.written
  }
}

/** What the step at hand may see. */
export class CurrentHistory extends Context.Reference<CurrentHistory>()("@heddle/workflow/CurrentHistory", {
  defaultValue: (): HistoryContext => Shown.nothing
}) {}
