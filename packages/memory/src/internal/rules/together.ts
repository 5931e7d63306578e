/**
 * Rules of what happens at the same time.
 */
import type { Rule } from "@heddle/testing/Rules"
import { holds, numbers, same } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Conversations, main } from "../../Conversations.ts"
import { appendAll, ask, asked, exchange, has, known, numbered, talk } from "../conversationChecks.ts"

const unbounded = { concurrency: "unbounded" } as const

/** A text of which every part says whose it is. */
const long = (n: number): string => `${n} `.repeat(100 + n)

export const together: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "exchanges appended to a conversation at the same time are all kept, whole, in one order",
    check: Effect.gen(function* () {
      const texts = numbers(100).map(long)
      const infos = yield* Effect.forEach(texts, (text) => appendAll(talk, [exchange(text)]), unbounded)
      const { exchanges, info } = yield* known(talk)
      yield* same("The exchanges, sorted", asked(exchanges).toSorted(), texts.toSorted())
      yield* same(
        "The positions",
        exchanges.map(({ position }) => position),
        numbers(100).map((n) => n + 1)
      )
      for (const [n, [told]] of infos.entries()) {
        yield* same("The generation that each was told of", told!.generation, info.generation)
        const there = exchanges[told!.exchanges - 1]
        yield* holds("One was not told of its own position", there !== undefined && asked([there])[0] === texts[n])
      }
      const readers = yield* Effect.all(
        numbers(5).map(() => known(talk)),
        unbounded
      )
      for (const reader of readers) yield* same("What another reader sees", reader.exchanges, exchanges)
      const { exchanges: last } = yield* ask((store) => store.read(talk, { last: 10 }))
      yield* same("The last ten", last, exchanges.slice(-10))
    })
  },
  {
    rule: "exchanges appended to many conversations at the same time stay apart",
    check: Effect.gen(function* () {
      const keys = numbers(50).map((n) => main(`s${n}`, `t${n % 3}`))
      yield* Effect.forEach(
        keys,
        (key) =>
          appendAll(
            key,
            numbers(4).map((n) => exchange(`${n} of ${key.session}`))
          ),
        unbounded
      )
      for (const key of keys) {
        yield* has(
          key,
          numbers(4).map((n) => exchange(`${n} of ${key.session}`))
        )
      }
    })
  },
  {
    rule: "of those who replace one state of a conversation at the same time, one does",
    check: Effect.gen(function* () {
      for (const expected of [undefined, "known"] as const) {
        const info = expected === undefined ? undefined : (yield* known(talk)).info
        const exits = yield* Effect.forEach(
          numbers(10),
          (n) => Effect.exit(ask((store) => store.replace(talk, [exchange(long(n)), exchange("2")], info))),
          unbounded
        )
        const done = numbers(10).filter((n) => Exit.isSuccess(exits[n]!))
        yield* same("How many replaced it", done.length, 1)
        yield* has(talk, [exchange(long(done[0]!)), exchange("2")])
      }
    })
  },
  {
    rule: "what is appended while a conversation is replaced is not lost",
    check: Effect.gen(function* () {
      const texts = numbers(40).map((n) => `w${n}`)
      // Puts all that it has read in one exchange.
      const fold = ask((store) =>
        Effect.gen(function* () {
          const { exchanges, info } = yield* store.read(talk)
          yield* Effect.yieldNow()
          const all = exchanges.length === 0 ? [] : [exchange(asked(exchanges).join(" "))]
          yield* Effect.catchTag(store.replace(talk, all, info), "ConversationChanged", () => Effect.yieldNow())
        })
      )
      // Each writes at another time, so that some write between a reading and what it leads to.
      const write = (text: string, n: number) =>
        Effect.zipRight(Effect.repeatN(Effect.yieldNow(), n % 13), appendAll(talk, [exchange(text)]))
      const turns = [Effect.repeatN(fold, 20), ...texts.map(write), Effect.repeatN(fold, 20)]
      yield* Effect.all(turns, { ...unbounded, discard: true })
      const { exchanges } = yield* known(talk)
      yield* same("All that was appended", asked(exchanges).join(" ").split(" ").toSorted(), texts.toSorted())
      yield* same(
        "The positions",
        exchanges.map(({ position }) => position),
        exchanges.map((_, n) => n + 1)
      )
    })
  },
  {
    rule: "of those who summarize one state of a conversation at the same time, one does",
    check: Effect.gen(function* () {
      yield* appendAll(talk, numbered(5))
      const { info } = yield* known(talk)
      const exits = yield* Effect.forEach(
        numbers(5),
        (n) => Effect.exit(ask((store) => store.summarize(talk, { text: long(n), through: n + 1 }, info))),
        unbounded
      )
      const done = numbers(5).filter((n) => Exit.isSuccess(exits[n]!))
      yield* same("How many summarized it", done.length, 1)
      const { summary } = yield* known(talk)
      yield* same("The summary", [summary?.text, summary?.through], [long(done[0]!), done[0]! + 1])
    })
  },
  {
    rule: "a reader never sees half of a change",
    check: Effect.gen(function* () {
      const sizes = [1, 7, 3, 20, 0, 5]
      const change = ask((store) =>
        Effect.forEach(sizes, (size) =>
          Effect.gen(function* () {
            const { info } = yield* store.read(talk, { last: 0 })
            yield* store.replace(
              talk,
              numbers(size).map(() => exchange(`of ${size}`)),
              info
            )
          })
        )
      )
      const look = Effect.gen(function* () {
        const { exchanges, info } = yield* ask((store) => store.read(talk))
        const [first] = asked(exchanges)
        yield* same("How many exchanges were read", exchanges.length, info?.exchanges ?? 0)
        yield* same(
          "What was read",
          asked(exchanges),
          exchanges.map(() => first)
        )
        if (first !== undefined) yield* same("What was read", first, `of ${exchanges.length}`)
        yield* Effect.yieldNow()
      })
      yield* Effect.all([change, Effect.repeatN(look, 30), Effect.repeatN(look, 30)], { ...unbounded, discard: true })
    })
  }
]
