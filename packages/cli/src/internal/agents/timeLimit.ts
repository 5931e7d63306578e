/**
 * A limit of time that stands still while a person is asked: how long they think is no
 * matter of what is limited.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"

type Pausing = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Stops the time of all limits that hold here. */
const pausing = globalValue("@heddle/cli/pausing", () => FiberRef.unsafeMake<Pausing>((effect) => effect))

/** Waits for a person: the limits that this is within stand still meanwhile. */
export const unhurried: Pausing = (effect) => Effect.flatMap(FiberRef.get(pausing), (pause) => pause(effect))

/** Fails once something has taken longer, without the time in which a person was asked. */
export const limited = <A, E, R, E2>(
  effect: Effect.Effect<A, E, R>,
  limit: { readonly duration: Duration.DurationInput; readonly onLate: () => E2 }
): Effect.Effect<A, E | E2, R> =>
  Effect.gen(function* () {
    const outer = yield* FiberRef.get(pausing)
    const watch = stopwatch()
    const late = Effect.zipRight(watch.wait(Duration.toMillis(limit.duration)), Effect.failSync(limit.onLate))
    const inner = Effect.locally(effect, pausing, (asking) => outer(watch.pause(asking)))
    return yield* Effect.raceFirst(inner, late)
  })

/** Time that can be stopped. */
const stopwatch = () => {
  const runs = Effect.unsafeMakeLatch(true)
  let pauses = 0
  let since = 0
  let stood = 0
  const begin = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    pauses += 1
    if (pauses > 1) return Effect.void
    since = now
    return runs.close
  })
  const end = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    pauses -= 1
    if (pauses > 0) return Effect.void
    stood += now - since
    return runs.open
  })
  const pause: Pausing = (effect) =>
    Effect.acquireUseRelease(
      begin,
      () => effect,
      () => end
    )
  const wait = (millis: number) =>
    Effect.gen(function* () {
      const start = yield* Clock.currentTimeMillis
      for (let left = millis; left > 0; left = millis - ((yield* Clock.currentTimeMillis) - start - stood)) {
        yield* Effect.sleep(left)
        yield* runs.await
      }
    })
  return { pause, wait }
}
