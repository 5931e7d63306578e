/**
 * Rules of what is put into an index, and removed.
 */
import type { Rule } from "@heddle/testing/Rules"
import { hostile, same, shown, spoil } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { collection, type DocumentIndex, type IndexedDocument } from "../../DocumentIndex.ts"
import type { Retriever } from "../../Retriever.ts"
import { alike, ask, chunk, docs, document, finds, has, put, search, textsWith } from "../indexChecks.ts"

const other = collection("other")

/** A document that can be changed, as one of JSON can. */
const loose = (): IndexedDocument =>
  structuredClone({ source: "a.md", hash: "1", chunks: [chunk("a.md", 0, "a zebra", { page: 1 })] })

export const keeping: ReadonlyArray<Rule<DocumentIndex | Retriever>> = [
  {
    rule: "documents are listed in the order of their sources, with their hashes and how many chunks they have",
    check: Effect.gen(function* () {
      const sources = ["b.md", "B.md", "a/z.md", "a.md", "a-b.md", "10.md", "9.md"]
      const documents = sources.map((source, n) =>
        document(source, ...Array.from({ length: n }, (_, i) => `text ${i}`))
      )
      yield* put(docs, ...documents.slice(0, 4))
      for (const one of documents.slice(4)) yield* put(docs, one)
      yield* has(
        docs,
        documents.toSorted((a, b) => (a.source < b.source ? -1 : 1))
      )
    })
  },
  {
    rule: "a collection that is not known is empty, and nothing of it can be missed",
    check: Effect.gen(function* () {
      yield* same("What is found in an empty index", yield* search("zebra"), [])
      yield* has(docs, [])
      yield* put(docs)
      yield* ask((index) => index.remove(docs, ["a.md"]))
      yield* ask((index) => index.clear(docs))
      yield* has(docs, [])
      yield* put(docs, document("a.md", "a zebra"))
      yield* ask((index) => index.remove(docs, ["b.md", "A.md", ""]))
      yield* ask((index) => index.remove(docs, []))
      yield* has(docs, [document("a.md", "a zebra")])
      yield* finds(docs, "zebra", ["a zebra"])
    })
  },
  {
    rule: "a chunk is found as it was put",
    check: Effect.gen(function* () {
      const texts = [
        "a zebra",
        " zebra \n\n\tindented\r\nlines  ",
        `zebra ${"long ".repeat(20_000)}`,
        'a zebra "quoted" <b>twice</b> \\ % _ * 历史 مرحبا e\u0301 \u00e9 👩‍👩‍👧'
      ]
      const metadata = { heading: "On animals", page: 3.5, draft: false, "a.b": "", constructor: "x" }
      const chunks = texts.map((text, place) => chunk("a b/ü.md", place, text, place === 0 ? metadata : {}))
      yield* put(docs, { source: "a b/ü.md", hash: "1", chunks })
      const found = yield* search("zebra")
      yield* same(
        "What is found",
        found
          .map(({ id, metadata, source, text }) => ({ id, metadata, source, text }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        chunks.map(({ id, metadata, text }) => ({ id, metadata, source: "a b/ü.md", text }))
      )
    })
  },
  {
    rule: "a document stands in the place of the one that had its source",
    check: Effect.gen(function* () {
      const kept = document("kept.md", "a zebra that stays")
      yield* put(docs, document("a.md", "old zebra", "older zebra", "oldest zebra"), kept)
      const next = document("a.md", "new zebra", "older zebra")
      yield* put(docs, next)
      yield* has(docs, [next, kept])
      yield* finds(docs, "zebra", ["new zebra", "older zebra", "a zebra that stays"])
      yield* finds(docs, "oldest", [])
      yield* put(docs, document("a.md"))
      yield* has(docs, [document("a.md"), kept])
      yield* finds(docs, "zebra", ["a zebra that stays"])
    })
  },
  {
    rule: "of documents with one source that are put at once, the last stays",
    check: Effect.gen(function* () {
      const last = document("a.md", "third zebra")
      yield* put(docs, document("a.md", "first zebra", "more zebra"), document("b.md", "a zebra"), last)
      yield* has(docs, [last, document("b.md", "a zebra")])
      yield* finds(docs, "zebra", ["third zebra", "a zebra"])
    })
  },
  {
    rule: "a document that is removed is neither listed nor found, and can come back",
    check: Effect.gen(function* () {
      const all = ["a.md", "b.md", "c.md"].map((source) => document(source, `zebra of ${source}`))
      yield* put(docs, ...all)
      yield* ask((index) => index.remove(docs, ["a.md", "c.md", "unknown.md"]))
      yield* has(docs, [all[1]!])
      yield* finds(docs, "zebra", ["zebra of b.md"])
      yield* put(docs, all[0]!)
      yield* has(docs, all.slice(0, 2))
      yield* finds(docs, "zebra", ["zebra of a.md", "zebra of b.md"])
    })
  },
  {
    rule: "a collection that is cleared is empty, and can be filled again",
    check: Effect.gen(function* () {
      const all = [document("a.md", "a zebra"), document("b.md", "two zebra")]
      yield* put(docs, ...all)
      yield* put(other, ...all)
      yield* ask((index) => index.clear(docs))
      yield* has(docs, [])
      yield* finds(docs, "zebra", [])
      yield* has(other, all)
      yield* finds(other, "zebra", ["a zebra", "two zebra"])
      yield* put(docs, all[1]!)
      yield* finds(docs, "zebra", ["two zebra"])
    })
  },
  {
    rule: "a collection has its own documents and no others",
    check: Effect.gen(function* () {
      // The same sources and the same ids in all of them.
      const of = (n: number) => document("a.md", `zebra ${n}`, `another zebra ${n}`)
      for (const [n, one] of alike.entries()) yield* put(one, of(n))
      for (const [n, one] of alike.entries()) {
        yield* has(one, [of(n)])
        yield* finds(one, "zebra", [`zebra ${n}`, `another zebra ${n}`])
      }
      yield* ask((index) => index.clear(alike[0]!))
      yield* ask((index) => index.remove(alike[4]!, ["a.md"]))
      yield* put(alike[5]!, document("a.md", "changed"))
      for (const [n, one] of alike.entries()) {
        if (n !== 0 && n !== 4 && n !== 5) yield* finds(one, "zebra", [`zebra ${n}`, `another zebra ${n}`])
      }
    })
  },
  {
    rule: "nothing of another tenant is found",
    check: Effect.gen(function* () {
      const tenants = ["default", "acme", "Acme", "acme ", "%", "*"]
      for (const tenant of tenants) {
        yield* put(collection("docs", tenant), document("a.md", `zebra of ${shown(tenant)}`))
        yield* put(collection("more", tenant), document("a.md", `more zebra of ${shown(tenant)}`))
      }
      for (const tenant of tenants) {
        const wanted = [`more zebra of ${shown(tenant)}`, `zebra of ${shown(tenant)}`]
        yield* same(`What ${shown(tenant)} finds`, yield* textsWith("zebra", { tenant }), wanted)
      }
      yield* same("What an unknown tenant finds", yield* search("zebra", { tenant: "unknown" }), [])
    })
  },
  {
    rule: "tenants, collections and sources have any names",
    check: Effect.gen(function* () {
      const sources = hostile.toSorted()
      for (const [n, name] of hostile.entries()) {
        yield* put(collection(name, "names"), document("a.md", `zebra ${n}`))
        yield* put(collection("docs", name), document("a.md", `zebra ${n}`))
        yield* put(collection("all", "sources"), document(name, `zebra ${n}`))
      }
      for (const [n, name] of hostile.entries()) {
        yield* finds(collection(name, "names"), "zebra", [`zebra ${n}`])
        yield* finds(collection("docs", name), "zebra", [`zebra ${n}`])
      }
      const all = collection("all", "sources")
      const of = (source: string) => document(source, `zebra ${hostile.indexOf(source)}`)
      yield* has(all, sources.map(of))
      const found = yield* search("zebra", { tenant: "sources" })
      yield* same("The sources that are found", found.map(({ source }) => source).toSorted(), sources)
      yield* ask((index) => index.remove(all, sources.slice(5)))
      yield* has(all, sources.slice(0, 5).map(of))
    })
  },
  {
    rule: "what a writer does to what it gave does not reach the index, nor what a reader does to what it found",
    check: Effect.gen(function* () {
      const given = loose()
      yield* put(docs, given)
      spoil(given)
      const first = yield* search("zebra")
      yield* same(
        "What is found",
        first.map(({ metadata, text }) => ({ metadata, text })),
        [{ metadata: { page: 1 }, text: "a zebra" }]
      )
      const before = structuredClone(first)
      spoil(first)
      spoil(yield* ask((index) => index.documents(docs)))
      yield* same("What is found again", yield* search("zebra"), before)
      yield* has(docs, [loose()])
    })
  }
]
