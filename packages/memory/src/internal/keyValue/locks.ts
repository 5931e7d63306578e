/**
 * Locks by name, which are there only while somebody holds them or waits.
 */
import * as Effect from "effect/Effect"

interface Lock {
  readonly semaphore: Effect.Semaphore
  users: number
}

/**
 * Lets one effect at a time have a name. Waiting can be interrupted. What has begun
 * cannot: a write that nobody waits for any more would still go on.
 */
export type Exclusive = (name: string) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

export const makeLocks = (): Exclusive => {
  const locks = new Map<string, Lock>()
  return (name) => (effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = locks.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        lock.users++
        locks.set(name, lock)
        return lock
      }),
      ({ semaphore }) => semaphore.withPermits(1)(Effect.uninterruptible(effect)),
      (lock) =>
        Effect.sync(() => {
          if (--lock.users === 0) locks.delete(name)
        })
    )
}
