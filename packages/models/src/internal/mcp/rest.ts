/**
 * Leaving alone what has just failed, so that not everybody who asks waits for it to
 * fail once more.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Failure } from "./failure.ts"

/** Milliseconds. */
const shortest = 1000
const longest = 60_000

/**
 * Rests after failures: a second, or as long as the attempt took if that is longer,
 * doubled with each failure in a row, up to a minute. Meanwhile the last failure stands.
 */
export class Rest {
  private failed: { readonly failure: Failure; readonly times: number; readonly until: number } | undefined

  /** Does the work unless it has to rest. An interruption is no failure. */
  after<A, R>(work: Effect.Effect<A, Failure, R>): Effect.Effect<A, Failure, R> {
    return Effect.flatMap(Clock.currentTimeMillis, (begun) => {
      const { failed } = this
      if (failed !== undefined && begun < failed.until) return failed.failure
      const remember = (failure: Failure) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const times = (failed?.times ?? 0) + 1
          const rest = Math.min(longest, Math.max(shortest, now - begun) * 2 ** (times - 1))
          this.failed = { failure, times, until: now + rest }
        })
      const forget = Effect.sync(() => {
        this.failed = undefined
      })
      return Effect.zipLeft(Effect.tapError(work, remember), forget)
    })
  }
}
