/**
 * What one run of a workflow keeps while it is on. Made afresh for each run, and
 * reachable from its own runners alone.
 */
import type { Call } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type RunRecord, type StepRecord, toPlain } from "../RunRecord.ts"
import type { Path, WorkflowEvent, WorkflowResult } from "../WorkflowEvent.ts"
import { NodeLimitReached } from "../WorkflowErrors.ts"
import { describe } from "./describe.ts"
import { type Effective, Shown, statusesKey } from "./history.ts"

/** Where a run sends its events. */
export type WorkflowSink = Call.Sink<WorkflowEvent, WorkflowResult>

/** What is noted of the steps: branches and attempts have a list of their own, so that their order is that of the workflow, and an attempt can be forgotten. */
export type Steps = Array<Noted | Steps>

/** A step, and how it ended, once it has. */
export interface Noted {
  readonly path: Path
  exit: Exit.Exit<unknown, unknown> | undefined
}

/** One run. */
export class Run {
  /** Whether somebody wants to know what happens, as it happens. */
  readonly live: boolean
  readonly maxNodes: number
  /** The runs before this one, by the statuses asked for. */
  readonly earlier = new Map<string, ReadonlyArray<RunRecord>>()
  /** Why the run was stopped, if it was. */
  stopped: NodeLimitReached | undefined = undefined
  private readonly workflow: string
  private readonly sink: WorkflowSink
  private readonly seen = new Map<Effective, Shown>()
  private nodes = 0

  constructor(workflow: string, maxNodes: number, sink: WorkflowSink) {
    this.workflow = workflow
    this.maxNodes = maxNodes
    this.sink = sink
    this.live = sink.demand !== "value"
  }

  /** What the receiver of the events wants. */
  get demand(): Call.Demand {
    return this.sink.demand
  }

  /** Counts a node. At the limit it gives what stops the run: a defect, so that no node can take it for a failure of its own. */
  enter(): Effect.Effect<never> | undefined {
    if (++this.nodes <= this.maxNodes) return undefined
    this.stopped ??= new NodeLimitReached({ workflow: this.workflow, maxNodes: this.maxNodes })
    return Effect.die(this.stopped)
  }

  /** Emits an event if somebody wants it. */
  emit(event: WorkflowEvent): Call.Wait {
    return this.live ? this.sink.emit(event) : undefined
  }

  /** Emits an event if somebody wants it, as an Effect. */
  tell(event: WorkflowEvent): Effect.Effect<void> {
    return this.emit(event) ?? Effect.void
  }

  /** The runs that a policy shows. */
  shown(history: Effective): Shown {
    let shown = this.seen.get(history)
    if (shown === undefined) {
      const { format, on, runs, statuses } = history
      const earlier = on && runs > 0 ? (this.earlier.get(statusesKey(statuses)) ?? []) : []
      shown = earlier.length === 0 ? Shown.nothing : new Shown(earlier.slice(-runs), format)
      this.seen.set(history, shown)
    }
    return shown
  }
}

/** A place in a run, where a node is or may be. */
export class Place {
  readonly run: Run
  readonly steps: Steps | undefined
  private readonly outer: Place | undefined
  private readonly name: string | number | undefined

  constructor(run: Run, steps: Steps | undefined, outer?: Place, name?: string | number) {
    this.run = run
    this.steps = steps
    this.outer = outer
    this.name = name
  }

  get path(): Path {
    const outer = this.outer === undefined ? [] : this.outer.path
    return this.name === undefined ? outer : [...outer, this.name]
  }

  /** Whether somebody wants to know what happens here. */
  get watched(): boolean {
    return this.run.live || this.steps !== undefined
  }

  /** The place of what is inside. */
  within(name: string | number): Place {
    return new Place(this.run, this.steps, this, name)
  }

  /** The same place, with steps that are noted apart. */
  apart(): Place {
    if (this.steps === undefined) return this
    const steps: Steps = []
    this.steps.push(steps)
    return new Place(this.run, steps, this)
  }

  /** Forgets what was noted here. */
  forget(): void {
    if (this.steps !== undefined) this.steps.length = 0
  }

  /** Notes that a step has begun here. */
  note(): Noted | undefined {
    if (this.steps === undefined) return undefined
    const noted: Noted = { path: this.path, exit: undefined }
    this.steps.push(noted)
    return noted
  }
}

/** The steps as they are recorded. */
export const stepRecords = (steps: Steps, records: Array<StepRecord> = []): ReadonlyArray<StepRecord> => {
  for (const noted of steps) {
    if (Array.isArray(noted)) stepRecords(noted, records)
    else records.push({ path: noted.path, ...ended(noted.exit) })
  }
  return records
}

/** How something ended, as it is recorded: one that has not was cancelled. */
export const ended = (exit: Exit.Exit<unknown, unknown> | undefined): Omit<StepRecord, "path"> => {
  if (exit === undefined) return { status: "cancelled" }
  if (Exit.isSuccess(exit)) {
    const output = toPlain(exit.value)
    return output === undefined ? { status: "completed" } : { status: "completed", output }
  }
  if (Cause.isInterruptedOnly(exit.cause)) return { status: "cancelled" }
  return { status: "failed", error: describe(Cause.squash(exit.cause)) }
}
