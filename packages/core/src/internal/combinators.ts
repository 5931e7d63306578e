/**
 * What can be done to a call: to its parts, to its value, and to its attempts.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Schedule from "effect/Schedule"
import {
  type Any,
  type Call,
  CallImpl,
  type ContextOf,
  type Down,
  type ErrorOf,
  flow,
  type PartOf,
  type ValueOf
} from "./call.ts"
import { Attempting, type Demand, Each, emitAll, Folding, isReset, type Reset, type Wait } from "./sink.ts"

// -----------------------------------------------------------------------------
// parts
// -----------------------------------------------------------------------------

const atLeastParts = (demand: Demand): Demand => (demand === "value" ? "parts" : demand)

/** A call like `self`, with what a sink does to each part on its way to the outer one. */
const through = <Part, A, E, R, P2>(
  self: Call<Part, A, E, R>,
  step: (outer: Down) => (part: Part | Reset) => Wait
): Call<P2, A, E, R> =>
  new CallImpl((outer) => flow(self, new Each<Part, A>(outer.fold, atLeastParts(outer.demand), step(outer))))

/** Changes each part, and so the value. */
export const map: {
  <Part, P2>(f: (part: Part) => P2): <A, E, R>(self: Call<Part, A, E, R>) => Call<P2, A, E, R>
  <Part, A, E, R, P2>(self: Call<Part, A, E, R>, f: (part: Part) => P2): Call<P2, A, E, R>
} = dual(2, <Part, A, E, R, P2>(self: Call<Part, A, E, R>, f: (part: Part) => P2): Call<P2, A, E, R> =>
  through<Part, A, E, R, P2>(self, (outer) => (part) => outer.emit(isReset(part) ? part : f(part)))
)

/** Looks at each part before it is passed on. An Effect that `f` returns is run first. */
export const tap: {
  <Part>(f: (part: Part) => void | Effect.Effect<void>): <A, E, R>(self: Call<Part, A, E, R>) => Call<Part, A, E, R>
  <Part, A, E, R>(self: Call<Part, A, E, R>, f: (part: Part) => void | Effect.Effect<void>): Call<Part, A, E, R>
} = dual(
  2,
  <Part, A, E, R>(self: Call<Part, A, E, R>, f: (part: Part) => void | Effect.Effect<void>): Call<Part, A, E, R> =>
    through<Part, A, E, R, Part>(self, (outer) => (part) => {
      const wait: unknown = isReset(part) ? undefined : f(part)
      return Effect.isEffect(wait)
        ? Effect.flatMap(wait as Effect.Effect<void>, () => outer.emit(part) ?? Effect.void)
        : outer.emit(part)
    })
)

/** Sees parts across chunk borders: `push` may hold parts back, `flush` lets go of the rest at the end. */
export interface Transducer<Part> {
  readonly push: (part: Part) => ReadonlyArray<Part>
  readonly flush: () => ReadonlyArray<Part>
}

/** Sends the parts through a transducer, made afresh for each attempt. */
export const transform: {
  <Part>(make: () => Transducer<Part>): <A, E, R>(self: Call<Part, A, E, R>) => Call<Part, A, E, R>
  <Part, A, E, R>(self: Call<Part, A, E, R>, make: () => Transducer<Part>): Call<Part, A, E, R>
} = dual(
  2,
  <Part, A, E, R>(self: Call<Part, A, E, R>, make: () => Transducer<Part>): Call<Part, A, E, R> =>
    new CallImpl((outer) => {
      let transducer = make()
      const inner = new Each<Part, A>(outer.fold, atLeastParts(outer.demand), (part) => {
        if (!isReset(part)) return emitAll(outer, transducer.push(part))
        transducer = make()
        return outer.emit(part)
      })
      return Effect.flatMap(flow(self, inner), () => emitAll(outer, transducer.flush()) ?? Effect.void)
    })
)

// -----------------------------------------------------------------------------
// values
// -----------------------------------------------------------------------------

const lift = <A, E, R>(result: A | Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.isEffect(result) ? (result as Effect.Effect<A, E, R>) : Effect.succeed(result)

/**
 * Holds all parts back until `judge` has seen the value, then lets them go, or
 * gives what `judge` answered in their place. Nothing gets out when it fails.
 */
export const gate: {
  <A, B, E2 = never, R2 = never>(
    judge: (value: A) => B | Effect.Effect<B, E2, R2>
  ): <Part, E, R>(self: Call<Part, A, E, R>) => Call<Part, A | B, E | NoInfer<E2>, R | NoInfer<R2>>
  <Part, A, E, R, B, E2 = never, R2 = never>(
    self: Call<Part, A, E, R>,
    judge: (value: A) => B | Effect.Effect<B, E2, R2>
  ): Call<Part, A | B, E | NoInfer<E2>, R | NoInfer<R2>>
} = dual(
  2,
  <Part, A, E, R, E2, R2>(
    self: Call<Part, A, E, R>,
    judge: (value: A) => A | Effect.Effect<A, E2, R2>
  ): Call<Part, A, E | E2, R | R2> =>
    new CallImpl((outer) => {
      const held: Array<Part> = []
      const inner = new Folding(
        outer.fold,
        new Each<Part, A>(outer.fold, outer.demand, (part) => {
          if (isReset(part)) held.length = 0
          else held.push(part)
        })
      )
      return Effect.flatMap(flow(self, inner), () => {
        const value = inner.value()
        return Effect.flatMap(
          lift(judge(value)),
          (judged) => (judged === value ? emitAll(outer, held) : outer.whole(judged)) ?? Effect.void
        )
      })
    })
)

/** Looks at the value when the call has ended well. The parts are not held back. */
export const tapValue: {
  <A, E2 = never, R2 = never>(
    f: (value: A) => void | Effect.Effect<unknown, E2, R2>
  ): <Part, E, R>(self: Call<Part, A, E, R>) => Call<Part, A, E | NoInfer<E2>, R | NoInfer<R2>>
  <Part, A, E, R, E2 = never, R2 = never>(
    self: Call<Part, A, E, R>,
    f: (value: A) => void | Effect.Effect<unknown, E2, R2>
  ): Call<Part, A, E | NoInfer<E2>, R | NoInfer<R2>>
} = dual(
  2,
  <Part, A, E, R, E2, R2>(
    self: Call<Part, A, E, R>,
    f: (value: A) => void | Effect.Effect<unknown, E2, R2>
  ): Call<Part, A, E | E2, R | R2> =>
    new CallImpl((outer) => {
      const inner = new Folding(outer.fold, outer)
      return Effect.flatMap(flow(self, inner), () => {
        const seen = f(inner.value())
        return Effect.isEffect(seen) ? Effect.asVoid(seen) : Effect.void
      })
    })
)

// -----------------------------------------------------------------------------
// attempts
// -----------------------------------------------------------------------------

/** Runs a call each time that it is run, taking back what an attempt before had emitted. */
const again = <E, R>(
  self: Call<unknown, unknown, E, R>,
  inner: Attempting<unknown, unknown>
): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const wait = inner.takeBack()
    return wait === undefined ? flow(self, inner) : Effect.flatMap(wait, () => flow(self, inner))
  })

/**
 * Calls again after a failure, as `times`, `while` and `schedule` say. Parts
 * that a failed attempt had emitted are taken back by a `Reset`.
 */
export const retry: {
  <E, R2 = never>(
    options: RetryOptions<E, R2>
  ): <Part, A, R>(self: Call<Part, A, E, R>) => Call<Part, A, E, R | NoInfer<R2>>
  <Part, A, E, R, R2 = never>(
    self: Call<Part, A, E, R>,
    options: RetryOptions<E, R2>
  ): Call<Part, A, E, R | NoInfer<R2>>
} = dual(
  2,
  <Part, A, E, R, R2>(self: Call<Part, A, E, R>, options: RetryOptions<E, R2>): Call<Part, A, E, R | R2> =>
    // `Effect.retry` reads its result's type off the options' own type, which is `RetryOptions` here.
    new CallImpl((outer) => Effect.retry(again(self, new Attempting(outer)), options) as Effect.Effect<void, E, R | R2>)
)

/** When to call again: at most `times` more, only `while` the predicate holds, spaced by `schedule`. */
export interface RetryOptions<in E, out R = never> {
  readonly times?: number
  readonly while?: (error: E) => boolean
  readonly schedule?: Schedule.Schedule<unknown, NoInfer<E>, R>
}

/** Gives what `f` makes of a failure. Parts that the failed call had emitted are taken back by a `Reset`. */
export const orElse: {
  <E, C extends Any>(
    f: (error: E) => C
  ): <Part, A, R>(
    self: Call<Part, A, E, R>
  ) => Call<Part | PartOf<C>, A | ValueOf<C>, ErrorOf<NoInfer<C>>, R | ContextOf<NoInfer<C>>>
  <Part, A, E, R, C extends Any>(
    self: Call<Part, A, E, R>,
    f: (error: E) => C
  ): Call<Part | PartOf<C>, A | ValueOf<C>, ErrorOf<NoInfer<C>>, R | ContextOf<NoInfer<C>>>
} = dual(
  2,
  <Part, A, E, R, P2, A2, E2, R2>(
    self: Call<Part, A, E, R>,
    f: (error: E) => Call<P2, A2, E2, R2>
  ): Call<Part | P2, A | A2, E2, R | R2> =>
    new CallImpl((outer) => {
      const first = new Attempting(outer)
      return Effect.catchAll(flow(self, first), (error) =>
        Effect.flatMap(first.takeBack() ?? Effect.void, () => flow(f(error), outer))
      )
    })
)

/** What stands for the value in an operator given to `around`: nobody can make one or look into it. */
export interface Passed {
  readonly [PassedTypeId]: typeof PassedTypeId
}
declare const PassedTypeId: unique symbol

/**
 * Runs the call inside an Effect operator (a timeout, a span, a semaphore). The
 * operator cannot touch the value; one that runs the call again emits a `Reset`.
 *
 * @example
 * ```ts
 * import { Call, type ChatModel } from "@heddle/core"
 * import { Effect } from "effect"
 *
 * const timed = (call: ChatModel.ModelCall) => Call.around(call, Effect.timeout("30 seconds"))
 * ```
 */
export const around: {
  <E, R, E2, R2>(
    f: (effect: Effect.Effect<Passed, E, R>) => Effect.Effect<Passed, E2, R2>
  ): <Part, A>(self: Call<Part, A, E, R>) => Call<Part, A, E2, R2>
  <Part, A, E, R, E2, R2>(
    self: Call<Part, A, E, R>,
    f: (effect: Effect.Effect<Passed, E, R>) => Effect.Effect<Passed, E2, R2>
  ): Call<Part, A, E2, R2>
} = dual(
  2,
  <Part, A, E, R, E2, R2>(
    self: Call<Part, A, E, R>,
    f: (effect: Effect.Effect<Passed, E, R>) => Effect.Effect<Passed, E2, R2>
  ): Call<Part, A, E2, R2> =>
    new CallImpl((outer) =>
      // The value is nothing, under a name that no operator can make up.
      f(again(self, new Attempting(outer)) as unknown as Effect.Effect<Passed, E, R>)
    )
)

/** Sees how the call ended: well, failed, died or interrupted. */
export const onExit: {
  <E, R2>(
    f: (cause: Cause.Cause<E> | undefined) => Effect.Effect<void, never, R2>
  ): <Part, A, R>(self: Call<Part, A, E, R>) => Call<Part, A, E, R | NoInfer<R2>>
  <Part, A, E, R, R2>(
    self: Call<Part, A, E, R>,
    f: (cause: Cause.Cause<E> | undefined) => Effect.Effect<void, never, R2>
  ): Call<Part, A, E, R | NoInfer<R2>>
} = dual(
  2,
  <Part, A, E, R, R2>(
    self: Call<Part, A, E, R>,
    f: (cause: Cause.Cause<E> | undefined) => Effect.Effect<void, never, R2>
  ): Call<Part, A, E, R | R2> =>
    new CallImpl((outer) =>
      Effect.onExit(flow(self, outer), (exit) => f(exit._tag === "Failure" ? exit.cause : undefined))
    )
)
