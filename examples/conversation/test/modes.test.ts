import { expect, it } from "@effect/vitest"
import { Conversations, Summaries } from "@heddle/memory"
import { Effect } from "effect"
import { argumentsOf } from "../arguments.ts"
import { askEach, askOtherwise } from "../ask.ts"
import { temporaryFile } from "../process.ts"
import { cells, ranges } from "../table.ts"
import { begin, session } from "../talk.ts"
import { onFile } from "../world.ts"

const inNewFile = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(temporaryFile, (file) => Effect.provide(effect, onFile(file)))

const question = "Which framework does our project use?"
const react = "Our project uses React as its framework for the pages."
const unseen = (mode: string) => `I run in ${mode} context mode and cannot see that. What was said about it?`

it.scoped("each mode sees, answers and adds what the table says", () =>
  inNewFile(
    Effect.gen(function* () {
      expect(yield* begin).toBe(0)
      const reports = yield* askEach(question)
      expect(reports.map((report) => [...cells(report), report.answer])).toEqual([
        ["isolated", "none of 12", "·", "·", "·", "+1", unseen("isolated")],
        ["selective", "2–3, 11 of 12", "·", "·", "·", "+1", react],
        ["summarized", "10–12 of 12", "·", "of 1–9", "·", "+1", `The summary says: ${react}`],
        ["fork", "1–12 of 12", "·", "·", "·", "+1", react],
        ["shared", "1–12 of 12", "·", "·", "+1", "·", react],
        ["hybrid", "none of 13", "·", "·", "+1", "+1", unseen("hybrid")]
      ])
      const otherwise = yield* askOtherwise(question)
      expect(otherwise.map((report) => [...cells(report), report.answer])).toEqual([
        ["isolated → shared", "1–14 of 14", "none of 1", "·", "+1", "·", react],
        ["fork, by host", "1–15 of 15 + now", "none of 1", "·", "+1", "+1", `fork says: ${react}`]
      ])
      // The question to host, which is the exchange that goes on, and its call.
      expect(otherwise[1]!.seen.goingOn).toBe(2)
    })
  )
)

it.scoped("the summary is written in the background, and leaves the exchanges as they are", () =>
  inNewFile(
    Effect.gen(function* () {
      yield* begin
      const conversations = yield* Conversations.Conversations
      const { exchanges, summary } = yield* conversations.read(Conversations.main(session))
      expect(summary).toMatchObject({ through: 9, text: expect.stringContaining(react) })
      expect(summary!.text).not.toContain("lunch")
      expect(exchanges.length).toBe(12)
    })
  )
)

it.scoped("a file that has the conversation already gets no second one, and half of one the rest", () =>
  Effect.gen(function* () {
    const file = yield* temporaryFile
    yield* Effect.provide(begin, onFile(file))
    const conversations = yield* Effect.provide(
      Effect.gen(function* () {
        expect(yield* begin).toBe(12)
        const store = yield* Conversations.Conversations
        const key = Conversations.main(session)
        const { exchanges, info } = yield* store.read(key)
        yield* store.replace(key, exchanges.slice(0, 5), info)
        expect(yield* begin).toBe(5)
        yield* Effect.flatMap(Summaries.Summaries, ({ settled }) => settled)
        return yield* store.read(key)
      }),
      onFile(file)
    )
    expect(conversations.exchanges.map(({ position }) => position)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(conversations.summary?.through).toBe(9)
  })
)

it.scoped("what nobody has said is not answered by any mode", () =>
  inNewFile(
    Effect.gen(function* () {
      yield* begin
      const answers = (yield* askEach("Xyzzy?")).map(({ answer }) => answer)
      expect(new Set(answers)).toEqual(new Set([unseen("isolated"), unseen("hybrid"), "Nothing that I see says so."]))
    })
  )
)

it("writes positions as ranges", () => {
  expect(ranges([])).toBe("")
  expect(ranges([1, 2, 3, 5, 7, 8])).toBe("1–3, 5, 7–8")
})

it("takes a question of several words and a file, and refuses what makes no sense", () => {
  expect(argumentsOf(["When", "is", "the launch?"])).toEqual({ question: "When is the launch?" })
  expect(argumentsOf(["--", "--db", "a.db"])).toEqual({ db: "a.db", question })
  for (const wrong of [["--db"], ["--db", ""], ["--db", ":memory:"], ["--bd", "a.db"], [""], [" "]]) {
    expect(argumentsOf(wrong)).toBeTypeOf("string")
  }
})

it.scoped("a question that was asked before, with or without a mark, is no answer to it", () =>
  inNewFile(
    Effect.gen(function* () {
      yield* begin
      for (const asked of ["What about payments", "Who writes the checkout?"]) {
        const answers = [...(yield* askEach(asked)), ...(yield* askOtherwise(asked))].map(({ answer }) => answer)
        for (const answer of answers) expect(answer).not.toContain(asked)
      }
    })
  )
)
