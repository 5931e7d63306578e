/**
 * What a run leaves in the context of its fibers: its cell, and what
 * `Instructions.scoped` left for the next run to take.
 */
import * as Context from "effect/Context"
import type * as Scope from "effect/Scope"
import type { HookName } from "../Handler.ts"
import type { Instructions } from "../Instructions.ts"

/** Where in a handler something happened. */
export type Place = HookName | "provide" | "effect"

/** Where an error came from; without a handler, from the model or a tool. */
interface Origin {
  readonly handler: string | undefined
  readonly place: Place | undefined
}

/**
 * What the fibers of a run share. A context is dear to change, so it is entered
 * once a run, and the cell moves with the run. An attempt that may go on beside
 * another has a cell of its own.
 */
export interface Cell {
  /** The instructions in force. */
  instructions: Instructions
  /** The attempt whose end releases what is acquired now. */
  attempt: { readonly scope: Scope.Scope } | undefined
  /** Which handler an error came from. */
  readonly origins: Map<unknown, Origin>
  /** Whether the last event already says how the run ended. */
  said: boolean
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
