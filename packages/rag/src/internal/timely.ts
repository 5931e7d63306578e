/**
 * A timeout that costs little where nothing has to be waited for.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"

/**
 * Fails if the effect takes longer. It is begun before there is a timer: a search in
 * memory or in a file is done by then, and a timer with the two fibers of a race would
 * take several times as long as it.
 */
export const timely =
  <E2>(duration: Duration.DurationInput, onTimeout: () => E2) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | E2> =>
    Effect.flatMap(Effect.runtime<never>(), (runtime) =>
      Effect.uninterruptibleMask((restore) => {
        const fiber = Runtime.runFork(runtime)(effect)
        const exit = fiber.unsafePoll()
        if (exit !== null) return Effect.zipRight(Fiber.inheritAll(fiber), exit)
        return restore(Effect.timeoutFail(Fiber.join(fiber), { duration, onTimeout })).pipe(
          Effect.onExit(() => Fiber.interrupt(fiber))
        )
      })
    )
