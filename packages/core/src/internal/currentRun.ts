/**
 * What a run leaves in the context of its fibers: the instructions in force,
 * for hooks and tools to read, and what `Instructions.scoped` left for the next
 * run to take.
 */
import * as Context from "effect/Context"
import type { HookName } from "../Handler.ts"
import type { Instructions } from "../Instructions.ts"

/** The run that a fiber is part of, if any. */
export class CurrentRun extends Context.Reference<CurrentRun>()("@heddle/core/CurrentRun", {
  defaultValue: (): Run => ({})
}) {}

/** What the fibers of a run know of it. Outside of a run there is nothing to know. */
export interface Run {
  readonly agent?: string
  readonly instructions?: Instructions
  /** Which handler an error came from. */
  readonly origins?: Map<unknown, Origin>
  /** Whether the last event already says how the run ended. */
  said?: boolean
}

/** Where an error came from; without a handler, from the model or a tool. */
export interface Origin {
  readonly handler: string | undefined
  readonly place: HookName | "provide" | "effect" | undefined
}

/** A change of instructions that waits for the next run to begin. */
export class PendingScope extends Context.Reference<PendingScope>()("@heddle/core/PendingScope", {
  defaultValue: (): ((instructions: Instructions) => Instructions) | undefined => undefined
}) {}

/** Effects that take scoped instructions directly, without a detour through the context. */
export const ScopeTarget: unique symbol = Symbol.for("@heddle/core/ScopeTarget")
