import type { Handler } from "@heddle/core"
import { Context, Effect, Exit, Layer, Ref } from "effect"
import type { User } from "./Users.ts"

/** What the service keeps of its runs: how many are under way, and how each ended. */
export class Journal extends Context.Tag("Journal")<
  Journal,
  {
    readonly active: Ref.Ref<number>
    readonly ended: (user: User, end: Handler.RunExit) => Effect.Effect<void>
  }
>() {
  /** Writes to the log. */
  static readonly Live = Layer.effect(
    Journal,
    Effect.map(Ref.make(0), (active) => ({
      active,
      ended: (user, { exit, history }) =>
        Effect.log(
          `A run of ${user.name} ${Exit.isSuccess(exit) ? "succeeded" : Exit.isInterrupted(exit) ? "was cancelled" : "failed"}` +
            ` after ${history.length} messages`
        )
    }))
  )
}
