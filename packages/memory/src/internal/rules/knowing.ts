/**
 * Rules of what is known of a conversation: which one it is, and when it was used.
 */
import type { Rule } from "@heddle/testing/Rules"
import { hostile, numbers, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type ConversationKey, type Conversations, main, own } from "../../Conversations.ts"
import {
  alike,
  appendAll,
  ask,
  at,
  exchange,
  has,
  known,
  listed,
  minutes,
  numbered,
  pages,
  roundTrip,
  talk
} from "../conversationChecks.ts"

export const knowing: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "a conversation that is not known is empty, and is not made by asking",
    check: Effect.gen(function* () {
      yield* same("The conversations of an empty store", yield* pages({ limit: 5 }), [[]])
      yield* appendAll(main("known"), numbered(1))
      for (const key of [main("unknown"), own("known", "unknown"), main("known", "unknown")]) {
        for (const range of [undefined, { last: 5 }, { first: 5, after: 1 }]) {
          yield* same(`What is read of ${shown(key)}`, yield* ask((store) => store.read(key, range)), { exchanges: [] })
        }
        yield* same("Clearing it", yield* ask((store) => store.clear(key)), false)
        yield* same("Removing it", yield* ask((store) => store.remove(key)), false)
      }
      yield* same("The conversations", yield* listed(), [main("known")])
      yield* same("Those of the other tenant", yield* listed("unknown"), [])
    })
  },
  {
    rule: "a conversation has its own exchanges and no others",
    check: Effect.gen(function* () {
      const said = (key: ConversationKey) => numbers(3).map((n) => exchange(`${n} of ${shown(key)}`))
      // In turns.
      for (const n of numbers(3)) for (const key of alike) yield* appendAll(key, [said(key)[n]!])
      for (const key of alike) yield* has(key, said(key))
      const [cleared, removed, ...others] = alike
      yield* ask((store) => Effect.zipRight(store.clear(cleared!), store.remove(removed!)))
      for (const key of others) yield* has(key, said(key))
    })
  },
  {
    rule: "a key has any texts",
    check: Effect.gen(function* () {
      const keys = hostile.flatMap((text) => [main(text), own("s", text), main("s", text), own(text, text, text)])
      for (const key of keys) yield* roundTrip(key, exchange(shown(key)))
      for (const key of keys) {
        yield* has(key, [exchange(shown(key))])
        yield* same(`The key of ${shown(key)}`, (yield* known(key)).info.key, key)
      }
      const found = (yield* listed()).map(shown).toSorted()
      const wanted = keys.filter(({ tenant }) => tenant === "default").map(shown)
      yield* same("The conversations", found, wanted.toSorted())
      for (const text of hostile) {
        yield* same(
          `Those of tenant ${shown(text)}`,
          (yield* listed(text)).map(shown).toSorted(),
          [main("s", text), own(text, text, text)].map(shown).toSorted()
        )
      }
      for (const key of keys) yield* same(`Removing ${shown(key)}`, yield* ask((store) => store.remove(key)), true)
      yield* same("What is left", yield* listed(), [])
    })
  },
  {
    rule: "a key has NUL and halves of characters as well",
    check: Effect.gen(function* () {
      const texts = ["\0", "a\0b", "a", "\u0001", "\ud83d", "\udc69", "a\ud83d", "\ue000", "\ufffd", "\ud83d\udc69"]
      const keys = texts.flatMap((text) => [main(text), own("s", text), main("s", text)])
      for (const key of keys) yield* roundTrip(key, exchange(shown(key)))
      for (const key of keys) {
        yield* has(key, [exchange(shown(key))])
        yield* same(`The key of ${shown(key)}`, (yield* known(key)).info.key, key)
      }
      yield* same("How many there are", (yield* listed()).length, 20)
    })
  },
  {
    rule: "it is known when a conversation was begun, and when it was read or changed last",
    check: Effect.gen(function* () {
      const times = Effect.gen(function* () {
        const { createdAt, lastAccessedAt } = (yield* pages({ limit: 5 })).flat()[0]!
        return [createdAt, lastAccessedAt]
      })
      const check = (what: string, found: unknown, last: number) =>
        same(`The times after ${what}`, found, [minutes(0), minutes(last)])
      yield* at(0, appendAll(talk, numbered(1)))
      yield* check("it was begun", yield* at(5, times), 0)
      yield* at(10, appendAll(talk, numbered(1)))
      yield* check("an exchange was appended", yield* at(15, times), 10)
      yield* at(20, known(talk))
      yield* check("it was read", yield* at(25, times), 20)
      // Within a minute of that: it may be noted.
      yield* at(20.5, known(talk))
      const [, last] = yield* at(25, times)
      if (last !== minutes(20.5)) yield* check("it was read twice in a minute", yield* at(25, times), 20)
      const { exchanges, info } = yield* at(30, known(talk))
      yield* same(
        "The times of the exchanges",
        exchanges.map(({ at }) => at),
        [minutes(0), minutes(10)]
      )
      yield* at(
        40,
        ask((store) => store.summarize(talk, { text: "short", through: 1 }, info))
      )
      yield* check("it was summarized", yield* at(45, times), 40)
      yield* same("The time of the summary", (yield* at(50, known(talk))).summary?.at, minutes(40))
      yield* at(
        60,
        ask((store) => store.replace(talk, numbered(1), info))
      )
      yield* check("its exchanges were replaced", yield* at(65, times), 60)
      yield* same("The time of the new exchange", (yield* at(70, known(talk))).exchanges[0]?.at, minutes(60))
      yield* at(
        80,
        ask((store) => store.clear(talk))
      )
      yield* check("it was cleared", yield* at(85, times), 80)
      yield* ask((store) => store.remove(talk))
      yield* at(90, appendAll(talk, numbered(1)))
      yield* same("The times after it began again", yield* at(95, times), [minutes(90), minutes(90)])
    })
  }
]
