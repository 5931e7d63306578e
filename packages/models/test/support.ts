import { Call, ChatModel, type Errors } from "@heddle/core"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A request that asks nothing in particular. */
export const request = ChatModel.request({})

/** Runs a call for its value and its parts, with what the receiver wants. */
export const collect = (call: ChatModel.ModelCall) => Call.collect(call, ChatModel.fold)

/** The texts of parts; a reset as `!`. */
export const shown = (parts: ReadonlyArray<ChatModel.ModelPart | Call.Reset>): ReadonlyArray<string> =>
  parts.flatMap((part) => (part._tag === "Text" ? [part.text] : part._tag === "Reset" ? ["!"] : []))

/** The text of a reply. */
export const textOf = (reply: ChatModel.ModelReply): string =>
  reply.content.map((part) => (part._tag === "Text" ? part.text : "")).join("")

/** A model that counts its calls: begun, and under way. */
export const counting = (answer: (turn: number) => ChatModel.ModelCall) => {
  const counts = { begun: 0, running: 0, mostRunning: 0 }
  const model: ChatModel.Service = {
    call: () =>
      Call.fromSink((sink) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            counts.running++
            counts.mostRunning = Math.max(counts.running, counts.mostRunning)
            return counts.begun++
          }),
          (turn) => Call.into(answer(turn), sink),
          () => Effect.sync(() => counts.running--)
        )
      )
  }
  return { counts, model }
}

/** A model that fails with these errors in turn, then answers `done`. */
export const failing = (...errors: ReadonlyArray<Errors.ModelError>) =>
  counting((turn) => {
    const error = errors[turn]
    return error === undefined ? ChatModel.reply("done") : Call.fail(error)
  })

/**
 * Runs an effect at a time that goes on by itself, to the next sleeper, whenever
 * nothing else is left to do. For properties, of which the time is none of their own.
 */
export const simulated = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let now = 0
    let order = 0
    let waking = false
    const sleepers = new Set<{ readonly at: number; readonly order: number; readonly wake: () => void }>()
    const wakeNext = () => {
      waking = false
      const [next] = [...sleepers].toSorted((a, b) => a.at - b.at || a.order - b.order)
      if (next === undefined) return
      sleepers.delete(next)
      now = Math.max(now, next.at)
      next.wake()
      later()
    }
    // An immediate comes when all that could run has run.
    const later = () => {
      if (waking || sleepers.size === 0) return
      waking = true
      setImmediate(wakeNext)
    }
    const nanos = () => BigInt(Math.round(now)) * 1_000_000n
    const clock: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => now,
      unsafeCurrentTimeNanos: nanos,
      currentTimeMillis: Effect.sync(() => now),
      currentTimeNanos: Effect.sync(nanos),
      sleep: (duration) =>
        Effect.async<void>((resume) => {
          const sleeper = { at: now + Duration.toMillis(duration), order: order++, wake: () => resume(Effect.void) }
          sleepers.add(sleeper)
          later()
          return Effect.sync(() => sleepers.delete(sleeper))
        })
    }
    return Effect.withClock(effect, clock)
  })
