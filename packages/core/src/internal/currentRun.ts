/**
 * What a run leaves in the context of its fibers: its cell, and what
 * `Instructions.scoped` left for the next run to take.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import { pipeArguments } from "effect/Pipeable"
import * as Scope from "effect/Scope"
import type { RunConfig } from "../AgentRun.ts"
import type { HookName } from "../Handler.ts"
import type { History } from "../History.ts"
import type { Instructions } from "../Instructions.ts"
import type { Tools } from "../Tools.ts"

/** Where in a handler something happened. */
export type Place = HookName | "provide" | "effect"

/** Where an error came from; without a handler, from the model or a tool. */
interface Origin {
  readonly handler?: string
  readonly hook?: Place
}

/** What others may ask of the attempt that is on. */
interface CurrentAttempt {
  readonly scope: Scope.Scope
  readonly historyNow: History
}

/**
 * What the fibers of a run share. A context is dear to change, so it is entered
 * once a run, and the cell moves with the run. An attempt that may go on beside
 * another has a cell of its own.
 *
 * The cell is also the scope inside the run: what it takes in is released when
 * the attempt ends that was on then.
 */
export class Cell implements Scope.Scope {
  readonly [Scope.ScopeTypeId]: Scope.ScopeTypeId = Scope.ScopeTypeId
  readonly strategy = ExecutionStrategy.sequential
  /** The instructions in force. */
  instructions: Instructions
  /** The metadata of the run, as handlers have left it so far. */
  metadata: RunConfig["options"]["metadata"] = {}
  /** The attempt that is on. */
  attempt: CurrentAttempt | undefined
  /** The tools that the last model call was offered. */
  offered: Tools<unknown, unknown> | undefined = undefined
  /** Where errors came from, for all cells of a run. */
  private readonly origins: Map<unknown, Origin>

  /** A cell for a run, or for an attempt beside those of another cell. */
  constructor(instructions: Instructions, beside?: Cell, attempt?: CurrentAttempt) {
    this.instructions = instructions
    this.attempt = attempt
    this.origins = beside === undefined ? new Map() : beside.origins
  }

  /** Goes on with what handlers have made of the run. */
  follow({ instructions, options }: Pick<RunConfig, "instructions" | "options">): void {
    this.instructions = instructions
    this.metadata = options.metadata
  }

  /** Notes where an error came from, unless something further inside has noted it already. Says whether it did. */
  note(error: unknown, origin: Origin): boolean {
    if (this.origins.has(error)) return false
    this.origins.set(error, origin)
    return true
  }

  /** Where an error came from. */
  originOf(error: unknown): Origin | undefined {
    return this.origins.get(error)
  }

  /** Things went well: what has failed before has been caught. */
  forget(): void {
    if (this.origins.size > 0) this.origins.clear()
  }

  private get now(): Scope.Scope {
    if (this.attempt === undefined) throw new Error("The run has not begun.")
    return this.attempt.scope
  }
  // What `Scope.fork` and `Scope.addFinalizerExit` call on a scope.
  fork(strategy: ExecutionStrategy.ExecutionStrategy) {
    return Effect.suspend(() => Scope.fork(this.now, strategy))
  }
  addFinalizer(finalizer: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<unknown>) {
    return Effect.suspend(() => Scope.addFinalizerExit(this.now, finalizer))
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** The run that a fiber is part of, if any. */
export class CurrentRun extends Context.Reference<CurrentRun>()("@heddle/core/CurrentRun", {
  defaultValue: (): Cell | undefined => undefined
}) {}

/** A change of instructions that waits for the next run to begin. */
export class PendingScope extends Context.Reference<PendingScope>()("@heddle/core/PendingScope", {
  defaultValue: (): ((instructions: Instructions) => Instructions) | undefined => undefined
}) {}

/** Effects that take scoped instructions directly, without a detour through the context. */
export const ScopeTarget: unique symbol = Symbol.for("@heddle/core/ScopeTarget")
