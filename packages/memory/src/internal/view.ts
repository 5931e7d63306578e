/**
 * What a run sees of its session, by its mode and settings.
 */
import { History, Instructions, Message } from "@heddle/core"
import { found as inLine } from "@heddle/core/glob"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ContextMode, Pattern, Window } from "../ContextMode.ts"
import { type ContextView, type ConversationView, summarySource } from "../ContextSection.ts"
import type { ConversationKey, Exchange, Service as ConversationsService } from "../Conversations.ts"
import { main, own } from "../Conversations.ts"
import { type ConversationsUnavailable, InvalidMemory } from "../MemoryErrors.ts"
import type { Effective } from "../MemorySettings.ts"
import type { SummaryRequest } from "../Summaries.ts"
import * as Look from "./look.ts"

/** What holds for a run. */
export interface Plan {
  readonly mode: ContextMode
  readonly settings: Effective
}

/** What a run sees, and what follows from it when it has ended. */
export interface View {
  /** The conversation that the exchange is added to. */
  readonly writesTo: ConversationKey
  readonly history: History.History
  readonly summaries: ReadonlyArray<{ readonly about: "main" | "own"; readonly text: string }>
  readonly context: ContextView
  /** Summaries that may be due, of the conversations that are seen. */
  readonly due: ReadonlyArray<{ readonly seen: Look.Seen; readonly request: SummaryRequest }>
}

/** An exchange that is going on in the main conversation of some session. */
export interface InFlight {
  readonly key: ConversationKey
  readonly now: Effect.Effect<History.History>
  readonly isOver: boolean
}

/** Those of the runs that this one is inside of, outermost first. */
export class CurrentInFlight extends Context.Reference<CurrentInFlight>()("@heddle/memory/InFlight", {
  defaultValue: (): ReadonlyArray<InFlight> => []
}) {}

/** The conversation in which an agent's exchanges are kept. */
const target = ({ mode }: Plan, { session, tenant }: ConversationKey, agent: string): ConversationKey =>
  mode._tag === "shared" ? main(session, tenant) : own(session, agent, tenant)

/** Looks at what a run sees of a session, whose main conversation is named. */
export const view = (
  store: ConversationsService,
  plan: Plan,
  theMain: ConversationKey,
  agent: string
): Effect.Effect<View, ConversationsUnavailable | InvalidMemory> => {
  const { mode, settings } = plan
  const writesTo = target(plan, theMain, agent)
  switch (mode._tag) {
    case "isolated":
    case "hybrid":
      return Effect.map(conversation(store, writesTo, settings, mode.window), (own) =>
        assemble(plan, agent, writesTo, { own })
      )
    case "shared":
      return Effect.map(conversation(store, writesTo, settings, mode.window), (main) =>
        assemble(plan, agent, writesTo, { main })
      )
    case "fork":
      return Effect.gen(function* () {
        const main = yield* conversation(store, theMain, settings, mode.window)
        return assemble(plan, agent, writesTo, { main }, yield* inFlight(theMain))
      })
    case "selective":
      return Effect.gen(function* () {
        const accepts = matches(mode.patterns)
        const seen = yield* Look.matching(store, theMain, windowOf(settings, mode.window), {
          accepts,
          lookBack: mode.lookBack
        }).pipe(
          Effect.catchSomeDefect((thrown) =>
            thrown instanceof InvalidMemory ? Option.some(Effect.fail(thrown)) : Option.none()
          )
        )
        const own = yield* conversation(store, writesTo, settings, undefined)
        return assemble(plan, agent, writesTo, { main: { seen }, own })
      })
    case "summarized":
      return Effect.gen(function* () {
        const short: Effective = { ...settings, strategy: "summary", summaryEnabled: true, summaryTrigger: mode.after }
        const main = yield* conversation(store, theMain, short, mode.window)
        const own = yield* conversation(store, writesTo, settings, undefined)
        return assemble(plan, agent, writesTo, { main, own })
      })
  }
}

const windowOf = (settings: Effective, window: Window | undefined): Window | undefined =>
  window ?? (settings.strategy === "full" ? undefined : { exchanges: settings.historyLimit })

interface Part {
  readonly seen: Look.Seen
  /** What a summary of it would have to be. */
  readonly request?: SummaryRequest
}

/** A conversation, by the strategy. */
const conversation = (
  store: ConversationsService,
  key: ConversationKey,
  settings: Effective,
  window: Window | undefined
): Effect.Effect<Part, ConversationsUnavailable> => {
  const bounds = windowOf(settings, window)
  const isSummary = settings.strategy === "summary"
  const looking =
    !isSummary || bounds === undefined
      ? Look.last(store, key, bounds)
      : "tokens" in bounds
        ? Look.summarizedWithin(store, key, bounds.tokens)
        : Look.summarized(store, key, { keep: bounds.exchanges, most: bounds.exchanges + lag(settings) })
  return Effect.map(looking, (seen) => {
    if (!settings.summaryEnabled) return { seen }
    // A window of tokens keeps what it shows.
    const keep =
      bounds === undefined ? settings.historyLimit : "tokens" in bounds ? seen.exchanges.length : bounds.exchanges
    return { seen, request: requestOf(key, keep, settings) }
  })
}

const requestOf = (key: ConversationKey, keep: number, settings: Effective): SummaryRequest => ({
  key,
  keep,
  trigger: settings.summaryTrigger,
  minGrowth: settings.summaryMinGrowth,
  maxTokens: settings.summaryMaxTokens,
  model: settings.summaryModel
})

/** Exchanges that may be seen beyond the window until a summary covers them. Without summaries to come there are none. */
const lag = ({ summaryEnabled, summaryMinGrowth, summaryTrigger }: Effective): number =>
  summaryEnabled ? Math.ceil((summaryTrigger + summaryMinGrowth) / 2) : 0

const matches = (patterns: ReadonlyArray<Pattern>): ((exchange: Exchange) => boolean) => {
  const all = patterns.map((pattern, i) => {
    if (typeof pattern === "function") return named(pattern, i)
    const found = inLine(pattern)
    return ({ messages }: Exchange) => messages.some((message) => found(Message.text(message)))
  })
  return (exchange) => all.some((accepts) => accepts(exchange))
}

/** A predicate that says which it is when it throws. */
const named =
  (accepts: (exchange: Exchange) => boolean, i: number) =>
  (exchange: Exchange): boolean => {
    try {
      return accepts(exchange)
    } catch (thrown) {
      throw new InvalidMemory({ problems: [`mode.patterns[${i}] threw: ${String(thrown)}`] })
    }
  }

/** Exchanges that are going on. */
interface Going {
  readonly exchanges: number
  readonly history: History.History
}
const nothing: Going = { exchanges: 0, history: [] }

/** The exchanges that are going on, as far as they are: calls that have not been answered are closed. */
const inFlight = (key: ConversationKey): Effect.Effect<Going> =>
  Effect.flatMap(CurrentInFlight, (all) => {
    const here = all.filter(
      ({ isOver, key: { session, tenant } }) => !isOver && session === key.session && tenant === key.tenant
    )
    return Effect.map(
      Effect.forEach(here, ({ now }) => now),
      (exchanges) => ({ exchanges: exchanges.length, history: History.settle(exchanges.flat(), going) })
    )
  })

const going = Message.failed("The call was still going on when this copy of the conversation was made.")

/** What is seen of a conversation, with exchanges that are going on in it. */
const viewOf = ({ seen: { exchanges, info, summary } }: Part, going: number): ConversationView => {
  const there = info?.exchanges ?? 0
  return {
    total: there + going,
    shown: exchanges.length + going,
    hidden: there - exchanges.length - (summary?.through ?? 0),
    summarized: summary !== undefined
  }
}

const assemble = (
  { mode }: Plan,
  agent: string,
  writesTo: ConversationKey,
  seen: { readonly main?: Part; readonly own?: Part },
  going: Going = nothing
): View => {
  const parts = [seen.main, seen.own].filter((part) => part !== undefined)
  const main = seen.main && { main: viewOf(seen.main, going.exchanges) }
  const own = seen.own && { own: viewOf(seen.own, 0) }
  const views = [main?.main, own?.own].filter((view) => view !== undefined)
  const summaries = parts.flatMap(({ seen: { key, summary } }): View["summaries"] =>
    summary === undefined ? [] : [{ about: key.agent === undefined ? "main" : "own", text: summary.text }]
  )
  const sum = (of: (view: ConversationView) => number) => views.reduce((all, view) => all + of(view), 0)
  return {
    writesTo,
    history: [...historyOf(parts), ...going.history],
    summaries,
    context: {
      mode: mode._tag,
      agent,
      first: views.at(-1)!.total === 0,
      total: sum(({ total }) => total),
      shown: sum(({ shown }) => shown),
      hidden: sum(({ hidden }) => hidden),
      summarized: summaries.length > 0,
      ...main,
      ...own
    },
    due: parts.flatMap(({ request, seen }) => (request === undefined ? [] : [{ request, seen }]))
  }
}

/** All that was said, in one list. Every run makes it, and `flatMap` takes several times as long. */
const historyOf = (parts: ReadonlyArray<Part>): History.History => {
  const all: Array<Message.Message> = []
  for (const { seen } of parts) {
    for (const { messages } of seen.exchanges) for (const message of messages) all.push(message)
  }
  return all
}

/** Tells the model of the summaries. */
export const withSummaries = (
  instructions: Instructions.Instructions,
  { summaries }: View
): Instructions.Instructions =>
  summaries.reduce(
    (told, { about, text }) =>
      Instructions.append(
        told,
        `${about === "main" ? "The main conversation" : "Your conversation"} began earlier. This is a summary of its beginning:\n${Instructions.quoted("conversation_summary", text)}`,
        summarySource
      ),
    instructions
  )
