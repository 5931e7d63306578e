/**
 * Waiting for another process that has the file.
 *
 * The driver could wait by itself, but it would stop the whole thread, also for the
 * one that is waited for if that is in this process.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { DatabaseError } from "../../DatabaseError.ts"
import type { Restore } from "./turns.ts"

/** Milliseconds between two tries. */
const pause = 5

/** How many can wait before each of them pauses longer, so that their tries leave the thread time for others. */
const atEase = 16

type Tried<A> = Effect.Effect<A, DatabaseError>

/** Tries again and again. Is run where nothing can be interrupted but what is in `restore`, as the pauses are. */
export type Waiting = <A>(tried: Tried<A>, restore: Restore) => Tried<A>

/**
 * Tries while another connection has the file, for as long as `patience` from the
 * first try that finds it so: what comes before that is no wait for another process.
 */
export const makeWaiting = (patience: Duration.DurationInput): Waiting => {
  // By the real clock: what a program takes for the time is nothing to another process.
  const clock = Clock.make()
  let waiting = 0
  return <A>(tried: Tried<A>, restore: Restore): Tried<A> => {
    const again = (error: DatabaseError, end: number): Tried<A> => {
      const left = end - clock.unsafeCurrentTimeMillis()
      if (left <= 0) return Effect.fail(error)
      const jitter = 0.8 + 0.4 * Math.random()
      const millis = Math.min(left, pause * jitter * Math.max(1, waiting / atEase))
      return restore(clock.sleep(Duration.millis(millis))).pipe(
        Effect.zipRight(tried),
        Effect.catchIf(isLocked, (error) => again(error, end))
      )
    }
    return Effect.catchIf(tried, isLocked, (error) => {
      waiting++
      const end = clock.unsafeCurrentTimeMillis() + Duration.toMillis(patience)
      return Effect.ensuring(
        again(error, end),
        Effect.sync(() => waiting--)
      )
    })
  }
}

const isLocked = (error: DatabaseError) => error.reason === "Locked"
