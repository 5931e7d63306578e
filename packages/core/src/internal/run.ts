/**
 * What all parts of a run share: its place in the context of its fibers, the
 * way out for a hook's failure, and the state of one attempt.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import type { AgentResult, RunConfig, RunEnd } from "../AgentRun.ts"
import * as ChatModel from "../ChatModel.ts"
import { HandlerDefect } from "../Errors.ts"
import type { HookName } from "../Handler.ts"
import * as History from "../History.ts"
import * as Message from "../Message.ts"
import { CurrentRun, PendingScope, type Run } from "./currentRun.ts"
import { Finish, finished, FinishSignal } from "./finish.ts"

/** Where in a handler something happened. */
export type Place = HookName | "provide" | "effect"

/**
 * Runs an effect in another context. What `Effect.provide` does, at a quarter of
 * its cost: the context is put back by one exit handler.
 */
export const within = <A, E>(effect: Effect.Effect<A, E, unknown>, context: Context.Context<unknown>) =>
  Effect.withFiberRuntime<A, E>((fiber) => {
    const before = fiber.getFiberRef(FiberRef.currentContext)
    return Effect.zipRight(
      FiberRef.set(FiberRef.currentContext, context),
      Effect.onExit(effect as Effect.Effect<A, E>, () => FiberRef.set(FiberRef.currentContext, before))
    )
  })

/** The context with the run in it. A pending change of instructions has been taken, and is gone from it. */
export const entered = (context: Context.Context<unknown>, run: Run): Context.Context<unknown> => {
  const services = new Map(context.unsafeMap)
  services.set(CurrentRun.key, run)
  services.delete(PendingScope.key)
  return Context.unsafeMake(services)
}

// -----------------------------------------------------------------------------
// ways out
// -----------------------------------------------------------------------------

/** Marks a failure as coming from `place` of `handler`, unless something further inside has marked it already. */
const mark = (cause: Cause.Cause<unknown>, handler?: string, place?: Place): Effect.Effect<never, unknown> =>
  Effect.flatMap(CurrentRun, (run) => {
    const error = Cause.squash(cause)
    if (run.origins !== undefined && !run.origins.has(error)) run.origins.set(error, { handler, place })
    return Effect.failCause(cause)
  })

/** Lets a handler's failure out of it: a `finish` becomes a signal, anything else is marked. */
export const leaving = <A>(effect: Effect.Effect<A, unknown, unknown>, handler: string, place: Place) =>
  Effect.catchAllCause(effect, (cause) => {
    if (finished(cause) !== undefined) return Effect.failCause(cause)
    const failure = Cause.failureOption(cause)
    return failure._tag === "Some" && failure.value instanceof Finish
      ? Effect.die(new FinishSignal(failure.value.answer))
      : mark(cause, handler, place)
  })

/** Lets a failure of the model or of a tool out: it is nobody's of the handlers. */
export const leavingBase = <A>(effect: Effect.Effect<A, unknown, unknown>) =>
  Effect.catchAllCause(effect, (cause) => mark(cause))

/** A defect that names handler and hook. */
export const defect = (handler: string, place: Place, problem: string, cause?: unknown) =>
  leaving(Effect.die(new HandlerDefect(handler, place, problem, cause)), handler, place)

// -----------------------------------------------------------------------------
// the state of an attempt
// -----------------------------------------------------------------------------

/** How far an attempt at a run has come. Owned by its loop; read when it ends, however it does. */
export interface Attempt {
  /** Settled messages. */
  history: History.History
  /** The reply that is being worked on: its calls may still be pending. */
  reply: Message.AssistantMessage | undefined
  /** The outcomes of its calls, as they come in. */
  outcomes: Map<number, Message.ToolOutcome>
  steps: number
  usage: ChatModel.Usage
}

/** An attempt that has not begun. */
export const newAttempt = (config: RunConfig): Attempt => ({
  history: History.append(config.history, config.input),
  reply: undefined,
  outcomes: new Map(),
  steps: 0,
  usage: ChatModel.noUsage
})

/** Fills in the outcomes of a reply's calls. */
export const withOutcomes = (
  reply: Message.AssistantMessage,
  outcomes: ReadonlyMap<number, Message.ToolOutcome>
): Message.AssistantMessage => ({
  ...reply,
  content: reply.content.map((content, i) => {
    const outcome = outcomes.get(i)
    return outcome === undefined || content._tag !== "ToolCall" ? content : { ...content, outcome }
  })
})

/** What was said so far, every call with an outcome. */
export const historySoFar = (attempt: Attempt): History.History =>
  attempt.reply === undefined
    ? attempt.history
    : History.append(attempt.history, History.settle([withOutcomes(attempt.reply, attempt.outcomes)])[0]!)

/** The result of an attempt. */
export const result = (attempt: Attempt, history: History.History, text: string, end: RunEnd): AgentResult => ({
  output: text,
  text,
  history,
  steps: attempt.steps,
  usage: attempt.usage,
  end
})

/** The result of an attempt that a handler ended with an answer. */
export const answered = (attempt: Attempt, answer: string): AgentResult =>
  result(attempt, History.append(historySoFar(attempt), Message.assistant(answer)), answer, "finish")
