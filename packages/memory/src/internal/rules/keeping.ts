/**
 * Rules of what is appended and read.
 */
import { Message } from "@heddle/core"
import type { Rule } from "@heddle/testing/Rules"
import { dies, hostile, json, numbers, same, shown, spoil } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type ConversationKey, type Conversations, main, own, type Range } from "../../Conversations.ts"
import {
  alike,
  appendAll,
  ask,
  asked,
  at,
  everyKind,
  exchange,
  has,
  holding,
  known,
  listed,
  minutes,
  numbered,
  pages,
  roundTrip,
  talk
} from "../conversationChecks.ts"

export const keeping: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "an exchange that was appended comes back as it was",
    check: Effect.gen(function* () {
      yield* roundTrip(talk, { agent: "helper", messages: everyKind })
      yield* roundTrip(talk, { agent: "another", messages: [Message.assistant("unasked")] })
      yield* has(talk, [
        { agent: "helper", messages: everyKind },
        { agent: "another", messages: [Message.assistant("unasked")] }
      ])
    })
  },
  {
    rule: "calls without an outcome are kept as cancelled",
    check: Effect.gen(function* () {
      const calling = (...outcomes: ReadonlyArray<Message.ToolOutcome>) => ({
        agent: "helper",
        messages: [Message.assistant(outcomes.map((outcome, n) => Message.toolCall(`${n}`, "look", {}, outcome)))]
      })
      const left = calling(Message.pending, Message.succeeded(1), Message.pending)
      const settled = calling(Message.cancelled, Message.succeeded(1), Message.cancelled)
      yield* appendAll(talk, [left])
      yield* has(talk, [settled])
      const { info } = yield* known(talk)
      yield* ask((store) => store.replace(talk, [left, left], info))
      yield* has(talk, [settled, settled])
    })
  },
  {
    rule: "exchanges come oldest first, at positions from 1 without gaps",
    check: Effect.gen(function* () {
      // Neither what was said nor when says where an exchange stands.
      const exchanges = numbers(20).map((n) => exchange(`${(n * 7) % 20}`))
      const infos = yield* Effect.forEach(exchanges, (exchange, n) => at(100 - n, appendAll(talk, [exchange])))
      yield* same(
        "The exchanges that there were after each",
        infos.flat().map(({ exchanges }) => exchanges),
        numbers(20).map((n) => n + 1)
      )
      yield* has(talk, exchanges)
    })
  },
  {
    rule: "a range gives the exchanges that are asked for",
    check: Effect.gen(function* () {
      yield* appendAll(talk, numbered(9))
      const ranges: ReadonlyArray<readonly [Range, string]> = [
        [{ last: 0 }, ""],
        [{ last: 1 }, "9"],
        [{ last: 3 }, "789"],
        [{ last: 9 }, "123456789"],
        [{ last: 1e9 }, "123456789"],
        [{ last: Infinity }, "123456789"],
        [{ last: 2, before: 9 }, "78"],
        [{ last: 2, before: 2 }, "1"],
        [{ last: 2, before: 1 }, ""],
        [{ last: Infinity, before: 0 }, ""],
        [{ last: 2, before: 10 }, "89"],
        [{ last: 2, before: 1000 }, "89"],
        [{ last: 2, before: Infinity }, "89"],
        [{ last: 0, before: 5 }, ""],
        [{ first: 0 }, ""],
        [{ first: 1 }, "1"],
        [{ first: 3 }, "123"],
        [{ first: 10 }, "123456789"],
        [{ first: Infinity }, "123456789"],
        [{ first: 2, after: 0 }, "12"],
        [{ first: 2, after: 3 }, "45"],
        [{ first: 2, after: 8 }, "9"],
        [{ first: Infinity, after: 4 }, "56789"],
        [{ first: 2, after: 9 }, ""],
        [{ first: 2, after: 1000 }, ""],
        [{ first: Infinity, after: Infinity }, ""]
      ]
      for (const [range, wanted] of ranges) {
        const { exchanges, info } = yield* ask((store) => store.read(talk, range))
        const name = `${Object.entries(range).join(" ")}`
        yield* same(`The exchanges for ${name}`, asked(exchanges).join(""), wanted)
        yield* same(`Their positions for ${name}`, exchanges.map(({ position }) => position).join(""), wanted)
        yield* same(`How many there are, for ${name}`, info?.exchanges, 9)
      }
    })
  },
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
    rule: "texts of a megabyte are kept whole",
    check: roundTrip(talk, {
      agent: "helper",
      messages: [
        Message.user("历史 abc ".repeat(130_000)),
        Message.assistant([Message.toolCall("1", "read", {}, Message.succeeded('"\\\n'.repeat(350_000)))])
      ]
    })
  },
  {
    rule: "all that JSON has is kept as it is",
    check: Effect.gen(function* () {
      for (const value of json) yield* roundTrip(talk, holding(value))
      for (const text of [...hostile, ...json.filter((value) => typeof value === "string"), "\ud800", "a\udc00b"]) {
        yield* roundTrip(talk, { agent: text === "" ? " " : text, messages: [Message.user(text)] })
      }
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
  },
  {
    rule: "what a reader does to what it was given does not reach the store",
    check: Effect.gen(function* () {
      const wanted = () => holding({ list: [1, { a: 2 }] })
      const { generation } = (yield* appendAll(talk, [wanted()]))[0]!
      yield* ask((store) => store.summarize(talk, { text: "short", through: 1 }, { generation, summarized: 0 }))
      const before = yield* known(talk)
      const copy = structuredClone(before)
      const page = yield* ask((store) => store.list({ limit: 1 }))
      yield* Effect.sync(() => {
        spoil(before)
        spoil(page)
      })
      yield* same("The conversation", yield* known(talk), copy)
      yield* has(talk, [wanted()])
      yield* same("The conversations", yield* listed(), [talk])
    })
  },
  {
    rule: "what a writer does to what it gave does not reach the store",
    check: Effect.gen(function* () {
      const wanted = () => holding({ list: [1, { a: 2 }] })
      const mine = { key: { ...talk }, exchange: wanted(), exchanges: [wanted()], summary: { text: "t", through: 1 } }
      yield* appendAll(mine.key, [mine.exchange])
      yield* Effect.sync(() => spoil(mine.exchange))
      yield* has(talk, [wanted()])
      const { info } = yield* known(talk)
      yield* ask((store) => store.replace(mine.key, mine.exchanges, info))
      yield* Effect.sync(() => spoil(mine.exchanges))
      yield* has(talk, [wanted()])
      const { generation } = (yield* known(talk)).info
      yield* ask((store) => store.summarize(mine.key, mine.summary, { generation, summarized: 0 }))
      yield* Effect.sync(() => spoil(mine))
      const { info: last, summary } = yield* known(talk)
      yield* same("The summary", [summary?.text, summary?.through], ["t", 1])
      yield* same("The key", last.key, talk)
      yield* same("The conversations", yield* listed(), [talk])
    })
  },
  {
    rule: "what makes no sense dies with a DefinitionError",
    check: Effect.gen(function* () {
      yield* appendAll(talk, numbered(2))
      const before = yield* known(talk)
      for (const key of [main(""), main("s", ""), own("s", "")]) {
        const name = shown(key)
        yield* dies(
          `read of ${name}`,
          ask((store) => store.read(key))
        )
        yield* dies(
          `append to ${name}`,
          ask((store) => store.append(key, exchange("1")))
        )
        yield* dies(
          `replace of ${name}`,
          ask((store) => store.replace(key, numbered(1), undefined))
        )
        yield* dies(
          `summarize of ${name}`,
          ask((store) => store.summarize(key, { text: "", through: 1 }, before.info))
        )
        yield* dies(
          `clear of ${name}`,
          ask((store) => store.clear(key))
        )
        yield* dies(
          `remove of ${name}`,
          ask((store) => store.remove(key))
        )
      }
      const nothing = { agent: "helper", messages: [] }
      for (const wrong of [nothing, exchange("1", "")]) {
        const name = shown(wrong)
        yield* dies(
          `append of ${name}`,
          ask((store) => store.append(talk, wrong))
        )
        yield* dies(
          `replace by ${name}`,
          ask((store) => store.replace(talk, [exchange("1"), wrong], before.info))
        )
      }
      for (const count of [-1, 0.5, NaN, -Infinity]) {
        for (const range of [
          { last: count },
          { last: 1, before: count },
          { first: count },
          { first: 1, after: count }
        ]) {
          yield* dies(
            `read of ${Object.entries(range).join(" ")}`,
            ask((store) => store.read(talk, range))
          )
        }
      }
      for (const through of [0, -1, 0.5, 3, NaN, Infinity]) {
        const summary = { text: "short", through }
        yield* dies(
          `summarize through ${through}`,
          ask((store) => store.summarize(talk, summary, before.info))
        )
      }
      for (const limit of [0, -1, 1.5, NaN, -Infinity]) {
        yield* dies(
          `list with a limit of ${limit}`,
          ask((store) => store.list({ limit }))
        )
      }
      for (const options of [{ tenant: "" }, { session: "" }, { after: { session: "" } }]) {
        yield* dies(
          `list of ${shown(options)}`,
          ask((store) => store.list({ ...options, limit: 1 }))
        )
      }
      const after = yield* known(talk)
      yield* same("The conversation", after, before)
    })
  }
]
