/**
 * The ways out of a handler, a tool and the model: who a failure is noted for,
 * and what becomes of a finish.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { HandlerDefect } from "../Errors.ts"
import { CurrentRun, type Place } from "./currentRun.ts"
import { Finish, finished, FinishSignal } from "./finish.ts"

/** Marks a failure as coming from `hook` of `handler`, unless something further inside has marked it already: for the last event, and on the span that is open. */
const mark = (cause: Cause.Cause<unknown>, handler?: string, hook?: Place): Effect.Effect<never, unknown> =>
  Effect.flatMap(CurrentRun, (cell) => {
    const failing = Effect.failCause(cause)
    const first = cell?.note(Cause.squash(cause), {
      ...(handler !== undefined && { handler }),
      ...(hook !== undefined && { hook })
    })
    return first === true && handler !== undefined
      ? Effect.zipRight(Effect.annotateCurrentSpan({ "heddle.handler": handler, "heddle.hook": hook }), failing)
      : failing
  })

/** Marks a failure as that of the model or a tool, and of no handler. */
export const markBase = (cause: Cause.Cause<unknown>) => mark(cause)

/** The failure by which a hook ended the run, if a cause is that. */
const finishing = (cause: Cause.Cause<unknown>): Finish | undefined => {
  const failure = Cause.failureOption(cause)
  return failure._tag === "Some" && failure.value instanceof Finish ? failure.value : undefined
}

/** How a failure leaves a handler: a `finish` becomes a signal, anything else is marked. */
export const wayOut = (handler: string, place: Place) => (cause: Cause.Cause<unknown>) => {
  if (finished(cause) !== undefined) return Effect.failCause(cause)
  const finish = finishing(cause)
  return finish === undefined ? mark(cause, handler, place) : Effect.die(new FinishSignal(finish.answer))
}

/** Lets a handler's failure out of it. */
export const leaving = <A>(effect: Effect.Effect<A, unknown, unknown>, handler: string, place: Place) =>
  Effect.catchAllCause(effect, wayOut(handler, place))

/** A defect that names handler and hook. */
export const defect = (handler: string, place: Place, problem: string, cause?: unknown) =>
  leaving(Effect.die(new HandlerDefect(handler, place, problem, cause)), handler, place)
