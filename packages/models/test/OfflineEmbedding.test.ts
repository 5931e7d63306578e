import { describe, expect, it } from "@effect/vitest"
import { EmbeddingModel } from "@heddle/core"
import { terms } from "@heddle/core/words"
import { OfflineEmbedding } from "@heddle/models"
import { Effect, FastCheck } from "effect"

const model = OfflineEmbedding.make()

const embed = (...texts: ReadonlyArray<string>) => model.embed(texts, "document")

const likeness = (a: EmbeddingModel.Vector, b: EmbeddingModel.Vector) => a.reduce((sum, x, i) => sum + x * b[i]!, 0)

const isUnit = (vector: EmbeddingModel.Vector) =>
  vector.length === 384 && Math.abs(likeness(vector, vector) - 1) < 1e-5 && vector.every(Number.isFinite)

const isZero = (vector: EmbeddingModel.Vector) => vector.length === 384 && vector.every((x) => x === 0)

const hostile = [
  "",
  " \n\t",
  "\0\u0001",
  "\ud800",
  "\udc00\ud800",
  "🧵🧶",
  "?!…",
  "the of and",
  "__proto__ constructor toString",
  "短期记忆",
  "ﷺ",
  "a\u0301".repeat(500),
  "x".repeat(100_000)
]

describe("the embedding model that works offline", () => {
  it.effect.prop(
    "gives a vector of the length 1 for every text with words, one of zeros for any other, always the same",
    [FastCheck.oneof(FastCheck.string(), FastCheck.string({ unit: "binary" }), FastCheck.constantFrom(...hostile))],
    ([text]) =>
      Effect.gen(function* () {
        const [alone] = yield* embed(text)
        const [, amid] = yield* OfflineEmbedding.make().embed(["something else", text, "and more"], "query")
        expect(terms(text).length > 0 ? isUnit(alone!) : isZero(alone!)).toBe(true)
        expect(amid).toEqual(alone)
      })
  )

  it.effect.each(["", "???", "🙂", "x".repeat(101)])(
    "is as close to a text without words as to any other: %j",
    (text) =>
      Effect.gen(function* () {
        const [vector, ...others] = yield* embed(text, "weaving", "opening hours", "🧵")
        expect(others.map((other) => likeness(vector!, other))).toEqual([0, 0, 0])
      })
  )

  it.effect("gives one vector for each text, in their order", () =>
    Effect.gen(function* () {
      const service = yield* EmbeddingModel.EmbeddingModel
      expect(yield* service.embed([], "query")).toEqual([])
      const [a, b, again] = yield* service.embed(["weaving", "tokens", "weaving"], "document")
      expect(again).toEqual(a)
      expect(b).not.toEqual(a)
    }).pipe(Effect.provide(OfflineEmbedding.layer))
  )

  it.effect("takes a text of 1 MB", () =>
    Effect.gen(function* () {
      const long = "The quick brown fox writes memory handlers 42 times. ".repeat(20_000)
      const [vector, short] = yield* embed(long, "quick brown foxes")
      expect(isUnit(vector!)).toBe(true)
      expect(likeness(vector!, short!)).toBeGreaterThan(0.3)
    })
  )

  const pairs: ReadonlyArray<readonly [right: string, misspelt: string]> = [
    ["retry", "rertry"],
    ["conversation", "converstaion"],
    ["dependency", "dependancy"],
    ["summaries of a conversation", "sumaries of a conversaton"],
    ["PostgreSQL connection", "postgres conection"],
    ["Eingabefehler", "Eingabefeler"]
  ]
  it.effect("sets what is misspelt closer than strangers", () =>
    Effect.gen(function* () {
      const right = yield* embed(...pairs.map(([right]) => right))
      const misspelt = yield* embed(...pairs.map(([, misspelt]) => misspelt))
      for (const [i, vector] of misspelt.entries()) {
        const own = likeness(vector, right[i]!)
        for (const [j, other] of right.entries()) {
          // The fourth has the word of the second in it.
          if (i !== j && i + j !== 4)
            expect(own, `${pairs[i]} beside ${pairs[j]}`).toBeGreaterThan(likeness(vector, other))
        }
      }
    })
  )

  it.effect("sets other forms of a word close, and takes no notice of case and order", () =>
    Effect.gen(function* () {
      const [one, other, shuffled] = yield* embed("wraps tool calls", "wrapToolCall", "CALLS of the TOOL, wrapped")
      expect(likeness(one!, other!)).toBeGreaterThan(0.99)
      expect(likeness(one!, shuffled!)).toBeGreaterThan(0.9)
    })
  )
})
