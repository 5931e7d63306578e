/**
 * Rules of what happens at the same time.
 */
import type { Rule } from "@heddle/testing/Rules"
import { holds, numbers, same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import type { DocumentIndex } from "../../DocumentIndex.ts"
import type { Retriever } from "../../Retriever.ts"
import { ask, docs, document, finds, has, put, search } from "../indexChecks.ts"

const unbounded = { concurrency: "unbounded" } as const

/** A version of a document, whose chunks say which. */
const version = (source: string, n: number) =>
  document(source, ...numbers((n % 3) + 1).map((place) => `zebra ${place} of version ${n}`))

export const together: ReadonlyArray<Rule<DocumentIndex | Retriever>> = [
  {
    rule: "documents that are put at the same time are all kept, whole",
    check: Effect.gen(function* () {
      const all = numbers(40).map((n) => version(`${String(n).padStart(2, "0")}.md`, n))
      yield* Effect.forEach(all, (one) => put(docs, one), unbounded)
      yield* has(docs, all)
      yield* finds(
        docs,
        "zebra",
        all.flatMap(({ chunks }) => chunks.map(({ text }) => text))
      )
    })
  },
  {
    rule: "of documents with one source that are put at the same time, one stays, whole",
    check: Effect.gen(function* () {
      const all = numbers(20).map((n) => version("a.md", n))
      yield* Effect.forEach(all, (one) => put(docs, one), unbounded)
      const [info, ...more] = yield* ask((index) => index.documents(docs))
      yield* same("How many others are there", more.length, 0)
      const kept = all.find(({ hash }) => hash === info?.hash)
      yield* holds(`There is no document with the hash ${shown(info?.hash)}`, kept !== undefined)
      yield* has(docs, [kept!])
      yield* finds(
        docs,
        "zebra",
        kept!.chunks.map(({ text }) => text)
      )
    })
  },
  {
    rule: "who searches sees all of a put or nothing of it",
    check: Effect.gen(function* () {
      const sources = ["a.md", "b.md", "c.md"]
      const of = (n: number) => sources.map((source) => version(source, n))
      yield* put(docs, ...of(0))
      const write = Effect.forEach(numbers(20), (n) => Effect.zipRight(Effect.yieldNow(), put(docs, ...of(n))))
      const look = Effect.gen(function* () {
        const found = yield* search("zebra")
        const n = Number(found[0]?.text.split(" ").at(-1))
        yield* same(
          "What is found at a moment",
          found.map(({ source, text }) => `${source}: ${text}`).toSorted(),
          of(n)
            .flatMap(({ chunks, source }) => chunks.map(({ text }) => `${source}: ${text}`))
            .toSorted()
        )
        yield* Effect.yieldNow()
      })
      yield* Effect.all([write, Effect.repeatN(look, 30), Effect.repeatN(look, 30)], { ...unbounded, discard: true })
    })
  }
]
