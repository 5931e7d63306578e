import type { Handler } from "@heddle/core"
import { Context, Effect, Exit, Layer, Stream, SubscriptionRef } from "effect"
import type { User } from "./Users.ts"

/** What the service keeps of its runs: how many are under way, and how each ended. */
export class Journal extends Context.Tag("Journal")<
  Journal,
  {
    readonly active: SubscriptionRef.SubscriptionRef<number>
    readonly ended: (user: User, end: Handler.RunExit) => Effect.Effect<void>
  }
>() {
  /** Writes to the log. */
  static readonly Live = Layer.effect(
    Journal,
    Effect.map(SubscriptionRef.make(0), (active) => ({
      active,
      ended: (user, { exit, history }) =>
        Effect.log(
          `A run of ${user.name} ${Exit.isSuccess(exit) ? "succeeded" : Exit.isInterrupted(exit) ? "was cancelled" : "failed"}` +
            ` after ${history.length} messages`
        )
    }))
  )

  /** Waits until `n` runs are under way. */
  static readonly until = (active: SubscriptionRef.SubscriptionRef<number>, n: number) =>
    Stream.runDrain(Stream.takeUntil(active.changes, (now) => now === n))
}
