/**
 * Conversations in memory.
 */
import { frozen, RecencyMap } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import type {
  Conversation,
  ConversationInfo,
  ConversationKey,
  Exchange,
  NewExchange,
  Service,
  Summary
} from "../Conversations.ts"
import { ConversationChanged, ConversationsUnavailable } from "../MemoryErrors.ts"
import { checked, checkThrough, placesOf } from "./store/checked.ts"
import { accessed, appended, begun, isRevision, isSummarized, replaced, summarized } from "./store/info.ts"
import { compareKeys, infoPage, keyText, pageOf } from "./store/keys.ts"

interface Kept {
  info: ConversationInfo
  summary: Summary | undefined
  /** The one at position `n` is at `n - 1`. */
  exchanges: Array<Exchange>
}

/** A store that drops the conversation which was not used for the longest time, if there are more than so many. */
export const memory = (maxConversations: number): Service => {
  const conversations = new RecencyMap<Kept>()
  /** The keys in order, until a conversation comes or goes. */
  let ordered: ReadonlyArray<ConversationKey> | undefined

  const drop = (id: string): boolean => {
    const dropped = conversations.delete(id)
    if (dropped) ordered = undefined
    return dropped
  }
  const begin = (id: string, key: ConversationKey, now: number): Kept => {
    const kept: Kept = { info: begun(key, now), summary: undefined, exchanges: [] }
    conversations.set(id, kept)
    ordered = undefined
    if (conversations.size > maxConversations) drop(conversations.oldest!)
    return kept
  }
  const inOrder = () =>
    (ordered ??= Array.from(conversations.keys(), (id) => conversations.get(id)!.info.key).toSorted(compareKeys))

  return checked({
    read: (key, range) =>
      timed((now): Effect.Effect<Conversation> => {
        const kept = conversations.use(keyText(key))
        if (kept === undefined) return Effect.succeed({ exchanges: [] })
        const info = (kept.info = accessed(kept.info, now))
        const { after, through } = placesOf(range, info.exchanges)
        const exchanges = kept.exchanges.slice(after, through)
        return Effect.succeed(
          kept.summary === undefined ? { info, exchanges } : { info, summary: kept.summary, exchanges }
        )
      }),
    append: (key, exchange) =>
      timed((now) =>
        attempt("append", key, () => {
          const id = keyText(key)
          const known = conversations.use(id)
          const copy = placed(exchange, (known?.info.exchanges ?? 0) + 1, now)
          const kept = known ?? begin(id, key, now)
          kept.exchanges.push(copy)
          return (kept.info = appended(kept.info, copy.messages.length, now))
        })
      ),
    replace: (key, exchanges, expected) =>
      timed((now): ReturnType<Service["replace"]> => {
        const id = keyText(key)
        const known = conversations.use(id)
        if (!isRevision(known?.info, expected)) return Effect.fail(new ConversationChanged({ key }))
        return attempt("replace", key, () => {
          const copies = exchanges.map((exchange, n) => placed(exchange, n + 1, now))
          const kept = known ?? begin(id, key, now)
          const messages = copies.reduce((sum, { messages }) => sum + messages.length, 0)
          kept.exchanges = copies
          kept.summary = undefined
          return (kept.info = replaced(kept.info, { exchanges: copies.length, messages }, now))
        })
      }),
    summarize: (key, { text, through }, expected) =>
      timed((now) => {
        const kept = conversations.use(keyText(key))
        if (kept === undefined || !isSummarized(kept.info, expected)) {
          return Effect.fail(new ConversationChanged({ key }))
        }
        checkThrough(through, kept.info.exchanges)
        kept.summary = Object.freeze({ text, through, at: now })
        return Effect.succeed((kept.info = summarized(kept.info, through, now)))
      }),
    clear: (key) =>
      timed((now) => {
        const kept = conversations.use(keyText(key))
        if (kept === undefined) return Effect.succeed(false)
        kept.exchanges = []
        kept.summary = undefined
        kept.info = replaced(kept.info, { exchanges: 0, messages: 0 }, now)
        return Effect.succeed(true)
      }),
    remove: (key) => Effect.sync(() => drop(keyText(key))),
    list: (options) =>
      Effect.sync(() => infoPage(pageOf(inOrder(), options), (key) => conversations.get(keyText(key))!.info))
  })
}

/** A copy that all readers can have. */
const placed = ({ agent, messages }: NewExchange, position: number, at: number): Exchange =>
  Object.freeze({ agent, position, at, messages: frozen(messages) })

/** What cannot be copied, cannot be kept. */
const attempt = <A>(
  operation: "append" | "replace",
  key: ConversationKey,
  f: () => A
): Effect.Effect<A, ConversationsUnavailable> => {
  try {
    return Effect.succeed(f())
  } catch (cause) {
    return Effect.fail(new ConversationsUnavailable({ operation, key, cause }))
  }
}

/** Does something at once, at the time that it is. */
const timed = <A, E>(f: (now: number) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.clockWith((clock) => f(clock.unsafeCurrentTimeMillis()))
