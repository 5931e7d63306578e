/**
 * Rules of what is found.
 */
import type { Rule } from "@heddle/testing/Rules"
import { holds, hostile, numbers, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { collection, type DocumentIndex } from "../../DocumentIndex.ts"
import { RetrievalError } from "../../RagErrors.ts"
import type { Metadata, Passage, Retriever } from "../../Retriever.ts"
import { chunk, docs, document, put, search, sourcesWith, textsWith } from "../indexChecks.ts"

/** Twenty documents, the more about zebras the higher their number. */
const zebras = numbers(20).map((n) => document(`${n}.md`, `${"zebra ".repeat(n + 1)}${"grass ".repeat(20 - n)}`.trim()))

/** Checks that passages come in order, with scores in range, each once. */
const ordered = (what: string, passages: ReadonlyArray<Passage>) =>
  Effect.gen(function* () {
    const scores = passages.map(({ score }) => score)
    yield* holds(
      `${what}: a score is not from 0 to 1: ${shown(scores)}`,
      scores.every((score) => score >= 0 && score <= 1)
    )
    yield* same(
      `${what}: the scores`,
      scores,
      scores.toSorted((a, b) => b - a)
    )
    const places = passages.map(({ id, source }) => `${id} of ${source}`)
    yield* same(`${what}: how many passages are there once`, new Set(places).size, places.length)
  })

export const finding: ReadonlyArray<Rule<DocumentIndex | Retriever>> = [
  {
    rule: "passages come the best first, with scores from 0 to 1, and each time in the same order",
    check: Effect.gen(function* () {
      yield* put(docs, ...zebras, document("same.md", "a zebra", "a zebra", "a zebra"))
      for (const query of ["zebra", "grass", "zebra grass", "zebra unknown", "unknown"]) {
        const found = yield* search(query)
        yield* ordered(`For ${query}`, found)
        yield* same(`What is found again for ${query}`, yield* search(query), found)
      }
    })
  },
  {
    rule: "what says all that was asked comes before what says none of it",
    check: Effect.gen(function* () {
      yield* put(docs, document("a.md", "lions hunt at night", "zebra stripes confuse flies", "rivers run to the sea"))
      for (const [query, wanted] of [
        ["zebra stripes", "zebra stripes confuse flies"],
        ["lions hunt night", "lions hunt at night"],
        ["sea rivers", "rivers run to the sea"]
      ] as const) {
        yield* same(`The first for ${query}`, (yield* search(query))[0]?.text, wanted)
      }
    })
  },
  {
    rule: "the context of a chunk is searched, and is no part of its text",
    check: Effect.gen(function* () {
      const chunks = [
        { ...chunk("a.md", 0, "they eat grass"), context: "Animals > Zebra" },
        chunk("a.md", 1, "they eat meat")
      ]
      yield* put(docs, { source: "a.md", hash: "1", chunks })
      yield* same("The first text", (yield* search("zebra"))[0]?.text, "they eat grass")
    })
  },
  {
    rule: "no more passages are found than were asked for",
    check: Effect.gen(function* () {
      yield* put(docs, ...zebras)
      for (const topK of [0, 1, 2, 7, 20]) {
        yield* same(`How many are found of ${topK}`, (yield* search("zebra", { topK })).length, topK)
      }
      yield* same("How many are found of 21", (yield* search("zebra", { topK: 21 })).length, 20)
    })
  },
  {
    rule: "passages with less than the least score are left out, and a least score of 0 leaves out none",
    check: Effect.gen(function* () {
      yield* put(docs, ...zebras)
      const all = yield* search("zebra", { minScore: 0 })
      yield* same("How many are found", all.length, 20)
      for (const minScore of [...new Set(all.map(({ score }) => score)), 1]) {
        const wanted = all.filter(({ score }) => score >= minScore)
        yield* same(`What has ${minScore}`, yield* search("zebra", { minScore }), wanted)
      }
    })
  },
  {
    rule: "a collection is searched alone, or all together",
    check: Effect.gen(function* () {
      const names = ["docs", "Docs", "doc", "docs/a", "*"]
      for (const name of names) yield* put(collection(name), document("a.md", `zebra of ${name}`))
      for (const name of names) {
        const found = yield* textsWith("zebra", { filter: { collection: name } })
        yield* same(`What is found in ${name}`, found, [`zebra of ${name}`])
      }
      yield* same("What is found in all", (yield* textsWith("zebra")).length, names.length)
      yield* same("What is found in none", yield* search("zebra", { filter: { collection: "unknown" } }), [])
    })
  },
  {
    rule: "a source has to match one of the globs as a whole",
    check: Effect.gen(function* () {
      const sources = ["a.md", "a-md", "ab.md", "b/a.md", "b/c/a.txt", "b+(c)[d].md", "100%_a.md"].toSorted()
      yield* put(docs, ...sources.map((source) => document(source, "a zebra")))
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, ReadonlyArray<string>]> = [
        [["a.md"], ["a.md"]],
        [["a?md"], ["a-md", "a.md"]],
        [["*.md"], sources.filter((source) => source.endsWith(".md"))],
        [["b/*"], ["b/a.md", "b/c/a.txt"]],
        [["?.md"], ["a.md"]],
        [["*"], sources],
        [["*a*"], sources.filter((source) => source.includes("a"))],
        [["b+(c)[d].md"], ["b+(c)[d].md"]],
        [["100%_a.md"], ["100%_a.md"]],
        [["%"], []],
        [["_.md"], []],
        [["md"], []],
        [
          ["a.md", "b/a*"],
          ["a.md", "b/a.md"]
        ]
      ]
      for (const [globs, wanted] of cases) {
        yield* same(
          `What matches ${shown(globs)}`,
          yield* sourcesWith("zebra", { filter: { sources: globs } }),
          wanted.toSorted()
        )
      }
    })
  },
  {
    rule: "a glob of sources tells upper case from lower case",
    check: Effect.gen(function* () {
      yield* put(docs, document("hr/public.md", "a zebra"), document("HR/secret.md", "a zebra"))
      for (const [glob, wanted] of [
        ["hr/*", ["hr/public.md"]],
        ["HR/*", ["HR/secret.md"]],
        ["*.MD", []]
      ] as const) {
        yield* same(`What matches ${glob}`, yield* sourcesWith("zebra", { filter: { sources: [glob] } }), wanted)
      }
    })
  },
  {
    rule: "metadata has to have all values that were asked for, of their kind",
    check: Effect.gen(function* () {
      const marks: ReadonlyArray<Metadata> = [
        { page: 1, language: "en" },
        { page: "1", language: "en" },
        { page: 1, language: "de", draft: true },
        { draft: false, "a.b": "it's" },
        { draft: 0 },
        { language: "EN" },
        {},
        { n: NaN, "": Infinity }
      ]
      const chunks = marks.map((metadata, n) => chunk("a.md", n, `zebra ${n}`, metadata))
      yield* put(docs, { source: "a.md", hash: "1", chunks })
      const cases: ReadonlyArray<readonly [Metadata, ReadonlyArray<number>]> = [
        [{}, [0, 1, 2, 3, 4, 5, 6, 7]],
        [{ n: NaN }, [7]],
        [{ "": Infinity }, [7]],
        [{ page: 1 }, [0, 2]],
        [{ page: "1" }, [1]],
        [{ page: 1, language: "en" }, [0]],
        [{ language: "en" }, [0, 1]],
        [{ draft: true }, [2]],
        [{ draft: false }, [3]],
        [{ draft: 0 }, [4]],
        [{ "a.b": "it's" }, [3]],
        [{ a: "it's" }, []],
        [{ constructor: "x" }, []],
        [{ page: 2 }, []]
      ]
      for (const [metadata, wanted] of cases) {
        yield* same(
          `What has ${shown(metadata)}`,
          yield* textsWith("zebra", { filter: { metadata } }),
          wanted.map((n) => `zebra ${n}`)
        )
      }
    })
  },
  {
    rule: "all that a filter says must hold, and what it leaves out takes no places",
    check: Effect.gen(function* () {
      const text = "zebra grass grass grass grass"
      const marked = { source: "z.md", hash: "1", chunks: [chunk("z.md", 0, text, { kept: true })] }
      yield* put(docs, ...zebras, marked)
      yield* put(collection("other"), ...zebras, { ...marked, chunks: [chunk("z.md", 0, text)] })
      yield* put(collection("docs", "other"), ...zebras)
      for (const filter of [
        { metadata: { kept: true } },
        { metadata: { kept: true }, sources: ["z*"] },
        { metadata: { kept: true }, sources: ["*"], collection: "docs" },
        { sources: ["z.md"], collection: "docs" }
      ]) {
        const found = yield* search("zebra", { topK: 1, filter })
        yield* same(`What is found with ${shown(filter)}`, sourcesWithTexts(found), [`z.md: ${text}`])
      }
      const none = { metadata: { kept: true }, collection: "other" }
      yield* same("What is found of nothing", yield* search("zebra", { filter: none }), [])
    })
  },
  {
    rule: "any text can be asked",
    check: Effect.gen(function* () {
      yield* put(docs, ...zebras)
      const syntax = [
        "",
        '"',
        '"zebra',
        "zebra*",
        "zebra AND",
        "NOT zebra",
        "(",
        "NEAR(zebra",
        "text:zebra",
        "-zebra",
        "^"
      ]
      for (const query of [...syntax, "zebra ".repeat(10_000), ...hostile]) {
        yield* ordered(`For ${shown(query)}`, yield* search(query))
      }
    })
  },
  {
    rule: "a query that makes no sense is refused as one",
    check: Effect.gen(function* () {
      yield* put(docs, ...zebras)
      for (const asked of [
        { topK: -1 },
        { topK: 1.5 },
        { topK: NaN },
        { minScore: -0.1 },
        { minScore: 1.1 },
        { minScore: NaN }
      ]) {
        const result = yield* Effect.either(search("zebra", asked))
        yield* holds(
          `${Object.entries(asked).join()} was not refused with InvalidQuery`,
          Either.isLeft(result) && result.left instanceof RetrievalError && result.left.reason === "InvalidQuery"
        )
      }
    })
  }
]

const sourcesWithTexts = (passages: ReadonlyArray<Passage>): ReadonlyArray<string> =>
  passages.map(({ source, text }) => `${source}: ${text}`)
