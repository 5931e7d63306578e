/**
 * Keeps the exchange of a run, where its mode says.
 */
import { type AgentRun, Call, History } from "@heddle/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Hybrid } from "../ContextMode.ts"
import { type ConversationInfo, type ConversationKey, main, type NewExchange, type Service } from "../Conversations.ts"
import { messagesOf, reportExchange, reportOf, withoutToolCalls } from "./record.ts"
import { CurrentInFlight, type Plan, type View } from "./view.ts"

/** What a run is kept with. */
export interface Keeping {
  readonly store: Service
  readonly plan: Plan
  readonly view: View
  readonly run: AgentRun.RunConfig
  /** The name of the handler, for its warnings. */
  readonly handler: string
}

/** What became of it. */
export interface Kept {
  /** What is then known of the conversation that it was added to. */
  readonly info: ConversationInfo | undefined
  readonly warnings: ReadonlyArray<AgentRun.Warning>
}

/** Keeps the exchange of a run that has ended well. */
export const keep = (keeping: Keeping, result: AgentRun.AgentResult): Effect.Effect<Kept> => {
  const { plan, run, view } = keeping
  const { mode } = plan
  const added = messagesOf(result.history, run)
  const messages = mode._tag === "shared" && !mode.toolCalls ? withoutToolCalls(added, result.text) : added
  const own = append(keeping, view.writesTo, messages)
  if (mode._tag !== "hybrid") return own
  return Effect.zipWith(own, report(keeping, mode, added, { answer: result.text }), (kept, warnings) => ({
    ...kept,
    warnings: [...kept.warnings, ...warnings]
  }))
}

const noWarnings: ReadonlyArray<AgentRun.Warning> = []

const append = (
  { handler, run, store }: Keeping,
  key: ConversationKey,
  messages: NewExchange["messages"]
): Effect.Effect<Kept> =>
  orWarning(
    handler,
    store.append(key, { agent: run.agent, messages }),
    (info): Kept => ({ info, warnings: noWarnings }),
    (warning): Kept => ({ info: undefined, warnings: [warning] })
  )

/** What cannot be kept does not cost the answer. */
const orWarning = <A, E, B>(
  handler: string,
  effect: Effect.Effect<A, E>,
  onSuccess: (value: A) => B,
  onFailure: (warning: AgentRun.Warning) => B
): Effect.Effect<B> =>
  Effect.matchCauseEffect(effect, {
    onSuccess: (value) => Effect.succeed(onSuccess(value)),
    onFailure: (cause) =>
      Cause.isInterrupted(cause)
        ? Effect.failCause(cause as Cause.Cause<never>)
        : Effect.succeed(onFailure({ handler, error: Cause.squash(cause) }))
  })

/** Tells the main conversation of the run. Gives what went wrong. */
const report = (
  { handler, run, store, view }: Keeping,
  mode: Hybrid,
  messages: History.History,
  ended: Parameters<typeof reportOf>[3]
): Effect.Effect<ReadonlyArray<AgentRun.Warning>> => {
  const { session, tenant } = view.writesTo
  const reported = Effect.flatMap(reportExchange(mode, reportOf(run.agent, run.input, messages, ended)), (exchange) =>
    store.append(main(session, tenant), { agent: run.agent, messages: exchange })
  )
  return orWarning(
    handler,
    reported,
    () => noWarnings,
    (warning) => [warning]
  )
}

type Run<E, R> = AgentRun.AgentCall<AgentRun.AgentResult, E, R>

/** Tells the main conversation also of a run that fails. */
export const reportingFailure = <E, R>(keeping: Keeping, mode: Hybrid, call: Run<E, R>): Run<E, R> =>
  !mode.errors
    ? call
    : Call.onExit(call, (cause) => {
        if (cause === undefined || Cause.isInterrupted(cause)) return Effect.void
        return Effect.flatMap(History.current, (history) =>
          report(keeping, mode, messagesOf(History.settle(history), keeping.run), { error: Cause.squash(cause) })
        )
      })

/** Lets the runs inside of this one see its exchange as it goes on. */
export const inFlight = <E, R>(keeping: Keeping, call: Run<E, R>): Run<E, R> =>
  Call.around(call, (running) => Effect.gen(() => watched(keeping, running)))

function* watched<A, E, R>({ run, view }: Keeping, running: Effect.Effect<A, E, R>) {
  const context = yield* Effect.context<never>()
  const around = yield* CurrentInFlight
  const now = Effect.map(Effect.provide(History.current, context), (history) => messagesOf(history, run))
  const mine = { key: view.writesTo, now, isOver: false }
  return yield* Effect.provideService(running, CurrentInFlight, [...around, mine]).pipe(
    // Who was started inside and goes on after the run finds the exchange in the conversation.
    Effect.ensuring(Effect.sync(() => (mine.isOver = true)))
  )
}
