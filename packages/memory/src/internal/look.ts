/**
 * Looks into a conversation, as far as a mode and a strategy let it be seen.
 */
import type { History } from "@heddle/core"
import * as Effect from "effect/Effect"
import type { Window } from "../ContextMode.ts"
import type {
  ConversationInfo,
  ConversationKey,
  Exchange,
  Service as ConversationsService,
  Summary
} from "../Conversations.ts"
import type { ConversationsUnavailable } from "../MemoryErrors.ts"
import * as TokenCounter from "../TokenCounter.ts"

/** What is seen of a conversation. */
export interface Seen {
  readonly key: ConversationKey
  readonly info: ConversationInfo | undefined
  readonly summary: Summary | undefined
  readonly exchanges: ReadonlyArray<Exchange>
}

type Reading<A> = Effect.Effect<A, ConversationsUnavailable>

/** Exchanges that are read at a time where it is not known how many are needed. */
const pageSize = 100

/** The last exchanges that a window lets be seen; all of them without one. */
export const last = (store: ConversationsService, key: ConversationKey, window: Window | undefined): Reading<Seen> => {
  if (window !== undefined && "tokens" in window) {
    return Effect.flatMap(TokenCounter.TokenCounter, (counter) =>
      backwards(store, key, { accepts: () => true, fits: withinTokens(counter, window.tokens) })
    )
  }
  return Effect.map(
    store.read(key, window === undefined ? undefined : { last: window.exchanges }),
    ({ exchanges, info }) => ({ key, info, summary: undefined, exchanges })
  )
}

/** The last exchanges that a predicate accepts and a window lets be seen, of the last `lookBack`. */
export const matching = (
  store: ConversationsService,
  key: ConversationKey,
  window: Window | undefined,
  { accepts, lookBack }: { readonly accepts: (exchange: Exchange) => boolean; readonly lookBack: number }
): Reading<Seen> =>
  Effect.flatMap(TokenCounter.TokenCounter, (counter) => {
    const fits =
      window === undefined
        ? () => true
        : "tokens" in window
          ? withinTokens(counter, window.tokens)
          : atMost(window.exchanges)
    return backwards(store, key, { accepts, fits, lookBack })
  })

/**
 * What no summary covers, and the summary. Where the summary lags behind, so that
 * more than `most` exchanges are not covered, the last `keep` of them.
 */
export const summarized = (
  store: ConversationsService,
  key: ConversationKey,
  window: { readonly keep: number; readonly most: number }
): Reading<Seen> =>
  Effect.map(store.read(key, { last: window.most }), ({ exchanges, info, summary }) => {
    const through = summary?.through ?? 0
    const isWhole = (info?.exchanges ?? 0) - through <= window.most
    const seen = isWhole ? exchanges : window.keep === 0 ? [] : exchanges.slice(-window.keep)
    return { key, info, summary, exchanges: seen.filter(({ position }) => position > through) }
  })

/** What no summary covers of so many tokens, and the summary. */
export const summarizedWithin: (store: ConversationsService, key: ConversationKey, tokens: number) => Reading<Seen> =
  Effect.fnUntraced(function* (store, key, tokens) {
    const { info, summary } = yield* store.read(key, { last: 0 })
    const counter = yield* TokenCounter.TokenCounter
    const through = summary?.through ?? 0
    const fits = withinTokens(counter, tokens)
    const seen = yield* backwards(store, key, {
      accepts: () => true,
      fits: (exchange) => exchange.position > through && fits(exchange)
    })
    // A conversation that began anew in the meantime has another summary, or none.
    return seen.info?.generation === info?.generation ? { ...seen, info, summary } : seen
  })

/** Says of exchanges, the newest first, whether they fit in as well. */
const withinTokens = (counter: TokenCounter.Service, max: number) => {
  let tokens = 0
  return ({ messages }: { readonly messages: History.History }) =>
    (tokens += TokenCounter.ofHistory(counter, messages)) <= max
}

const atMost = (max: number) => {
  let count = 0
  return () => ++count <= max
}

/** Collects exchanges from the end until one does not fit, or `lookBack` have been looked at. */
const backwards = Effect.fnUntraced(function* (
  store: ConversationsService,
  key: ConversationKey,
  {
    accepts,
    fits,
    lookBack = Infinity
  }: {
    readonly accepts: (exchange: Exchange) => boolean
    readonly fits: (exchange: Exchange) => boolean
    readonly lookBack?: number
  }
) {
  const found: Array<Exchange> = []
  let info: ConversationInfo | undefined
  let before = Infinity
  let left = lookBack
  while (before > 1 && left > 0) {
    const page = yield* store.read(key, { last: Math.min(pageSize, left), ...(before !== Infinity && { before }) })
    // A conversation that began anew in the meantime is another one.
    if (info !== undefined && page.info?.generation !== info.generation) break
    info ??= page.info
    for (const exchange of page.exchanges.toReversed()) {
      if (!accepts(exchange)) continue
      if (!fits(exchange)) return { key, info, summary: undefined, exchanges: found.toReversed() }
      found.push(exchange)
    }
    before = page.exchanges[0]?.position ?? 0
    left -= page.exchanges.length
  }
  return { key, info, summary: undefined, exchanges: found.toReversed() }
})
