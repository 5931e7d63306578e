/**
 * Rules of what is kept of exchanges, and read of them.
 */
import { Message } from "@heddle/core"
import type { Rule } from "@heddle/testing/Rules"
import { hostile, json, numbers, same, spoil } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import type { Conversations, Range } from "../../Conversations.ts"
import {
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
  numbered,
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
  }
]
