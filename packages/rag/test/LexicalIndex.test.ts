import { describe, expect, it } from "@effect/vitest"
import { Errors } from "@heddle/core"
import { DocumentIndex, LexicalIndex, Retriever } from "@heddle/rag"
import { Effect, FastCheck } from "effect"
import { document, word } from "./support.ts"

const notes = DocumentIndex.collection("notes")

const found = (passages: ReadonlyArray<Retriever.Passage>) => passages.map(({ id }) => id)

it("a collection has a name, and its tenant, too", () => {
  expect(() => DocumentIndex.collection("")).toThrow(Errors.DefinitionError)
  expect(() => DocumentIndex.collection("notes", "")).toThrow(Errors.DefinitionError)
})

describe("the index by words", () => {
  it.effect("finds a text by its words in other forms, the better the more of them it has", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      yield* index.put(notes, [
        document("a", ["Handlers run in the order of the pipeline.", "A pipeline is a value."]),
        document("b", ["Nothing of the kind."])
      ])
      const passages = yield* retriever.search(Retriever.query("In which order does a handler run?"))
      expect(found(passages)).toEqual(["a#0"])
      expect(passages[0]!.score).toBeGreaterThan(0.3)
      expect(passages[0]!.score).toBeLessThanOrEqual(1)
      expect(found(yield* retriever.search(Retriever.query("pipeline order")))).toEqual(["a#0", "a#1"])
    })
  )

  it.effect("finds a text by what stands above it", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      const [chunk] = document("a", ["We are there at nine."]).chunks
      yield* index.put(notes, [{ source: "a", hash: "1", chunks: [{ ...chunk!, context: "Opening hours" }] }])
      const [passage] = yield* retriever.search(Retriever.query("When do you open?"))
      expect(passage?.text).toBe("We are there at nine.")
    })
  )

  it.effect("holds words that no document has against all of them", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      yield* index.put(notes, [document("a", ["the memory of an agent", "the tools of an agent"])])
      const [known] = yield* retriever.search(Retriever.query("memory"))
      const [partly] = yield* retriever.search(Retriever.query("memory of zebras"))
      expect(partly!.score).toBeLessThan(known!.score / 2)
    })
  )

  it.effect("looks for the 64 rarest words of a long query that there are, and for the others if fewer are there", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      const own = Array.from({ length: 70 }, (_, n) => word(n))
      yield* index.put(notes, [
        ...own.map((word) => document(word, [`everywhere ${word}`])),
        document("common", ["everywhere everywhere"]),
        document("gone", [`${own.join(" ")} ${own.join(" ")}`])
      ])
      yield* index.remove(notes, ["gone"])
      const asked = (...words: ReadonlyArray<string>) =>
        Effect.map(retriever.search(Retriever.query(words.join(" "), { topK: 100 })), (passages) =>
          passages.map(({ source }) => source).toSorted()
        )
      expect(yield* asked("everywhere", ...own.slice(0, 63))).toContain("common")
      expect(yield* asked("everywhere", ...own)).toEqual(own.slice(0, 64).toSorted())
      const unknown = Array.from({ length: 100 }, (_, n) => word(1000 + n))
      expect(yield* asked(...unknown, own[0]!, own[69]!)).toEqual([own[0], own[69]].toSorted())
      expect(yield* asked(...unknown, ...unknown.map((_, n) => word(2000 + n)))).toEqual([])
      const pasted = Array.from({ length: 5_000 }, (_, n) => word(10_000 + n))
      expect(yield* asked(own[3]!, ...pasted, own[4]!)).toEqual([own[3], own[4]].toSorted())
    })
  )

  it.effect("finds Chinese", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      yield* index.put(notes, [document("a", ["短期记忆保存最近的对话。"]), document("b", ["工具的并发执行。"])])
      expect(found(yield* retriever.search(Retriever.query("什么是短期记忆?")))).toEqual(["a#0"])
    })
  )

  const words = FastCheck.constantFrom("one", "two", "three", "four", "five", "")
  const texts = FastCheck.array(
    FastCheck.array(words, { maxLength: 6 }).map((all) => all.join(" ")),
    { maxLength: 4 }
  )
  const steps = FastCheck.array(
    FastCheck.tuple(FastCheck.constantFrom("put", "remove"), FastCheck.constantFrom("a", "b", "c"), texts),
    { maxLength: 12 }
  )
  it.effect.prop("finds what an index would that had been made of what is left", [steps, words], ([steps, word]) =>
    Effect.gen(function* () {
      const used = LexicalIndex.make()
      const left = new Map<string, ReadonlyArray<string>>()
      for (const [what, source, texts] of steps) {
        if (what === "put") {
          yield* used.index.put(notes, [document(source, texts)])
          left.set(source, texts)
        } else {
          yield* used.index.remove(notes, [source, "unknown"])
          left.delete(source)
        }
      }
      const fresh = LexicalIndex.make()
      yield* fresh.index.put(
        notes,
        Array.from(left, ([source, texts]) => document(source, texts))
      )
      for (const query of [word, `${word} two`, "one three five"]) {
        const all = Retriever.query(query, { topK: Infinity })
        const mine = yield* used.retriever.search(all)
        const expected = yield* fresh.retriever.search(all)
        expect(found(mine)).toEqual(found(expected))
        for (const [i, { score }] of mine.entries()) {
          expect(score).toBeCloseTo(expected[i]!.score, 10)
          expect(score >= 0 && score <= 1).toBe(true)
        }
      }
      expect(yield* used.index.documents(notes)).toEqual(yield* fresh.index.documents(notes))
    })
  )
})
