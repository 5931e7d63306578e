/**
 * The memory of an agent, as a handler: it shows the model what the context mode lets
 * it see of the session's conversations, tells it so in a section of the
 * instructions, and keeps the exchange when the run has ended well.
 *
 * What can be said of a run, it takes from whoever says it most closely. Mode: call
 * over agent over `isolated`. Settings: request (the session) over step (the call's
 * options) over agent over defaults.
 *
 * @example
 * ```ts
 * import { Agent, ChatModel } from "@heddle/core"
 * import { Conversations, Memory, Session, Summaries } from "@heddle/memory"
 * import { Effect, Layer } from "effect"
 *
 * const agent = Agent.make({
 *   name: "helper",
 *   handlers: Memory.handler({ settings: { strategy: "summary", historyLimit: 5 } })
 * })
 * const model = ChatModel.layer(({ history }) => ChatModel.reply(`${history.length} messages`))
 * const Live = Summaries.layer().pipe(
 *   Layer.provideMerge(Conversations.layerMemory()),
 *   Layer.provideMerge(model)
 * )
 *
 * const program = Effect.gen(function* () {
 *   yield* Agent.run(agent, "One")
 *   const result = yield* Agent.run(agent, "Two", Memory.call({ mode: "isolated" }))
 *   console.log(result.text) // 3 messages
 * }).pipe(Session.within("ada"), Effect.provide(Live))
 * await Effect.runPromise(program)
 * ```
 */
import { type Agent, AgentEvent, type AgentRun, Call, Handler, Instructions, Tenant } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as ContextMode from "./ContextMode.ts"
import * as ContextSection from "./ContextSection.ts"
import { type ConversationInfo, Conversations, main } from "./Conversations.ts"
import { inFlight, keep, type Keeping, reportingFailure } from "./internal/keep.ts"
import { planned } from "./internal/plan.ts"
import { type Plan, type View, view, withSummaries } from "./internal/view.ts"
import { type ConversationsUnavailable, InvalidMemory } from "./MemoryErrors.ts"
import type { MemorySettings } from "./MemorySettings.ts"
import { Session, type SessionInfo } from "./Session.ts"
import { type Service, Summaries } from "./Summaries.ts"

/** What an agent says of its memory. */
export interface Options {
  /** @default "isolated" */
  readonly mode?: ContextMode.Input
  readonly settings?: MemorySettings
  /** The section that tells the model what it sees: another text, or none. A text of `""` is none as well. */
  readonly section?: false | ((view: ContextSection.ContextView) => string)
  /** The name of the handler. @default "memory" */
  readonly name?: string
}

/** What one call says, over the agent. */
export type CallOptions = Pick<Options, "mode" | "settings">

/** Where a call's options stand in the metadata of a run. */
const metadataKey = "@heddle/memory"

/**
 * Options of `Agent.run` and of `Node.agent`, with which a call says its mode and
 * settings. They hold for this run of the agent and for none inside of it.
 */
export const call = (options: CallOptions): { readonly metadata: Agent.CallOptions["metadata"] & object } => ({
  metadata: { [metadataKey]: options }
})

/**
 * The handler. Put it before handlers that change the history or the instructions for
 * the model, and behind those that change what the user has said.
 *
 * Throws an `InvalidMemory` where the agent's own options make no sense; where those
 * of a call or of a session do, the run fails with one. If the conversations cannot
 * be read, the run fails before the model is called. If an exchange cannot be kept,
 * the result of the run has a warning.
 */
export const handler = (
  options: Options = {}
): Handler.Handler<never, ConversationsUnavailable | InvalidMemory, Conversations | Session | Summaries> => {
  const ofAgent = planned(options)
  if (ofAgent instanceof InvalidMemory) throw ofAgent
  const { name = "memory", section = ContextSection.text } = options
  const planOf = (run: AgentRun.RunConfig, { id, settings }: SessionInfo, tenant: string): Plan | InvalidMemory => {
    const problems = [...nameProblems("session", id), ...nameProblems("tenant", tenant)]
    if (problems.length > 0) return new InvalidMemory({ problems })
    const said = run.options.metadata[metadataKey] as CallOptions | undefined
    return said === undefined && isEmpty(settings) ? ofAgent : planned(options, said, settings)
  }
  const told = (instructions: Instructions.Instructions, seen: View) => {
    const summaries = withSummaries(instructions, seen)
    return section === false ? summaries : Instructions.append(summaries, section(seen.context), ContextSection.source)
  }
  return Handler.make(name, {
    wrapAgent: (before, next) =>
      Call.unwrap(
        // One look at the context for all three.
        Effect.flatMap(Effect.context<Conversations | Session | Summaries>(), (services): Remembering => {
          const session = Context.get(services, Session)
          const store = Context.get(services, Conversations)
          const summaries = Context.get(services, Summaries)
          const tenant = Context.get(services, Tenant.Tenant)
          const plan = planOf(before, session, tenant)
          if (plan instanceof InvalidMemory) return plan
          return Effect.map(view(store, plan, main(session.id, tenant), before.agent), (seen) => {
            const run: AgentRun.RunConfig = {
              ...before,
              history: before.history.length === 0 ? seen.history : seen.history.concat(before.history),
              instructions: told(before.instructions, seen)
            }
            const keeping: Keeping = { store, plan, view: seen, run, handler: name }
            return AgentEvent.warnAfter(around(keeping, next(run)), (result) =>
              seen.due.length === 0
                ? Effect.map(keep(keeping, result), ({ warnings }) => warnings)
                : Effect.flatMap(keep(keeping, result), ({ info, warnings }) =>
                    Effect.as(remind(summaries, seen, info), warnings)
                  )
            )
          })
        })
      )
  })
}

type Remembering = Effect.Effect<
  AgentRun.AgentCall<AgentRun.AgentResult, Handler.Upstream>,
  ConversationsUnavailable | InvalidMemory
>

const nameProblems = (what: string, name: unknown): ReadonlyArray<string> =>
  typeof name === "string" && name !== ""
    ? []
    : [`${what}: expected a text that is not empty, not ${JSON.stringify(name)}`]

const isEmpty = (settings: MemorySettings): boolean =>
  typeof settings === "object" && settings !== null && Object.keys(settings).length === 0

/** What a mode does around a run, besides what comes before and after. */
const around = <E, R>(keeping: Keeping, run: AgentRun.AgentCall<AgentRun.AgentResult, E, R>) => {
  const { mode } = keeping.plan
  switch (mode._tag) {
    case "shared":
      return inFlight(keeping, run)
    case "hybrid":
      return reportingFailure(keeping, mode, run)
    default:
      return run
  }
}

/** Sets off the summaries that are due. `added` is what is known of the conversation that the exchange was added to. */
const remind = (
  summaries: Service,
  { due, writesTo }: View,
  added: ConversationInfo | undefined
): Effect.Effect<void> =>
  Effect.forEach(
    due,
    ({ request, seen }) => {
      const info = seen.key.agent === writesTo.agent ? added : seen.info
      return info === undefined ? Effect.void : summaries.remind(info, request)
    },
    { discard: true }
  )
