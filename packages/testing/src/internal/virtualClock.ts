/**
 * A clock that never makes anybody wait: when nothing else can go on, time jumps
 * to the next sleeper. Timeouts and back-offs keep their order.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Makes a clock that starts at zero. */
export const make = (): Clock.Clock => {
  let now = 0
  let ticking = false
  const sleepers: Array<Sleeper> = []

  const tick = () => {
    ticking = false
    const next = sleepers.reduce<Sleeper | undefined>((a, b) => (a === undefined || b.at < a.at ? b : a), undefined)
    if (next === undefined) return
    sleepers.splice(sleepers.indexOf(next), 1)
    now = Math.max(now, next.at)
    next.wake()
    schedule()
  }
  // A macrotask: fibers that can go on run in microtasks, so they all go first.
  const schedule = () => {
    if (ticking || sleepers.length === 0) return
    ticking = true
    setImmediate(tick)
  }

  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1_000_000)),
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1_000_000))),
    sleep: (duration) =>
      Effect.async((resume) => {
        const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        if (sleeper.at === Infinity) return
        sleepers.push(sleeper)
        schedule()
        return Effect.sync(() => {
          const i = sleepers.indexOf(sleeper)
          if (i >= 0) sleepers.splice(i, 1)
        })
      })
  }
}
