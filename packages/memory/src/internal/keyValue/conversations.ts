/**
 * Conversations in a key-value store. What is known of a conversation is its head:
 * a change is done when the head is written.
 */
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type {
  Conversation,
  ConversationInfo,
  ConversationKey,
  Exchange,
  NewExchange,
  Service,
  Summary
} from "../../Conversations.ts"
import { ConversationChanged, ConversationsUnavailable } from "../../MemoryErrors.ts"
import { checked, checkThrough, placesOf } from "../store/checked.ts"
import { accessed, appended, begun, isRevision, isSummarized, replaced, summarized } from "../store/info.ts"
import { compareKeys, infoPage, keyText, pageOf } from "../store/keys.ts"
import { makeCatalogue } from "./catalogue.ts"
import { makeEntries } from "./entries.ts"
import { makeLocks } from "./locks.ts"
import { hash, makeRegisters, type Problem, type Version } from "./registers.ts"

/** What is written down of a conversation besides its exchanges. */
interface Head {
  /** Missing if it was removed, and not all that belonged to it is deleted yet. */
  readonly info?: ConversationInfo
  readonly summary?: Summary
  /** The chunk of the catalogue that has its key. */
  readonly chunk: number
  /** Counts generations; its exchanges are under this number. */
  readonly generation: number
  /** The first generation of which there may still be exchanges. */
  readonly oldest: number
}

/** A conversation that is there. */
interface Live extends Head {
  readonly info: ConversationInfo
}

/** A conversation, while nobody else has it. */
interface Held {
  readonly id: string
  readonly now: number
  readonly last: Version<Head> | undefined
  /** Missing if there is no such conversation. */
  readonly head: Live | undefined
  /** Missing if there is no such conversation. */
  readonly info: ConversationInfo | undefined
}

/** What is then known of a conversation, or that it is no longer what was expected. */
type Answer = Either.Either<ConversationInfo, ConversationChanged>

type Operation = ConversationsUnavailable["operation"]

export const keyValueConversations = (store: KeyValueStore): Service => {
  const exclusive = makeLocks()
  const catalogue = makeCatalogue(store, exclusive)
  const entries = makeEntries(store)
  const heads = makeRegisters<Head>(store)
  const nameOf = (id: string) => `head.${id}`

  /** Does something with a conversation that nobody else does anything with. */
  const hold = <A>(
    operation: Operation,
    key: ConversationKey,
    f: (held: Held) => Effect.Effect<A, Problem>
  ): Effect.Effect<A, ConversationsUnavailable> =>
    Effect.flatMap(hash(JSON.stringify([key.tenant, key.session, key.agent ?? null])), (id) =>
      Effect.gen(function* () {
        const last = yield* heads.read(nameOf(id))
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const head = last !== undefined && isLive(last.value) ? last.value : undefined
        return yield* f({ id, now, last, head, info: head?.info })
      }).pipe(exclusive(id))
    ).pipe(unavailable(operation, key))

  const commit = <H extends Head>({ id, last }: Held, head: H): Effect.Effect<H, Problem> =>
    Effect.as(heads.write(nameOf(id), last, head), head)

  /** What to go on from: the head, without what is left of older generations, or that of a new conversation. */
  const begin = (held: Held, key: ConversationKey): Effect.Effect<Live, Problem> =>
    Effect.gen(function* () {
      if (held.head !== undefined) return yield* tidied(held.id, held.head)
      const removed = held.last?.value
      if (removed !== undefined) yield* catalogue.remove(key, removed.chunk)
      const chunk = yield* catalogue.add(key)
      const generation = (removed?.generation ?? 0) + 1
      return { info: begun(key, held.now), chunk, generation, oldest: removed?.oldest ?? generation }
    })

  /** Deletes what is left of older generations, now or another time. */
  const tidied = (id: string, head: Live): Effect.Effect<Live> =>
    head.oldest === head.generation
      ? Effect.succeed(head)
      : entries.sweep(id, head.oldest, head.generation - 1).pipe(
          Effect.as({ ...head, oldest: head.generation }),
          Effect.orElseSucceed(() => head)
        )

  /** Puts exchanges in the place of all, under the number of the next generation. */
  const put = (held: Held, before: Live, exchanges: ReadonlyArray<NewExchange>) =>
    Effect.gen(function* () {
      const { summary: _, ...rest } = before
      const generation = before.generation + 1
      const placed = exchanges.map((exchange, n) => ({ ...exchange, position: n + 1, at: held.now }))
      yield* Effect.forEach(placed, (exchange) => entries.write(held.id, generation, exchange), { discard: true })
      const messages = placed.reduce((sum, { messages }) => sum + messages.length, 0)
      const info = replaced(before.info, { exchanges: placed.length, messages }, held.now)
      const head = yield* commit(held, { ...rest, info, generation })
      yield* tidied(held.id, head)
      return info
    })

  return checked({
    read: (key, range) =>
      hold("read", key, (held): Effect.Effect<Conversation, Problem> => {
        const { head, id, now } = held
        if (head === undefined) return Effect.succeed({ exchanges: [] })
        const noted = accessed(head.info, now)
        return Effect.gen(function* () {
          const exchanges = yield* entries.read(id, head.generation, placesOf(range, noted.exchanges))
          // That it was read is worth a write, but no failure.
          if (noted !== head.info) yield* Effect.ignore(commit(held, { ...head, info: noted }))
          return { info: noted, ...(head.summary !== undefined && { summary: head.summary }), exchanges }
        })
      }),
    append: (key, { agent, messages }) =>
      hold("append", key, (held) =>
        Effect.gen(function* () {
          const head = yield* begin(held, key)
          const exchange: Exchange = { agent, messages, position: head.info.exchanges + 1, at: held.now }
          yield* entries.write(held.id, head.generation, exchange)
          return (yield* commit(held, { ...head, info: appended(head.info, messages.length, held.now) })).info
        })
      ),
    replace: (key, exchanges, expected) =>
      Effect.flatten(
        hold("replace", key, (held): Effect.Effect<Answer, Problem> =>
          isRevision(held.info, expected)
            ? Effect.flatMap(begin(held, key), (head) => Effect.map(put(held, head, exchanges), Either.right))
            : Effect.succeed(Either.left(new ConversationChanged({ key })))
        )
      ),
    summarize: (key, { text, through }, expected) =>
      Effect.flatten(
        hold("summarize", key, (held): Effect.Effect<Answer, Problem> => {
          const { head, now } = held
          if (head === undefined || !isSummarized(head.info, expected)) {
            return Effect.succeed(Either.left(new ConversationChanged({ key })))
          }
          checkThrough(through, head.info.exchanges)
          const info = summarized(head.info, through, now)
          return Effect.as(commit(held, { ...head, info, summary: { text, through, at: now } }), Either.right(info))
        })
      ),
    clear: (key) =>
      hold("clear", key, (held) =>
        held.head === undefined ? Effect.succeed(false) : Effect.as(put(held, held.head, []), true)
      ),
    remove: (key) =>
      hold("remove", key, (held) => {
        const { head, id } = held
        if (head === undefined) return Effect.succeed(false)
        return Effect.gen(function* () {
          // The generation after the last may have exchanges of somebody who was stopped.
          const { chunk, oldest } = head
          const generation = head.generation + 1
          const removed = yield* heads.write(nameOf(id), held.last, { chunk, generation, oldest })
          // It is gone now. What is left is deleted by who begins it again, if not here.
          yield* entries
            .sweep(id, oldest, generation)
            .pipe(
              Effect.zipRight(catalogue.remove(key, chunk)),
              Effect.zipRight(heads.remove(nameOf(id), removed)),
              Effect.ignore
            )
          return true
        })
      }),
    list: (options) =>
      Effect.gen(function* () {
        const keys = (yield* catalogue.keys.pipe(unavailable("list"))).toSorted(compareKeys)
        const infos = new Map<string, ConversationInfo>()
        const there: Array<ConversationKey> = []
        for (const key of pageOf(keys, { ...options, limit: Infinity }).keys) {
          const info = yield* hold("list", key, (held) => Effect.succeed(held.info))
          if (info === undefined) continue
          infos.set(keyText(key), info)
          // One more says that there is a next page.
          if (there.push(key) > options.limit) break
        }
        return infoPage(pageOf(there, options), (key) => infos.get(keyText(key))!)
      })
  })
}

const isLive = (head: Head): head is Live => head.info !== undefined

/** Says of what went wrong which operation it was. */
const unavailable =
  (operation: Operation, key?: ConversationKey) =>
  <A>(effect: Effect.Effect<A, Problem>): Effect.Effect<A, ConversationsUnavailable> =>
    Effect.mapError(
      effect,
      (cause) => new ConversationsUnavailable({ operation, ...(key !== undefined && { key }), cause })
    )
