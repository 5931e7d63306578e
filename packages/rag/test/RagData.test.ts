import { describe, expect, it } from "@effect/vitest"
import { RagData } from "@heddle/rag"
import { Effect, Either } from "effect"

describe("data", () => {
  it.effect("is made to options", () =>
    Effect.gen(function* () {
      expect(yield* RagData.decode({})).toEqual({})
      const data = { rag: { topK: 0 }, ragFilter: { sources: ["docs/*"], metadata: { year: 2020, draft: false } } }
      expect(yield* RagData.decode(data)).toEqual({ settings: data.rag, filter: data.ragFilter })
    })
  )

  it.effect("that is wrong is refused with all that is wrong with it", () =>
    Effect.gen(function* () {
      const wrong = { rag: { mode: "all", topK: 1.5 }, ragFilter: { sources: [""], metadata: { a: null } }, rg: 1 }
      const problems = Either.match(yield* Effect.either(RagData.decode(wrong)), {
        onLeft: ({ problems }) => problems,
        onRight: () => []
      })
      expect(problems.toSorted()).toEqual([
        "rag.mode: expected one of none, stuff, map_reduce",
        "rag.topK: expected a whole number from 0",
        "ragFilter.metadata.a: expected a text, a number, true or false",
        "ragFilter.sources[0]: expected a glob",
        expect.stringContaining("rg: is unexpected")
      ])
    })
  )
})
