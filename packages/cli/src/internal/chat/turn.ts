/** What is done for one line of a chat, which Ctrl-C cancels. */
import type * as Exit from "effect/Exit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** How it ended: by itself, because it was cancelled, or not yet when nobody wanted to wait any longer. */
export type Ended<A, E> =
  | { readonly _tag: "Done"; readonly exit: Exit.Exit<A, E> }
  | { readonly _tag: "Cancelled" }
  | { readonly _tag: "Abandoned" }

/**
 * Does something until it is done or cancelled: when `cancel` comes to its end, it is
 * interrupted, with all that it has started. When `abandon` comes to its end before
 * that is over, it is not waited for any more.
 */
export const turn = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  { abandon, cancel }: { readonly cancel: Effect.Effect<unknown>; readonly abandon: Effect.Effect<unknown> }
): Effect.Effect<Ended<A, E>, never, R> =>
  Effect.gen(function* () {
    // No child of this fiber: that would be waited for in any case.
    const fiber = yield* Effect.forkDaemon(work)
    const done = Effect.map(Fiber.await(fiber), (exit): Ended<A, E> => ({ _tag: "Done", exit }))
    const first = yield* Effect.raceFirst(done, Effect.asVoid(cancel)).pipe(
      Effect.onInterrupt(() => Fiber.interrupt(fiber))
    )
    if (first !== undefined) return first
    yield* Fiber.interruptFork(fiber)
    return yield* Effect.raceFirst(
      // What was done in that moment is done.
      Effect.map(done, (ended): Ended<A, E> =>
        ended._tag === "Done" && ended.exit._tag === "Success" ? ended : { _tag: "Cancelled" }
      ),
      Effect.as(abandon, { _tag: "Abandoned" } as const)
    )
  })
