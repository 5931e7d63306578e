/**
 * A `Call` is a computation that emits parts while it runs and ends with a
 * value: the one shape of a model call, of a tool call and of an agent's run.
 *
 * The value of a call *is* the fold of its parts, so whatever a handler does
 * to the parts it has done to the value, and running a call cannot differ from
 * streaming it.
 *
 * @example
 * ```ts
 * import { Call, ChatModel } from "@heddle/core"
 *
 * // Upper-case what the model says, whether it is streamed or not.
 * const loud = (call: ChatModel.ModelCall) =>
 *   Call.map(call, (part) =>
 *     part._tag === "Text" ? { ...part, text: part.text.toUpperCase() } : part
 *   )
 * ```
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Mailbox from "effect/Mailbox"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import {
  Attempting,
  type Demand,
  Each,
  emitAll,
  type Fold,
  Folding,
  isReset,
  type Reset,
  type Sink,
  type Wait
} from "./internal/sink.ts"

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

export { type Accumulator, type Demand, type Fold, isReset, Reset, type Sink, type Wait } from "./internal/sink.ts"

/**
 * Inside this module a sink is untyped: it accepts more than the call at hand
 * emits, which a type parameter of `Call` cannot say without being invariant.
 * The public signatures are the check.
 */
// oxlint-disable-next-line no-explicit-any
type Down = Sink<any, any>

class CallImpl<Part, A, E, R> implements Call<Part, A, E, R> {
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

// -----------------------------------------------------------------------------
// running
// -----------------------------------------------------------------------------

const flow = <E, R>(self: Call<unknown, unknown, E, R>, sink: Down): Effect.Effect<void, E, R> =>
  (self as CallImpl<unknown, unknown, E, R>).into(sink)

/**
 * Sends the parts of a call into a sink, as an Effect that is to be run once.
 * For those who write a new kind of call; everybody else uses `run`, `stream` or
 * a combinator.
 */
export const into: <Part, A, P extends Part, A1 extends A, E, R>(
  self: Call<P, A1, E, R>,
  sink: Sink<Part, A>
) => Effect.Effect<void, E, R> = flow

/** Makes a sink from a fold and what to do with each part. */
export const sink = <Part, A>(fold: Fold<Part, A>, demand: Demand, emit: (part: Part | Reset) => Wait): Sink<Part, A> =>
  new Each(fold, demand, emit)

/** Runs a call for its value. */
export const run = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const target = new Folding(fold)
    return Effect.map(flow(self, target), () => target.value())
  })

/** Runs a call for its value and all its parts, resets included. */
export const collect = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>
): Effect.Effect<{ readonly value: A; readonly parts: ReadonlyArray<Part | Reset> }, E, R> =>
  Effect.suspend(() => {
    const parts: Array<Part | Reset> = []
    const target = new Folding(
      fold,
      sink<Part, A>(fold, "live", (part) => {
        parts.push(part)
      })
    )
    return Effect.map(flow(self, target), () => ({ value: target.value(), parts }))
  })

/** Parts that may wait for their reader before the call is held back. */
const streamBuffer = 256

/**
 * Runs a call as a stream of its parts, with back-pressure. Ending the stream
 * early interrupts the call and waits until it has been left.
 */
export const stream = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>
): Stream.Stream<Part | Reset, E, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<Part | Reset, E>(streamBuffer)
      const live = sink<Part, A>(fold, "live", (part) =>
        mailbox.unsafeOffer(part) ? undefined : Effect.asVoid(mailbox.offer(part))
      )
      yield* flow(self, live).pipe(
        Effect.onExit((exit) => mailbox.done(exit)),
        // The exit is the mailbox's; nobody else hears of it from the fiber.
        Effect.ignore,
        Effect.interruptible,
        Effect.forkScoped
      )
      // Runs before the interruption: a last word that nobody reads must not wait for a reader.
      yield* Effect.addFinalizer(() => mailbox.shutdown)
      return Mailbox.toStream(mailbox)
    })
  )

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/** A call from a function that is handed the sink. The fast way, for engines and adapters: honour what `emit` returns. */
export const fromSink = <Part, A, E = never, R = never>(
  f: (sink: Sink<Part, A>) => Effect.Effect<void, E, R>
): Call<Part, A, E, R> => new CallImpl(f)

/** A call from an Effect that emits its parts one by one. */
export const make = <Part, E = never, R = never>(
  f: (emit: (part: Part) => Effect.Effect<void>, demand: Demand) => Effect.Effect<void, E, R>
): Call<Part, never, E, R> =>
  new CallImpl((sink) => f((part) => Effect.suspend(() => sink.emit(part) ?? Effect.void), sink.demand))

/** A call that ends at once with a value, in one piece. */
export const succeed = <const A>(value: A): Call<never, A> => new CallImpl((sink) => sink.whole(value) ?? Effect.void)

/** A call that fails. */
export const fail = <E>(error: E): Call<never, never, E> => new CallImpl(() => Effect.fail(error))

/** A call that dies. */
export const die = (defect: unknown): Call<never, never> => new CallImpl(() => Effect.die(defect))

/** A call that ends with what an Effect gives, in one piece. */
export const fromEffect = <A, E, R>(effect: Effect.Effect<A, E, R>): Call<never, A, E, R> =>
  new CallImpl((sink) => Effect.flatMap(effect, (value) => sink.whole(value) ?? Effect.void))

/** A call that emits the given parts. */
export const fromIterable = <Part>(parts: Iterable<Part>): Call<Part, never> =>
  new CallImpl((sink) =>
    Effect.suspend(() => emitAll(sink, Array.isArray(parts) ? parts : Array.from(parts)) ?? Effect.void)
  )

/** A call that emits the elements of a stream. */
export const fromStream = <Part, E, R>(stream: Stream.Stream<Part, E, R>): Call<Part, never, E, R> =>
  new CallImpl((sink) =>
    Stream.runForEachChunk(stream, (chunk) => emitAll(sink, Chunk.toReadonlyArray(chunk)) ?? Effect.void)
  )

/** A call that an Effect makes first. */
export const unwrap = <C extends Any, E, R>(
  effect: Effect.Effect<C, E, R>
): Call<PartOf<C>, ValueOf<C>, E | ErrorOf<C>, R | ContextOf<C>> =>
  // `flow` gives the error and the context of any call; those of a `C` are named by the types above.
  new CallImpl((sink) =>
    Effect.flatMap(effect, (self) => flow(self as Call<unknown, unknown, ErrorOf<C>, ContextOf<C>>, sink))
  )

// -----------------------------------------------------------------------------
// parts
// -----------------------------------------------------------------------------

const atLeastParts = (demand: Demand): Demand => (demand === "value" ? "parts" : demand)

/** A call like `self` whose parts go through `emit` on their way to the sink. */
const through = <Part, A, E, R, P2>(
  self: Call<Part, A, E, R>,
  step: (sink: Down) => (part: Part) => Wait
): Call<P2, A, E, R> =>
  new CallImpl((outer) => {
    const each = step(outer)
    const passing = (part: Part | Reset) => (isReset(part) ? outer.emit(part) : each(part))
    return flow(self, new Each<Part, A>(outer.fold, atLeastParts(outer.demand), passing))
  })

/** Changes each part, and so the value. */
export const map: {
  <Part, P2>(f: (part: Part) => P2): <A, E, R>(self: Call<Part, A, E, R>) => Call<P2, A, E, R>
  <Part, A, E, R, P2>(self: Call<Part, A, E, R>, f: (part: Part) => P2): Call<P2, A, E, R>
} = dual(2, <Part, A, E, R, P2>(self: Call<Part, A, E, R>, f: (part: Part) => P2): Call<P2, A, E, R> =>
  through<Part, A, E, R, P2>(self, (sink) => (part) => sink.emit(f(part)))
)

/** Looks at each part before it is passed on. An Effect that `f` returns is run first. */
export const tap: {
  <Part>(f: (part: Part) => void | Effect.Effect<void>): <A, E, R>(self: Call<Part, A, E, R>) => Call<Part, A, E, R>
  <Part, A, E, R>(self: Call<Part, A, E, R>, f: (part: Part) => void | Effect.Effect<void>): Call<Part, A, E, R>
} = dual(
  2,
  <Part, A, E, R>(self: Call<Part, A, E, R>, f: (part: Part) => void | Effect.Effect<void>): Call<Part, A, E, R> =>
    through<Part, A, E, R, Part>(self, (sink) => (part) => {
      const wait: unknown = f(part)
      return Effect.isEffect(wait)
        ? Effect.flatMap(wait as Effect.Effect<void>, () => sink.emit(part) ?? Effect.void)
        : sink.emit(part)
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
  readonly schedule?: Schedule.Schedule<unknown, E, R>
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
