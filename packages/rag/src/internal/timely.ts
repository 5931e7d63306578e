/**
 * A timeout that costs little where nothing has to be waited for.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import type * as FiberRefs from "effect/FiberRefs"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"

/**
 * Fails if the effect takes longer, and does not wait then until it has ended: it is
 * interrupted in the background, however long it takes to stop. Where it is itself
 * interrupted, it does wait.
 *
 * The effect is begun before there is a timer: a search in memory or in a file is done
 * by then, and a timer with the two fibers of a race would take several times as long
 * as it.
 */
export const timely =
  <E2>(duration: Duration.DurationInput, onTimeout: () => E2) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | E2> =>
    Effect.flatMap(Effect.runtime<never>(), (runtime) =>
      Effect.uninterruptibleMask((restore) => {
        let begun: FiberRefs.FiberRefs | undefined
        const fiber = Runtime.runFork(runtime)(effect, { updateRefs: (refs) => (begun = refs) })
        // Most leave nothing to take over, and to look at it all takes as long as a search in memory.
        const done = (exit: Exit.Exit<A, E>): Effect.Effect<A, E> =>
          begun !== undefined && isSame(begun, fiber.getFiberRefs())
            ? exit
            : Effect.zipRight(Fiber.inheritAll(fiber), exit)
        const exit = fiber.unsafePoll()
        if (exit !== null) return done(exit)
        // To wait ends in time even where the run cannot be interrupted.
        return restore(Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), duration)).pipe(
          Effect.onInterrupt(() => Fiber.interrupt(fiber)),
          Effect.flatMap(
            Option.match({
              onNone: (): Effect.Effect<A, E | E2> =>
                Effect.zipRight(Fiber.interruptFork(fiber), Effect.fail(onTimeout())),
              onSome: done
            })
          )
        )
      })
    )

/** Whether nothing has been set. A fiber that is asked notes the flags that it runs with. */
const isSame = (before: FiberRefs.FiberRefs, after: FiberRefs.FiberRefs): boolean => {
  for (const [ref, values] of after.locals) {
    if (before.locals.get(ref) !== values && ref !== FiberRef.currentRuntimeFlags) return false
  }
  return true
}
