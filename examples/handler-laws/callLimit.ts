/**
 * A handler of one's own: it lets a run make so many tool calls and denies the
 * rest. It counts, so it is built afresh for each run.
 */
import { Call, Handler, Message } from "@heddle/core"
import { Effect, Ref } from "effect"

/** Denies the tool calls of a run after the first `limit`. */
export const callLimit = (limit: number) =>
  Handler.effect(
    "call-limit",
    Effect.map(Ref.make(0), (calls) => ({
      wrapToolCall: (request, next) =>
        Call.unwrap(
          Effect.map(
            Ref.updateAndGet(calls, (n) => n + 1),
            (n) => (n <= limit ? next(request) : Call.succeed(Message.denied(`a run may call ${limit} tools`)))
          )
        )
    }))
  )
