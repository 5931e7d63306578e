/**
 * When to try again what has failed: after a while, which doubles with each failure
 * in a row. Times are in milliseconds since the epoch.
 */
import * as Duration from "effect/Duration"

interface Failures {
  readonly count: number
  readonly until: number
}

/** Keys that are remembered. Beyond them the one that failed first is forgotten, and may be tried at once. */
const maxKeys = 10_000

export class BackOff {
  private readonly failures = new Map<string, Failures>()
  private readonly first: number
  private readonly longest: number

  constructor(first: Duration.Duration, longest: Duration.Duration) {
    this.first = Duration.toMillis(first)
    this.longest = Duration.toMillis(longest)
  }

  /** Whether it is too early for another try. */
  waits(key: string, now: number): boolean {
    return now < (this.failures.get(key)?.until ?? 0)
  }

  /** Notes a failure, and gives the time of the next try. */
  fail(key: string, now: number): number {
    const count = (this.failures.get(key)?.count ?? 0) + 1
    const until = now + Math.min(this.first * 2 ** (count - 1), this.longest)
    this.failures.set(key, { count, until })
    if (this.failures.size > maxKeys) this.failures.delete(this.failures.keys().next().value!)
    return until
  }

  succeed(key: string): void {
    this.failures.delete(key)
  }
}
