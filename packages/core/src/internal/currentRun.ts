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
import type { HookName } from "../Handler.ts"
import type { Instructions } from "../Instructions.ts"

/** Where in a handler something happened. */
export type Place = HookName | "provide" | "effect"

/** Where an error came from; without a handler, from the model or a tool. */
interface Origin {
  readonly handler?: string
  readonly hook?: Place
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
  /** The attempt that is on. */
  attempt: { readonly scope: Scope.Scope } | undefined
  /** What all cells of a run share. */
  private readonly run: { said: boolean; origins: Map<unknown, Origin> | undefined }

  /** A cell for a run, or for an attempt beside those of another cell. */
  constructor(instructions: Instructions, beside?: Cell, attempt?: { readonly scope: Scope.Scope }) {
    this.instructions = instructions
    this.attempt = attempt
    this.run = beside === undefined ? { said: false, origins: undefined } : beside.run
  }

  /** Whether the last event already says how the run ended. */
  get said(): boolean {
    return this.run.said
  }
  set said(said: boolean) {
    this.run.said = said
  }

  /** Notes where an error came from, unless something further inside has noted it already. Says whether it did. */
  note(error: unknown, origin: Origin): boolean {
    const origins = (this.run.origins ??= new Map())
    if (origins.has(error)) return false
    origins.set(error, origin)
    return true
  }

  /** Where an error came from. */
  originOf(error: unknown): Origin | undefined {
    return this.run.origins?.get(error)
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
