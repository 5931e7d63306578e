import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { isRight, quality, ranked } from "../src/retrieval/quality.ts"
import { type Question, questions, read } from "../src/retrieval/questions.ts"
import { retrievers } from "../src/retrieval/subjects.ts"

const isNovel = ({ source }: Question) => source.includes("moby-dick")

describe("the labelled set", () => {
  it("has 60 questions, 20 of them about the novel, none of them twice", () => {
    expect(questions.length).toBe(60)
    expect(questions.filter(isNovel).length).toBe(20)
    expect(new Set(questions.map(({ question }) => question)).size).toBe(60)
    expect(new Set(questions.map(({ answer, source }) => `${source} ${answer}`)).size).toBe(60)
  })

  for (const { answer, question, source } of questions)
    it(`has the answer to "${question}" as it stands in ${source}`, () => expect(read(source)).toContain(answer))
})

describe("the measure", () => {
  const [first, second] = questions as readonly [Question, Question]
  const passage = ({ answer, source }: Question, score: number) => ({
    id: answer,
    text: `It says: ${answer}.`,
    source,
    score,
    metadata: {}
  })

  it("takes a passage for right that has the answer and is of the source", () => {
    const right = passage(first, 1)
    expect(isRight(first, right)).toBe(true)
    expect(isRight(first, { ...right, source: "elsewhere.md" })).toBe(false)
    expect(isRight(second, right)).toBe(false)
  })

  it.effect("counts at which rank the first right passage is found", () =>
    Effect.gen(function* () {
      const found = [passage(second, 1), passage(first, 0.5), passage(first, 0.4)]
      const all = yield* ranked({ search: () => Effect.succeed(found) }, [first, second, questions[2]!])
      expect(all.map(({ rank }) => rank)).toEqual([2, 1, Infinity])
      expect(quality(all)).toEqual({ questions: 3, recallAt5: 2 / 3, mrr: 0.5 })
      const sixth = [first, second].map((question) => ({ question, rank: 6 }))
      expect(quality(sixth)).toEqual({ questions: 2, recallAt5: 0, mrr: 1 / 6 })
    })
  )

  it.scoped("finds that words and vectors together find no less than words alone, and no later", () =>
    Effect.gen(function* () {
      const all = new Map(
        yield* Effect.forEach(yield* retrievers, ([name, retriever]) =>
          Effect.map(ranked(retriever, questions), (all) => [name, quality(all)] as const)
        )
      )
      const [lexical, hybrid] = [all.get("lexical")!, all.get("hybrid")!]
      expect(hybrid.recallAt5).toBeGreaterThanOrEqual(lexical.recallAt5)
      expect(hybrid.mrr).toBeGreaterThanOrEqual(lexical.mrr)
    })
  )
})
