import { expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { best, type Entry } from "../src/internal/retriever/ranking.ts"

const score = FastCheck.oneof(FastCheck.constantFrom(0, 0.5, 1), FastCheck.double({ min: 0, max: 1, noNaN: true }))

it.prop(
  "the best are those that are first when all are sorted",
  [FastCheck.array(score, { maxLength: 60 }), FastCheck.integer({ min: 0, max: 70 }), score],
  ([scores, count, least]) => {
    const collection = { name: "notes", model: null, size: null }
    const entries = scores.map((_, id): Entry => {
      return { id, chunk: `${id}`, source: "a", metadata: {}, collection, words: 1 }
    })
    const wanted = entries
      .map((entry) => ({ entry, score: scores[entry.id]! }))
      .filter(({ score }) => score > 0 && score >= least)
      .toSorted((a, b) => b.score - a.score || (a.entry.chunk < b.entry.chunk ? -1 : 1))
    expect(best(entries, Float64Array.from(scores), count, least)).toEqual(wanted.slice(0, count))
  },
  { fastCheck: { numRuns: 500 } }
)
