/** Notices where what was said in a run could not be kept. */
import * as Effect from "effect/Effect"
import { type CliError, failed } from "../failure.ts"
import { unkept } from "./errors.ts"
import type { Event, Shown } from "./Shown.ts"

/** The same, and `kept`, which fails once the run has ended if something of it is not kept. */
export const keeping = (shown: Shown): Shown & { readonly kept: Effect.Effect<void, CliError> } => {
  let error: unknown
  return {
    ...shown,
    event: (event) => {
      error ??= lossIn(event)
      return shown.event(event)
    },
    kept: Effect.suspend(() =>
      error === undefined
        ? Effect.void
        : failed("The answer was not kept: the session goes on as if this had not been said.", error)
    )
  }
}

/** What could not be kept, by the agent itself or by one that it asks. A summary can be written later. */
const lossIn = (event: Event): unknown => {
  if (event._tag === "Warning") return unkept(event.error) === undefined ? undefined : event.error
  // What an agent tells of its progress are events. A server may tell of its own in any words.
  if (event._tag !== "ToolProgress" || typeof event.value !== "object" || event.value === null) return undefined
  return "_tag" in event.value ? lossIn(event.value as Event) : undefined
}
