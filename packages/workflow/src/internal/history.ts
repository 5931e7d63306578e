/**
 * History policies with everything inherited filled in, and the runs that they show.
 */
import { Errors } from "@heddle/core"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import type { HistoryContext } from "../HistoryContext.ts"
import * as HistoryFormat from "../HistoryFormat.ts"
import type { HistoryPolicy } from "../HistoryPolicy.ts"
import { type RunRecord, RunStatus } from "../RunRecord.ts"

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

/** Whether two policies show the same, written in the same way. */
export const isEqual = (a: Effective, b: Effective): boolean =>
  a.on === b.on && a.runs === b.runs && a.format === b.format && statusesKey(a.statuses) === statusesKey(b.statuses)

/** The same for the same statuses in any order. */
export const statusesKey = (statuses: Effective["statuses"]): string => statuses.toSorted().join()

/** A policy that has been looked at. */
export interface CheckedPolicy extends HistoryPolicy {
  readonly format?: Effective["format"]
}

const isStatus = Schema.is(RunStatus)

const values: { readonly [K in keyof HistoryPolicy]-?: (value: unknown) => boolean } = {
  mode: (mode) => mode === "inherit" || mode === "on" || mode === "off",
  runs: (runs) => runs === "inherit" || runs === "all" || (Number.isInteger(runs) && (runs as number) >= 0),
  statuses: (statuses) => Array.isArray(statuses) && statuses.length > 0 && statuses.every(isStatus),
  format: (format) => typeof format === "function" || (typeof format === "object" && format !== null)
}

const allowed: { readonly [K in keyof HistoryPolicy]-?: string } = {
  mode: '"inherit", "on" or "off"',
  runs: '"inherit", "all", 0 or a whole number',
  statuses: 'some of "completed", "failed" and "cancelled"',
  format: "a layout or a function"
}

/** Refuses a policy that makes no sense. */
export const checkedPolicy = (policy: HistoryPolicy, where: string): CheckedPolicy => {
  const given = Object.entries(policy).filter(([, value]) => value !== undefined)
  for (const [key, value] of given) {
    if (!Object.hasOwn(allowed, key)) {
      throw new Errors.DefinitionError(
        `${where}: history has no ${JSON.stringify(key)}, only ${Object.keys(allowed).join(", ")}.`
      )
    }
    const field = key as keyof HistoryPolicy
    if (!values[field](value)) {
      throw new Errors.DefinitionError(`${where}: ${field} of history must be ${allowed[field]}, not ${text(value)}.`)
    }
  }
  // Each has been looked at.
  const checked = Object.fromEntries(given) as HistoryPolicy
  return typeof checked.format === "object"
    ? { ...checked, format: HistoryFormat.make(checked.format) }
    : (checked as CheckedPolicy)
}

const text = (value: unknown): string =>
  typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value))

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
