/**
 * The laws that handlers and pipelines keep, as values. Each can be checked for
 * any handler: it is tried in random worlds, and a violation is shrunk to a
 * small one.
 *
 * In a vitest suite, `Laws.handler` of `@heddle/testing/vitest` makes tests of
 * them.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Law } from "@heddle/testing"
 *
 * await Law.check(Law.isolationOfRuns, Handler.instructions("Be brief."))
 * ```
 */
import { type ChatModel, type Handler, Pipeline } from "@heddle/core"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import { associativity, identityLaw, order } from "./internal/composition.ts"
import { finalizer, position, quietAfterCancel } from "./internal/exits.ts"
import { discard, isolationOfAttempts, isolationOfRuns, noAliasing, scope } from "./internal/isolation.ts"
import { attempts, pairing, streamParity } from "./internal/parts.ts"
import { safeFailure } from "./internal/safety.ts"
import { type Law, type Subject, Violation } from "./internal/trial.ts"
import { arbitrary } from "./internal/world.ts"

export { associativity, identityLaw, order } from "./internal/composition.ts"
export { finalizer, position, quietAfterCancel } from "./internal/exits.ts"
export { discard, isolationOfAttempts, isolationOfRuns, noAliasing, scope } from "./internal/isolation.ts"
export { attempts, pairing, streamParity } from "./internal/parts.ts"
export { safeFailure } from "./internal/safety.ts"
export { type Law, type Subject, Violation } from "./internal/trial.ts"
/** The circumstances of a trial: generated, and opaque. */
export type { World } from "./internal/world.ts"

/** The laws, in the order of their numbers. */
export const laws: ReadonlyArray<Law> = [
  identityLaw,
  associativity,
  order,
  finalizer,
  position,
  isolationOfAttempts,
  discard,
  noAliasing,
  isolationOfRuns,
  pairing,
  streamParity,
  attempts,
  quietAfterCancel,
  safeFailure,
  scope
]

// -----------------------------------------------------------------------------
// checking
// -----------------------------------------------------------------------------

/** How hard to try. */
export interface Options {
  /** How many worlds; 50 unless said. */
  readonly runs?: number
  /** Repeats the worlds of a failure. */
  readonly seed?: number
  readonly compose?: Subject["compose"]
}

/** A subject, with what is not said left at its default. */
export const subject = (
  handler: Handler.Any,
  layer: Layer.Layer<unknown, unknown> = Layer.empty as unknown as Layer.Layer<unknown, unknown>,
  compose: Subject["compose"] = (...handlers) => Pipeline.make(...handlers)
): Subject => ({ handler, layer, compose })

/** Checks a law for a handler that needs nothing but the model. Rejects with a shrunken counterexample. */
export const check = <P, E, H>(
  law: Law,
  handler: Handler.Handler<P, E, ChatModel.ChatModel, H>,
  options?: Options
): Promise<void> => checkSubject(law, subject(handler, undefined, options?.compose), options)

/** Checks a law for a handler that needs what a layer provides, besides the model. The layer is built afresh for each run. */
export const checkWith = <P, E, R, H, LE>(
  law: Law,
  handler: Handler.Handler<P, E, R | ChatModel.ChatModel, H>,
  layer: Layer.Layer<R, LE>,
  options?: Options
): Promise<void> =>
  checkSubject(law, subject(handler, layer as unknown as Layer.Layer<unknown, unknown>, options?.compose), options)

/** Checks a law for a subject. */
export const checkSubject = (law: Law, subject: Subject, options?: Options): Promise<void> =>
  assert(
    law,
    FastCheck.asyncProperty(arbitrary, (world) => law.holds(subject, world)),
    options
  )

/** Checks a law for generated handlers, one in each world. */
export const checkAll = (law: Law, handlers: FastCheck.Arbitrary<Handler.Any>, options?: Options): Promise<void> =>
  assert(
    law,
    FastCheck.asyncProperty(handlers, arbitrary, (handler, world) =>
      law.holds(subject(handler, undefined, options?.compose), world)
    ),
    options
  )

const assert = <A>(law: Law, property: FastCheck.IAsyncProperty<A>, options: Options | undefined): Promise<void> =>
  FastCheck.assert(property, {
    numRuns: options?.runs ?? 50,
    ...(options?.seed !== undefined && { seed: options.seed })
  }).catch((error: unknown) => {
    throw new Violation(`Law ${law.number}, ${law.name}\n${error instanceof Error ? error.message : String(error)}`)
  })
