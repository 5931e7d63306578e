/**
 * Rules of what is put in the place of exchanges, and of the end of a conversation.
 */
import type { Rule } from "@heddle/testing/Rules"
import { holds, numbers, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type Conversations, main, own } from "../../Conversations.ts"
import { appendAll, ask, asked, exchange, has, known, listed, numbered, refused, talk } from "../conversationChecks.ts"

/** A conversation of five exchanges, two of which have a summary. */
const summarizedTalk = Effect.gen(function* () {
  const { generation } = (yield* appendAll(talk, numbered(5))).at(-1)!
  return yield* ask((store) =>
    store.summarize(talk, { text: "one and two", through: 2 }, { generation, summarized: 0 })
  )
})

export const changing: ReadonlyArray<Rule<Conversations>> = [
  {
    rule: "it is known how many exchanges and messages there are, and how many the summary covers",
    check: Effect.gen(function* () {
      const { messages } = exchange("?")
      const sizes = [1, 3, 2]
      const exchanges = sizes.map((size) => ({
        agent: "helper",
        messages: numbers(size).map((n) => messages[n % 2]!)
      }))
      const check = (what: string, wanted: ReadonlyArray<number>, told?: unknown) =>
        Effect.gen(function* () {
          const { info } = yield* known(talk)
          const page = yield* ask((store) => store.list({ limit: 1 }))
          yield* same(`The numbers ${what}`, [info.exchanges, info.messages, info.summarized], wanted)
          yield* same(`What is listed ${what}`, page.conversations, [info])
          if (told !== undefined) yield* same(`What is told ${what}`, told, info)
          return info
        })
      const appended = yield* appendAll(talk, exchanges)
      let info = yield* check("after appending", [3, 6, 0], appended.at(-1))
      info = yield* ask((store) => store.summarize(talk, { text: "short", through: 2 }, info))
      yield* check("after summarizing", [3, 6, 2], info)
      info = (yield* appendAll(talk, [exchange("4")]))[0]!
      yield* check("after appending more", [4, 8, 2], info)
      info = yield* ask((store) => store.replace(talk, exchanges.slice(1), info))
      yield* check("after replacing", [2, 5, 0], info)
      yield* ask((store) => store.clear(talk))
      yield* check("after clearing", [0, 0, 0])
    })
  },
  {
    rule: "a summary stands beside the exchanges that it covers",
    check: Effect.gen(function* () {
      let info = yield* summarizedTalk
      yield* has(talk, numbered(5))
      for (const range of [undefined, { last: 1 }, { first: 0 }]) {
        const { summary } = yield* ask((store) => store.read(talk, range))
        yield* same("The summary", [summary?.text, summary?.through], ["one and two", 2])
      }
      const long = `${"历史 ".repeat(100_000)}\0\ud800 '"\\`
      // A summary may also cover less than the one before it.
      for (const [text, through] of [
        ["more", 4],
        ["", 1],
        ["all", 5],
        [long, 3]
      ] as const) {
        info = yield* ask((store) => store.summarize(talk, { text, through }, info))
        const { summary } = yield* known(talk)
        yield* same("The summary in its place", [summary?.text, summary?.through], [text, through])
      }
      yield* has(talk, numbered(5))
    })
  },
  {
    rule: "what was appended in the meantime is no obstacle to a summary",
    check: Effect.gen(function* () {
      const { info } = yield* Effect.zipRight(appendAll(talk, numbered(3)), known(talk))
      yield* appendAll(talk, [exchange("4")])
      const after = yield* ask((store) => store.summarize(talk, { text: "short", through: 3 }, info))
      yield* same("What is known of it", [after.exchanges, after.summarized], [4, 3])
      yield* has(talk, numbered(4))
    })
  },
  {
    rule: "a summary of what is no longer so is refused",
    check: Effect.gen(function* () {
      const summary = { text: "late", through: 1 }
      const { info: first } = yield* Effect.zipRight(appendAll(talk, numbered(5)), known(talk))
      const second = yield* ask((store) => store.summarize(talk, { text: "one and two", through: 2 }, first))
      yield* refused("a summary beside another", talk, (store) => store.summarize(talk, summary, first))
      const replaced = yield* ask((store) => store.replace(talk, numbered(2), second))
      yield* refused("a summary of what was replaced", talk, (store) =>
        store.summarize(talk, summary, { ...first, summarized: 0 })
      )
      yield* ask((store) => store.clear(talk))
      // A position that was one once is no mistake in the program.
      yield* refused("a summary of what was cleared", talk, (store) => store.summarize(talk, summary, replaced))
      yield* ask((store) => store.remove(talk))
      yield* refused("a summary of what was removed", talk, (store) => store.summarize(talk, summary, replaced))
      yield* appendAll(talk, numbered(2))
      yield* refused("a summary of what began again", talk, (store) => store.summarize(talk, summary, replaced))
      yield* has(talk, numbered(2))
    })
  },
  {
    rule: "what replaces a conversation stands in the place of all that it had",
    check: Effect.gen(function* () {
      const before = yield* summarizedTalk
      const others = ["a", "b", "c"].map((text) => exchange(text, "another"))
      const info = yield* ask((store) => store.replace(talk, others, before))
      yield* has(talk, others)
      yield* holds("The summary is still there", (yield* known(talk)).summary === undefined)
      yield* same("When it was begun", info.createdAt, before.createdAt)
      yield* appendAll(talk, [exchange("d")])
      yield* has(talk, [...others, exchange("d")])
      const { info: longer } = yield* known(talk)
      const empty = yield* ask((store) => store.replace(talk, [], longer))
      yield* same("Its size", [empty.exchanges, empty.messages], [0, 0])
      yield* has(talk, [])
      // More than there are.
      yield* ask((store) => store.replace(talk, numbered(20), empty))
      yield* has(talk, numbered(20))
    })
  },
  {
    rule: "a conversation can begin with what would replace it",
    check: Effect.gen(function* () {
      const info = yield* ask((store) => store.replace(talk, numbered(3), undefined))
      yield* same("The key", info.key, talk)
      yield* has(talk, numbered(3))
      yield* ask((store) => store.replace(main("empty"), [], undefined))
      yield* same("What is known of an empty one", (yield* known(main("empty"))).info.exchanges, 0)
      yield* same("The conversations", yield* listed(), [main("empty"), talk])
      yield* appendAll(talk, [exchange("4")])
      yield* has(talk, numbered(4))
    })
  },
  {
    rule: "a conversation is replaced only if it is still as expected",
    check: Effect.gen(function* () {
      const others = [exchange("other")]
      const { info: old } = yield* Effect.zipRight(appendAll(talk, numbered(2)), known(talk))
      yield* refused("replacing none though there is one", talk, (store) => store.replace(talk, others, undefined))
      yield* appendAll(talk, [exchange("3")])
      yield* refused("replacing what was appended to", talk, (store) => store.replace(talk, others, old))
      const { info } = yield* known(talk)
      yield* refused("replacing a longer one", talk, (store) => store.replace(talk, others, { ...info, exchanges: 4 }))
      yield* ask((store) => store.clear(talk))
      yield* refused("replacing what was cleared", talk, (store) => store.replace(talk, others, info))
      // As many as before.
      yield* appendAll(talk, numbered(3))
      yield* refused("replacing what was cleared and filled", talk, (store) => store.replace(talk, others, info))
      yield* ask((store) => store.remove(talk))
      yield* refused("replacing one though there is none", talk, (store) => store.replace(talk, others, info))
      yield* same("The conversations", yield* listed(), [])
    })
  },
  {
    rule: "a generation never comes again",
    check: Effect.gen(function* () {
      const seen: Array<string> = []
      const see = Effect.map(known(talk), ({ info }) => {
        seen.push(info.generation)
        return info
      })
      for (const round of [1, 2]) {
        yield* appendAll(talk, numbered(2))
        const info = yield* see
        yield* appendAll(talk, [exchange("3")])
        const after = yield* ask((store) => store.summarize(talk, { text: "short", through: 1 }, info))
        yield* same(`The generation after appending and summarizing, round ${round}`, after.generation, info.generation)
        for (const exchanges of [numbered(3), numbered(3), [], []]) {
          const now = (yield* known(talk)).info
          yield* ask((store) => store.replace(talk, exchanges, now))
          yield* see
        }
        for (const _ of [1, 2]) {
          yield* ask((store) => store.clear(talk))
          yield* see
        }
        yield* ask((store) => store.remove(talk))
      }
      yield* same("How many generations there were", new Set(seen).size, seen.length)
    })
  },
  {
    rule: "a conversation that was cleared is empty, stays, and begins at 1 again",
    check: Effect.gen(function* () {
      const before = yield* summarizedTalk
      yield* appendAll(own("s", "a"), numbered(1))
      yield* same("Clearing it", yield* ask((store) => store.clear(talk)), true)
      const { exchanges, info, summary } = yield* known(talk)
      yield* same("What it has", { exchanges, summary }, { exchanges: [], summary: undefined })
      yield* same("When it was begun", info.createdAt, before.createdAt)
      yield* same("Clearing it again", yield* ask((store) => store.clear(talk)), true)
      yield* same("The conversations", yield* listed(), [talk, own("s", "a")])
      yield* has(own("s", "a"), numbered(1))
      yield* appendAll(talk, [exchange("anew")])
      yield* has(talk, [exchange("anew")])
    })
  },
  {
    rule: "a conversation is removed once, with all that it had, and can begin again",
    check: Effect.gen(function* () {
      yield* summarizedTalk
      yield* appendAll(own("s", "a"), numbered(1))
      yield* same("Removing it", yield* ask((store) => store.remove(talk)), true)
      yield* same("Removing it again", yield* ask((store) => store.remove(talk)), false)
      yield* same("Clearing it", yield* ask((store) => store.clear(talk)), false)
      yield* same("What is read of it", yield* ask((store) => store.read(talk)), { exchanges: [] })
      yield* same("The conversations", yield* listed(), [own("s", "a")])
      yield* has(own("s", "a"), numbered(1))
      yield* appendAll(talk, [exchange("anew")])
      const { exchanges, summary } = yield* known(talk)
      yield* same(`What it has: ${shown(summary)}`, [asked(exchanges), summary], [["anew"], undefined])
    })
  }
]
