/**
 * Rules of lists of conversations.
 */
import type { Rule } from "@heddle/testing/Rules"
import { holds, numbers, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type ConversationKey, type Conversations, main, own } from "../../Conversations.ts"
import { keyText } from "../store/keys.ts"
import { appendAll, ask, exchange, known, listed, numbered, pages } from "../conversationChecks.ts"

/** Begins a conversation for each key, in an order that is not that of the list. */
const begin = (keys: ReadonlyArray<ConversationKey>) =>
  Effect.forEach(
    keys.map((_, n) => keys[(n * 17) % keys.length]!),
    (key) => appendAll(key, [exchange(shown(key))])
  )

export const listing: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "pages have every conversation once, in the order of sessions and agents, the main conversation first",
    check: Effect.gen(function* () {
      const sessions = numbers(8).flatMap((n) => [`s${n}`, `S${n}`])
      const wanted = sessions.toSorted().flatMap((id) => [main(id), own(id, "A"), own(id, "a"), own(id, "b")])
      // 64 and 17 have no divisor in common.
      yield* begin(wanted)
      yield* appendAll(main("s1", "other"), numbered(1))
      for (const limit of [1, 2, 7, 16, 63, 64, 65, Infinity]) {
        const found = yield* pages({ limit })
        yield* same(
          `The conversations in pages of ${limit}`,
          found.flat().map(({ key }) => key),
          wanted
        )
        const full = found.slice(1).map(() => limit)
        yield* same(
          `The sizes of pages of ${limit}`,
          found.map((page) => page.length),
          [...full, wanted.length - full.length * Math.min(limit, 64)]
        )
      }
    })
  },
  {
    rule: "long names that begin alike are in order as well",
    check: Effect.gen(function* () {
      const long = "x".repeat(2000)
      const names = ["", "A", "a", "a1", "b"].map((end) => `${long}${end}`)
      const sessions = ["x", ...names, "y"]
      const wanted = sessions.flatMap((session) => [main(session, long), ...names.map((id) => own(session, id, long))])
      // 42 and 17 have no divisor in common.
      yield* begin(wanted)
      yield* appendAll(main(long, `${long}a`), numbered(1))
      for (const limit of [1, 4, Infinity]) {
        const found = (yield* pages({ tenant: long, limit })).flat().map(({ key }) => key)
        // By their places, since the texts are long.
        const places = found.map((key) => wanted.findIndex((other) => keyText(other) === keyText(key)))
        yield* same(`The conversations in pages of ${limit}`, places, numbers(wanted.length))
        const of = (yield* pages({ tenant: long, session: `${long}a`, limit })).flat()
        yield* same(`How many a session has, in pages of ${limit}`, of.length, 1 + names.length)
      }
    })
  },
  {
    rule: "a list has the conversations of one tenant, or of one of its sessions",
    check: Effect.gen(function* () {
      const tenants = ["a", "A", "ab", "default"]
      const sessions = ["s", "S", "s ", "st"]
      const of = (tenant: string, session: string) => [
        main(session, tenant),
        own(session, "s", tenant),
        own(session, "x", tenant)
      ]
      yield* begin(tenants.flatMap((tenant) => sessions.flatMap((session) => of(tenant, session))))
      for (const tenant of tenants) {
        const all = sessions.toSorted().flatMap((session) => of(tenant, session))
        for (const limit of [1, 5, Infinity]) {
          const found = (yield* pages({ tenant, limit })).flat().map(({ key }) => key)
          yield* same(`The conversations of ${shown(tenant)}`, found, all)
          for (const session of sessions) {
            const found = (yield* pages({ tenant, session, limit })).flat().map(({ key }) => key)
            yield* same(`Those of session ${shown(session)} of ${shown(tenant)}`, found, of(tenant, session))
          }
        }
        yield* same("Those of an unknown session", yield* pages({ tenant, session: "t", limit: 5 }), [[]])
      }
      yield* same("Those of an unknown tenant", yield* pages({ tenant: "unknown", limit: 5 }), [[]])
      yield* same(
        "Those of the default tenant",
        yield* listed(),
        sessions.toSorted().flatMap((session) => of("default", session))
      )
    })
  },
  {
    rule: "a page goes on after a conversation that was removed in the meantime",
    check: Effect.gen(function* () {
      const keys = [main("a"), own("a", "x"), main("b"), own("b", "x"), main("c")]
      yield* begin(keys)
      for (const [removed, rest] of [
        [own("a", "x"), keys.slice(2)],
        [main("b"), keys.slice(3)]
      ] as const) {
        const limit = (yield* listed()).findIndex((key) => shown(key) === shown(removed)) + 1
        const { next } = yield* ask((store) => store.list({ limit }))
        yield* holds(`The page that ends with ${shown(removed)} does not say how to go on`, next !== undefined)
        yield* ask((store) => store.remove(removed))
        const page = yield* ask((store) => store.list({ after: next!, limit: 5 }))
        yield* same(
          "The next page",
          page.conversations.map(({ key }) => key),
          rest
        )
        yield* holds("The last page says how to go on", page.next === undefined)
      }
      for (const [after, wanted] of [
        [{ session: "0" }, 3],
        [{ session: "a", agent: "zzz" }, 2],
        [{ session: "bb" }, 1],
        [{ session: "c", agent: "0" }, 0]
      ] as const) {
        const { conversations } = yield* ask((store) => store.list({ after, limit: 5 }))
        yield* same(`How many come after ${shown(after)}`, conversations.length, wanted)
      }
      const within = yield* ask((store) => store.list({ session: "b", after: { session: "a" }, limit: 5 }))
      yield* same("How many of a session come after one before it", within.conversations.length, 1)
      const past = yield* ask((store) => store.list({ session: "b", after: { session: "c" }, limit: 5 }))
      yield* same("How many of a session come after one behind it", past, { conversations: [] })
    })
  },
  {
    rule: "a page says of each conversation what is known of it",
    check: Effect.gen(function* () {
      for (const n of numbers(10)) {
        const key = n % 2 === 0 ? main(`s${n}`) : own(`s${n}`, "a")
        const info = (yield* appendAll(key, numbered(n + 1))).at(-1)!
        if (n > 2) yield* ask((store) => store.summarize(key, { text: "short", through: n - 1 }, info))
      }
      const found = (yield* pages({ limit: 4 })).flat()
      yield* same(
        "The numbers",
        found.map(({ exchanges, messages, summarized }) => [exchanges, messages, summarized]),
        numbers(10).map((n) => [n + 1, 2 * (n + 1), n > 2 ? n - 1 : 0])
      )
      for (const info of found) {
        const { createdAt, generation, key } = (yield* known(info.key)).info
        yield* same(
          "What is read",
          { createdAt, generation, key },
          {
            createdAt: info.createdAt,
            generation: info.generation,
            key: info.key
          }
        )
      }
    })
  }
]
