/**
 * For each rule of conversations a store that breaks it, in a way that stores are
 * broken elsewhere. A rule that lets its twin pass says nothing.
 */
import { Message } from "@heddle/core"
import { Conversations, MemoryErrors } from "@heddle/memory"
import { ConversationRules } from "@heddle/memory/rules"
import { Effect, Exit, Layer } from "effect"
import { describe, expect, it } from "vitest"

type Service = Conversations.Service
type Break = (store: Service) => Partial<Service>
type Key = Conversations.ConversationKey

/** Reads what `change` makes of a conversation. */
const reading =
  (change: (read: Conversations.Conversation) => Conversations.Conversation): Break =>
  (store) => ({ read: (...asked) => Effect.map(store.read(...asked), change) })

/** Reads what `change` makes of each message. */
const messages = (change: (message: Message.Message) => Message.Message): Break =>
  reading((read) => ({
    ...read,
    exchanges: read.exchanges.map((exchange) => ({ ...exchange, messages: exchange.messages.map(change) }))
  }))

/** Takes each key for what `change` makes of it. */
const keyed =
  (change: (key: Key) => Key): Break =>
  (store) => ({
    read: (key, range) => store.read(change(key), range),
    append: (key, exchange) => store.append(change(key), exchange)
  })

/** Lists what `change` makes of a page. */
const lists =
  (change: (page: Conversations.ConversationPage) => Conversations.ConversationPage): Break =>
  (store) => ({ list: (options) => Effect.map(store.list(options), change) })

const current = (store: Service, key: Key) => Effect.map(store.read(key, { last: 0 }), ({ info }) => info)
const changed = (key: Key) => Effect.fail(new MemoryErrors.ConversationChanged({ key }))

/** Values without those that `keep` refuses. */
const sieve = (message: Message.Message, keep: (value: unknown) => boolean): Message.Message =>
  JSON.parse(JSON.stringify(message), (_, value) => (keep(value) ? value : undefined)) as Message.Message

const twins: Record<string, readonly [what: string, twin: Break]> = {
  "an exchange that was appended comes back as it was": [
    "leaves out metadata of messages",
    messages((message) => ({ ...message, metadata: {} }))
  ],
  "calls without an outcome are kept as cancelled": [
    "says that they failed",
    messages((message) =>
      message.role === "user"
        ? message
        : Message.assistant(
            message.content.map((part) =>
              part._tag === "ToolCall" && part.outcome._tag === "Cancelled"
                ? { ...part, outcome: Message.failed("") }
                : part
            )
          )
    )
  ],
  "exchanges come oldest first, at positions from 1 without gaps": [
    "sorts by time",
    reading((read) => ({ ...read, exchanges: read.exchanges.toSorted((a, b) => a.at - b.at) }))
  ],
  "a range gives the exchanges that are asked for": [
    "takes none for all, as slice(-0) does",
    (store) => ({
      read: (key, range) =>
        store.read(key, range !== undefined && "last" in range && range.last === 0 ? undefined : range)
    })
  ],
  "texts of a megabyte are kept whole": [
    "has columns of 64 kB",
    messages((message) => {
      const text = Message.text(message)
      return message.role === "user" && text.length > 65_536 ? Message.user(text.slice(0, 65_536)) : message
    })
  ],
  "all that JSON has is kept as it is": [
    "leaves out what is null",
    messages((message) => sieve(message, (value) => value !== null))
  ],
  "what a reader does to what it was given does not reach the store": [
    "gives every reader the same copy, which can be changed",
    (store) => {
      const copies = new Map<string, Conversations.Conversation>()
      return reading((read) => {
        const name = JSON.stringify(read)
        if (!copies.has(name)) copies.set(name, structuredClone(read))
        return copies.get(name)!
      })(store)
    }
  ],
  "what a writer does to what it gave does not reach the store": [
    "keeps the very exchange that it was given",
    (store) => {
      const given: Array<Conversations.NewExchange> = []
      return {
        append: (key, exchange) => {
          given.push(exchange)
          return store.append(key, exchange)
        },
        ...reading((read) => ({
          ...read,
          exchanges: read.exchanges.map((exchange, n) => ({ ...exchange, messages: given[n]!.messages }))
        }))(store)
      }
    }
  ],
  "a conversation that is not known is empty, and is not made by asking": [
    "makes what is asked for",
    (store) => ({
      read: (key, range) => Effect.zipRight(Effect.ignore(store.replace(key, [], undefined)), store.read(key, range))
    })
  ],
  "a conversation has its own exchanges and no others": [
    "compares texts without the spaces at their ends, as some databases do",
    keyed((key) => ({ ...key, session: key.session.trimEnd() || key.session }))
  ],
  "a key has any texts": [
    "keeps conversations under the keys of an object",
    (store) => ({
      append: (key, exchange) =>
        key.session in {} ? store.append({ ...key, session: "lost" }, exchange) : store.append(key, exchange)
    })
  ],
  "a key has NUL and halves of characters as well": [
    "writes keys in UTF-8",
    keyed((key) => ({ ...key, session: new TextDecoder().decode(new TextEncoder().encode(key.session)) }))
  ],
  "it is known when a conversation was begun, and when it was read or changed last": [
    "takes the last change for the beginning",
    lists((page) => ({
      ...page,
      conversations: page.conversations.map((info) => ({ ...info, createdAt: info.lastAccessedAt }))
    }))
  ],
  "what makes no sense dies with a DefinitionError": [
    "makes the best of it",
    (store) => ({
      list: (options) => store.list({ ...options, limit: Math.ceil(Math.max(1, options.limit || 1)) })
    })
  ],
  "it is known how many exchanges and messages there are, and how many the summary covers": [
    "takes two messages for each exchange",
    reading((read) =>
      read.info === undefined ? read : { ...read, info: { ...read.info, messages: 2 * read.info.exchanges } }
    )
  ],
  "a summary stands beside the exchanges that it covers": [
    "gives the summary in their place",
    reading((read) => ({
      ...read,
      exchanges: read.exchanges.filter(({ position }) => position > (read.summary?.through ?? 0))
    }))
  ],
  "what was appended in the meantime is no obstacle to a summary": [
    "wants a summary of all that there is",
    (store) => ({
      summarize: (key, summary, expected) =>
        Effect.flatMap(current(store, key), (info) =>
          info !== undefined && info.exchanges > summary.through
            ? changed(key)
            : store.summarize(key, summary, expected)
        )
    })
  ],
  "a summary of what is no longer so is refused": [
    "writes it over what there is",
    (store) => ({
      summarize: (key, summary, expected) =>
        Effect.flatMap(current(store, key), (info) => store.summarize(key, summary, info ?? expected))
    })
  ],
  "what replaces a conversation stands in the place of all that it had": [
    "adds it at the end",
    (store) => ({
      replace: (key, exchanges, expected) =>
        Effect.gen(function* () {
          const before = yield* store.read(key)
          return yield* store.replace(key, [...before.exchanges, ...exchanges], expected)
        })
    })
  ],
  "a conversation can begin with what would replace it": [
    "replaces only what is there",
    (store) => ({
      replace: (key, exchanges, expected) =>
        expected === undefined ? changed(key) : store.replace(key, exchanges, expected)
    })
  ],
  "a conversation is replaced only if it is still as expected": [
    "replaces whatever there is",
    (store) => ({
      replace: (key, exchanges) => Effect.flatMap(current(store, key), (info) => store.replace(key, exchanges, info))
    })
  ],
  "a generation never comes again": [
    "begins to count anew",
    (store) => {
      const names = new Map<string, number>()
      const named = (info: Conversations.ConversationInfo) => {
        if (!names.has(info.generation)) names.set(info.generation, names.size)
        return { ...info, generation: String(names.get(info.generation)) }
      }
      const real = (key: Key) => Effect.map(current(store, key), (info) => info?.generation ?? "")
      return {
        read: (...asked) =>
          Effect.map(store.read(...asked), (read) =>
            read.info === undefined ? read : { ...read, info: named(read.info) }
          ),
        replace: (key, exchanges, expected) =>
          Effect.flatMap(real(key), (generation) =>
            store.replace(key, exchanges, expected && { ...expected, generation })
          ),
        summarize: (key, summary, expected) =>
          Effect.flatMap(real(key), (generation) =>
            Effect.map(store.summarize(key, summary, { ...expected, generation }), named)
          ),
        remove: (key) => {
          names.clear()
          return store.remove(key)
        }
      }
    }
  ],
  "a conversation that was cleared is empty, stays, and begins at 1 again": [
    "removes it",
    (store) => ({ clear: (key) => store.remove(key) })
  ],
  "a conversation is removed once, with all that it had, and can begin again": [
    "says that it removed what was not there",
    (store) => ({ remove: (key) => Effect.as(store.remove(key), true) })
  ],
  "exchanges appended to a conversation at the same time are all kept, whole, in one order": [
    "reads, waits and writes back, so that another's write is lost",
    (store) => ({
      append: (key, exchange) =>
        Effect.gen(function* () {
          const before = yield* store.read(key)
          yield* Effect.yieldNow()
          const info = yield* current(store, key)
          return yield* Effect.orDie(store.replace(key, [...before.exchanges, exchange], info))
        })
    })
  ],
  "exchanges appended to many conversations at the same time stay apart": [
    "remembers which conversation it writes to in one place for all",
    (store) => {
      let writing: Key
      return {
        append: (key, exchange) =>
          Effect.suspend(() => {
            writing = key
            return Effect.zipRight(
              Effect.yieldNow(),
              Effect.suspend(() => store.append(writing, exchange))
            )
          })
      }
    }
  ],
  "of those who replace one state of a conversation at the same time, one does": [
    "compares, waits and writes",
    (store) => ({
      replace: (key, exchanges, expected) =>
        Effect.gen(function* () {
          const before = yield* current(store, key)
          if (before?.generation !== expected?.generation || before?.exchanges !== expected?.exchanges) {
            return yield* changed(key)
          }
          yield* Effect.yieldNow()
          return yield* store.replace(key, exchanges, yield* current(store, key))
        })
    })
  ],
  "what is appended while a conversation is replaced is not lost": [
    "compares the generation alone",
    (store) => ({
      replace: (key, exchanges, expected) =>
        Effect.flatMap(current(store, key), (info) =>
          store.replace(key, exchanges, expected && { ...expected, exchanges: info?.exchanges ?? 0 })
        )
    })
  ],
  "of those who summarize one state of a conversation at the same time, one does": [
    "compares, waits and writes",
    (store) => ({
      summarize: (key, summary, expected) =>
        Effect.gen(function* () {
          const before = yield* current(store, key)
          if (before?.generation !== expected.generation || before.summarized !== expected.summarized) {
            return yield* changed(key)
          }
          yield* Effect.yieldNow()
          return yield* store.summarize(key, summary, (yield* current(store, key)) ?? expected)
        })
    })
  ],
  "a reader never sees half of a change": [
    "clears, waits and appends one after the other",
    (store) => ({
      replace: (key, exchanges, expected) =>
        Effect.gen(function* () {
          let info = yield* store.replace(key, [], expected)
          for (const exchange of exchanges) {
            yield* Effect.yieldNow()
            info = yield* store.append(key, exchange)
          }
          return info
        })
    })
  ],
  "pages have every conversation once, in the order of sessions and agents, the main conversation first": [
    "gives one too few on each page, so that the next leaves it out",
    lists((page) => (page.next === undefined ? page : { ...page, conversations: page.conversations.slice(1) }))
  ],
  "long names that begin alike are in order as well": [
    "takes those for one of which the first 1,000 characters are the same",
    (store) => ({
      list: ({ session, ...options }) =>
        Effect.map(store.list(options), (page) => ({
          ...page,
          conversations: page.conversations.filter(({ key }) => key.session.startsWith(session?.slice(0, 1000) ?? ""))
        }))
    })
  ],
  "a list has the conversations of one tenant, or of one of its sessions": [
    "takes a session for all that begin like it",
    (store) => ({
      list: ({ session, ...options }) =>
        Effect.map(store.list(options), (page) => ({
          ...page,
          conversations: page.conversations.filter(({ key }) => key.session.startsWith(session ?? ""))
        }))
    })
  ],
  "a page goes on after a conversation that was removed in the meantime": [
    "looks for the one to go on after",
    (store) => ({
      list: ({ after, limit, ...options }) =>
        Effect.gen(function* () {
          const { conversations } = yield* store.list({ ...options, limit: Infinity })
          const from =
            conversations.findIndex(({ key }) => key.session === after?.session && key.agent === after.agent) + 1
          const found = conversations.slice(from, from + limit)
          const more = from + found.length < conversations.length
          const { agent, session } = found.at(-1)?.key ?? { session: "" }
          const next = agent === undefined ? { session } : { session, agent }
          return { conversations: found, ...(more && { next }) }
        })
    })
  ],
  "a page says of each conversation what is known of it": [
    "does not count",
    lists((page) => ({
      ...page,
      conversations: page.conversations.map((info) => ({ ...info, messages: 0 }))
    }))
  ]
}

const layer = (twin: Break): Layer.Layer<Conversations.Conversations> =>
  Layer.effect(
    Conversations.Conversations,
    Effect.map(Conversations.Conversations, (store) => ({ ...store, ...twin(store) }))
  ).pipe(Layer.provide(Conversations.layerMemory()))

describe("a store is caught by the rule that it breaks, if it", () => {
  it.each(Object.entries(twins).map(([rule, [what, twin]]) => [what, rule, twin] as const))(
    "%s: %s",
    async (_, rule, twin) => {
      const { check } = ConversationRules.rules.find((known) => known.rule === rule)!
      expect(Exit.isFailure(await Effect.runPromiseExit(Effect.provide(check, layer(twin))))).toBe(true)
    }
  )
})

it("rules have names of their own, and each has a twin", () => {
  expect(ConversationRules.rules.map(({ rule }) => rule)).toEqual(Object.keys(twins))
})

it("a violation says what was found", async () => {
  const rule = "a conversation is removed once, with all that it had, and can begin again"
  const { check } = ConversationRules.rules.find((known) => known.rule === rule)!
  await expect(Effect.runPromise(Effect.provide(check, layer(twins[rule]![1])))).rejects.toThrow(
    "Removing it again: found true instead of false"
  )
})

describe("scripts tell a store from the one in memory, if it", () => {
  // Of one thread there are no races, and nobody who keeps what was given; scripts have no long texts.
  const unseen = new Set([
    "what a reader does to what it was given does not reach the store",
    "what a writer does to what it gave does not reach the store",
    "texts of a megabyte are kept whole",
    ...ConversationRules.rules
      .map(({ rule }) => rule)
      .filter((rule) => /at the same time|while|never sees half/.test(rule)),
    // These do the same but for texts that scripts do not have.
    "a conversation has its own exchanges and no others",
    "a key has any texts",
    "a key has NUL and halves of characters as well",
    "exchanges come oldest first, at positions from 1 without gaps"
  ])
  it.each(
    Object.entries(twins)
      .filter(([rule]) => !unseen.has(rule))
      .map(([rule, [what, twin]]) => [what, rule, twin] as const)
  )("%s: %s", async (_, _rule, twin) => {
    await expect(ConversationRules.checkAgreement(layer(twin), { runs: 300, seed: 1 })).rejects.toThrow("instead of")
  })
})
