/**
 * What the rules of conversations are checked with: exchanges, and what is asked of
 * a store.
 */
import { type History, Message } from "@heddle/core"
import { holds, numbers, same, shown } from "@heddle/testing/Rules"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import {
  type ConversationInfo,
  type ConversationKey,
  Conversations,
  type ListOptions,
  main,
  type NewExchange,
  own,
  type Service
} from "../Conversations.ts"
import { ConversationChanged } from "../MemoryErrors.ts"

// -----------------------------------------------------------------------------
// exchanges
// -----------------------------------------------------------------------------

/** The conversation of most rules. */
export const talk = main("s")

export const exchange = (text: string, agent = "helper"): NewExchange => ({
  agent,
  messages: [Message.user(text), Message.assistant(`answer to ${text}`)]
})

/** Exchanges whose texts are numbers, from 1, as their positions will be. */
export const numbered = (count: number): ReadonlyArray<NewExchange> => numbers(count).map((n) => exchange(`${n + 1}`))

/** What the users asked. */
export const asked = (exchanges: ReadonlyArray<NewExchange>): ReadonlyArray<string> =>
  exchanges.map(({ messages }) => Message.text(messages[0]!))

/** A value wherever there is room for JSON. */
export const holding = (value: unknown): NewExchange => {
  const metadata = { value, [shown(value).slice(0, 20)]: value }
  return {
    agent: "helper",
    messages: [
      { ...Message.user("?"), metadata },
      {
        role: "assistant",
        content: [
          { _tag: "Reasoning", text: "", metadata },
          { ...Message.toolCall("1", "tool", value, Message.succeeded(value)), metadata },
          Message.toolCall("2", "tool", { value }, { _tag: "Failed", reason: "no", error: value })
        ],
        metadata
      }
    ]
  }
}

/** All that a message can have. */
export const everyKind: History.History = [
  {
    role: "user",
    content: [
      { _tag: "Text", text: "Look at this" },
      { _tag: "File", mediaType: "image/png", data: "iVBORw0KGgo=", name: "a.png" },
      { _tag: "File", mediaType: "text/plain", data: "https://example.com/a.txt" },
      { _tag: "Text", text: "" }
    ],
    metadata: { source: { id: 1 } }
  },
  {
    role: "assistant",
    content: [
      { _tag: "Reasoning", text: "hm", metadata: { signature: "c2ln" } },
      { _tag: "Reasoning", text: "" },
      { _tag: "Text", text: "I will look." },
      Message.toolCall("c1", "look", { at: ["a.png"] }, Message.succeeded({ seen: true })),
      Message.toolCall("c2", "look", "text", Message.succeeded("text")),
      Message.toolCall("c3", "look", {}, Message.failed("broken", { code: 1 })),
      Message.toolCall("c4", "look", {}, Message.failed("")),
      Message.toolCall("c5", "look", null, Message.cancelled),
      { ...Message.toolCall("c6", "look", [], Message.denied("not now")), metadata: { provider: [1] } }
    ],
    metadata: { usage: { tokens: 12.5 } }
  },
  { role: "assistant", content: [] },
  { role: "user", content: [] },
  Message.assistant("Done.")
]

/** Keys that are told apart by one thing only. */
export const alike: ReadonlyArray<ConversationKey> = [
  main("a"),
  main("A"),
  main("a "),
  main("ab"),
  main("a", "a"),
  main("b", "a"),
  main("a", "A"),
  main("default", "a"),
  own("a", "a"),
  own("a", "A"),
  own("a", "b"),
  own("ab", "b"),
  own("a", "bb"),
  own("a", "main"),
  own("a", "null"),
  own("a", "undefined"),
  own("a", "a", "a"),
  own("a:b", "c"),
  own("a", "b:c"),
  own("a/b", "c"),
  own("a", "b/c"),
  main("a/b/c"),
  own('a","b', "c"),
  own("a", 'b","c')
]

// -----------------------------------------------------------------------------
// what is asked of a store
// -----------------------------------------------------------------------------

/** Asks the store that the rule is given. */
export const ask = <A, E>(f: (store: Service) => Effect.Effect<A, E>): Effect.Effect<A, E, Conversations> =>
  Effect.flatMap(Conversations, f)

/** Appends one after the other. */
export const appendAll = (key: ConversationKey, exchanges: ReadonlyArray<NewExchange>) =>
  ask((store) => Effect.forEach(exchanges, (exchange) => store.append(key, exchange)))

/** The conversation, which has to be there. */
export const known = (key: ConversationKey) =>
  Effect.gen(function* () {
    const { exchanges, info, summary } = yield* ask((store) => store.read(key))
    if (info === undefined) return yield* Effect.fail(new Error(`Nothing is known of ${shown(key)}`))
    return { exchanges, info, summary }
  })

/** Checks what a conversation has, from its first position to its last. */
export const has = (key: ConversationKey, wanted: ReadonlyArray<NewExchange>) =>
  Effect.gen(function* () {
    const { exchanges } = yield* ask((store) => store.read(key))
    yield* same(
      `The exchanges of ${shown(key)}`,
      exchanges.map(({ agent, messages, position }) => ({ agent, messages, position })),
      wanted.map(({ agent, messages }, n) => ({ agent, messages, position: n + 1 }))
    )
  })

/** What becomes of an exchange that is appended and read. */
export const roundTrip = (key: ConversationKey, wanted: NewExchange) =>
  Effect.gen(function* () {
    yield* appendAll(key, [wanted])
    const found = (yield* ask((store) => store.read(key, { last: 1 }))).exchanges[0]
    yield* same(`The agent of ${shown(key)}`, found?.agent, wanted.agent)
    yield* same(`The last exchange of ${shown(key)}`, found?.messages, wanted.messages)
  })

/** Checks that something is refused with `ConversationChanged`, and that nothing has changed. */
export const refused = (
  what: string,
  key: ConversationKey,
  effect: (store: Service) => Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function* () {
    const before = yield* ask((store) => store.read(key))
    const result = yield* Effect.either(ask(effect))
    yield* holds(
      `${what} did not fail with ConversationChanged`,
      Either.isLeft(result) && result.left instanceof ConversationChanged
    )
    yield* same(`The conversation after ${what}`, yield* ask((store) => store.read(key)), before)
  })

/** All pages of a listing. */
export const pages = (options: ListOptions) =>
  Effect.gen(function* () {
    const found: Array<ReadonlyArray<ConversationInfo>> = []
    let after = options.after
    do {
      const page = yield* ask((store) => store.list(after === undefined ? options : { ...options, after }))
      found.push(page.conversations)
      after = page.next
      yield* holds(`There is no end of pages of ${options.limit}`, found.length <= 200)
    } while (after !== undefined)
    return found
  })

/** The keys of all conversations of a tenant. */
export const listed = (tenant?: string) =>
  Effect.map(pages({ limit: Infinity, ...(tenant !== undefined && { tenant }) }), (found) =>
    found.flat().map(({ key }) => key)
  )

/** Minutes since a time that is well after the epoch, in milliseconds. */
export const minutes = (count: number): number => 1_760_281_440_000 + count * 60_000

/** Does something as if it were so many minutes past that time. Timers go on as ever. */
export const at = <A, E, R>(count: number, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const millis = minutes(count)
    const nanos = BigInt(millis) * 1_000_000n
    return Effect.withClock(effect, {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => millis,
      currentTimeMillis: Effect.succeed(millis),
      unsafeCurrentTimeNanos: () => nanos,
      currentTimeNanos: Effect.succeed(nanos),
      sleep: (duration) => clock.sleep(duration)
    })
  })
