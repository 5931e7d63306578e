/**
 * Turns, one at a time and in the order of arrival: nobody who comes late is before
 * others. A turn that is given is taken, or passed on if its taker is interrupted at
 * that very moment.
 */
import * as Effect from "effect/Effect"

/** What makes waiting as interruptible as the caller is. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export interface Turns {
  /** Waits for a turn, which is then kept until it is passed on. Is for those who cannot be interrupted but within `restore`. */
  readonly take: (restore: Restore) => Effect.Effect<void>
  readonly pass: Effect.Effect<void>
}

export const makeTurns = (): Turns => {
  let taken = false
  const queue = new Set<() => void>()
  const pass = () => {
    const [next] = queue
    if (next === undefined) taken = false
    else next()
  }
  const queued = (restore: Restore) =>
    Effect.suspend(() => {
      let given = false
      let leave = () => {}
      const turn = Effect.async<void>((resume) => {
        const next = () => {
          given = true
          leave()
          resume(Effect.void)
        }
        leave = () => queue.delete(next)
        queue.add(next)
      })
      return Effect.onInterrupt(restore(turn), () => Effect.sync(() => (given ? pass() : leave())))
    })
  return {
    take: (restore) =>
      Effect.suspend(() => {
        if (taken) return queued(restore)
        taken = true
        return Effect.void
      }),
    pass: Effect.sync(pass)
  }
}
