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
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import {
  type Any,
  type Call,
  CallImpl,
  type ContextOf,
  type ErrorOf,
  flow,
  type PartOf,
  type ValueOf
} from "./internal/call.ts"
import {
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

export {
  type Any,
  type Call,
  type ContextOf,
  type ErrorOf,
  isCall,
  type PartOf,
  type ValueOf
} from "./internal/call.ts"
export {
  around,
  gate,
  map,
  onExit,
  orElse,
  type Passed,
  retry,
  type RetryOptions,
  tap,
  tapValue,
  type Transducer,
  transform
} from "./internal/combinators.ts"
export { type Accumulator, type Demand, type Fold, isReset, Reset, type Sink, type Wait } from "./internal/sink.ts"

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

/** Runs a call for its value, showing each part to `each`. What `each` returns is waited for. */
export const runEach = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>,
  demand: Demand,
  each: (part: Part | Reset) => Wait
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const parts = fold.make()
    const target = sink<Part, A>(fold, demand, (part) => {
      if (isReset(part)) parts.reset()
      else parts.add(part)
      return each(part)
    })
    return Effect.map(flow(self, target), parts.value)
  })

/** Runs a call for its value and all its parts, resets included. */
export const collect = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>
): Effect.Effect<{ readonly value: A; readonly parts: ReadonlyArray<Part | Reset> }, E, R> =>
  Effect.suspend(() => {
    const parts: Array<Part | Reset> = []
    const value = runEach(self, fold, "live", (part) => void parts.push(part))
    return Effect.map(value, (value) => ({ value, parts }))
  })

/** Parts that may wait for their reader before the call is held back. */
const streamBuffer = 1024

/**
 * Runs a call as a stream of its parts, with back-pressure. Ending the stream
 * early interrupts the call and waits until it has been left.
 */
export const stream = <Part, A, E, R, P extends Part, A1 extends A>(
  self: Call<P, A1, E, R>,
  fold: Fold<Part, A>
): Stream.Stream<Part | Reset, E, R> => Stream.unwrapScoped(Effect.gen(() => streamed(self, fold)))

function* streamed<Part, A, E, R, P extends Part, A1 extends A>(self: Call<P, A1, E, R>, fold: Fold<Part, A>) {
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
}

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
