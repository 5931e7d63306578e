/**
 * What a call is: a function of the sink that takes its parts.
 */
import type * as Effect from "effect/Effect"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type { Sink } from "./sink.ts"

const TypeId: unique symbol = Symbol.for("@heddle/core/Call")

/**
 * A computation that emits `Part`s and ends with the `A` that they fold to.
 *
 * A call that only emits parts (`fromIterable`, `fromStream`) has `never` for
 * `A`: its value comes from the fold of whoever runs it.
 */
export interface Call<out Part, out A, out E = never, out R = never> extends Pipeable {
  readonly [TypeId]: {
    readonly _Part: (_: never) => Part
    readonly _A: (_: never) => A
    readonly _E: (_: never) => E
    readonly _R: (_: never) => R
  }
}

/** Any call. */
export type Any = Call<unknown, unknown, unknown, unknown>
/** The parts of a call. */
export type PartOf<C> = C extends Call<infer Part, infer _A, infer _E, infer _R> ? Part : never
/** The value of a call. */
export type ValueOf<C> = C extends Call<infer _P, infer A, infer _E, infer _R> ? A : never
/** The error of a call. */
export type ErrorOf<C> = C extends Call<infer _P, infer _A, infer E, infer _R> ? E : never
/** What a call needs. */
export type ContextOf<C> = C extends Call<infer _P, infer _A, infer _E, infer R> ? R : never

/**
 * Inside this module a sink is untyped: it accepts more than the call at hand
 * emits, which a type parameter of `Call` cannot say without being invariant.
 * The public signatures are the check.
 */
// oxlint-disable-next-line no-explicit-any
export type Down = Sink<any, any>

/** A call. */
export class CallImpl<Part, A, E, R> implements Call<Part, A, E, R> {
  declare readonly [TypeId]: Call<Part, A, E, R>[typeof TypeId]
  readonly into: (sink: Down) => Effect.Effect<void, E, R>
  constructor(into: (sink: Down) => Effect.Effect<void, E, R>) {
    this.into = into
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is a call. */
export const isCall = (u: unknown): u is Any => u instanceof CallImpl

/** Sends the parts of a call into a sink. */
export const flow = <E, R>(self: Call<unknown, unknown, E, R>, sink: Down): Effect.Effect<void, E, R> =>
  (self as CallImpl<unknown, unknown, E, R>).into(sink)
