/**
 * For each rule of indexes an index that breaks it, in a way that indexes are broken
 * elsewhere. A rule that lets its twin pass says nothing.
 */
import { DocumentIndex, type Retriever } from "@heddle/rag"
import { IndexRules } from "@heddle/rag/rules"
import { documentIndex } from "@heddle/rag/testing"
import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { type Both, layer, make, matches } from "./referenceIndex.ts"

type Twin = (both: Both) => Both

/** Changes the index alone. */
const index =
  (change: (index: DocumentIndex.Service) => Partial<DocumentIndex.Service>): Twin =>
  ({ index, retriever }) => ({ index: { ...index, ...change(index) }, retriever })

/** Changes each document that is put. */
const puts = (
  change: (document: DocumentIndex.IndexedDocument) => ReadonlyArray<DocumentIndex.IndexedDocument>
): Twin => index(({ put }) => ({ put: (of, documents) => put(of, documents.flatMap(change)) }))

/** Takes each collection for another. */
const collections =
  (change: (of: DocumentIndex.Collection) => DocumentIndex.Collection): Twin =>
  (both) =>
    index(({ clear, documents, put, remove }) => ({
      documents: (of) => documents(change(of)),
      put: (of, all) => put(change(of), all),
      remove: (of, sources) => remove(change(of), sources),
      clear: (of) => clear(change(of))
    }))(
      asking((query) => {
        const { name, tenant } = change(DocumentIndex.collection(query.filter?.collection ?? "", query.tenant))
        const filter = query.filter?.collection === undefined ? query.filter : { ...query.filter, collection: name }
        return { ...query, tenant, ...(filter !== undefined && { filter }) }
      })(both)
    )

/** Changes what is asked. */
const asking =
  (change: (query: Retriever.Query) => Retriever.Query): Twin =>
  ({ index, retriever }) => ({ index, retriever: { search: (query) => retriever.search(change(query)) } })

/** Changes what is found. */
const found =
  (
    change: (passages: ReadonlyArray<Retriever.Passage>, query: Retriever.Query) => ReadonlyArray<Retriever.Passage>
  ): Twin =>
  ({ index, retriever }) => ({
    index,
    retriever: { search: (query) => Effect.map(retriever.search(query), (passages) => change(passages, query)) }
  })

const without = <K extends keyof Retriever.Filter>(filter: Retriever.Filter | undefined, key: K): Retriever.Filter => {
  const { [key]: _, ...rest } = filter ?? {}
  return rest
}

/** Finds all and leaves out afterwards what does not match. */
const loosely =
  (key: keyof Retriever.Filter, keeps: (passage: Retriever.Passage, filter: Retriever.Filter) => boolean): Twin =>
  (both) =>
    found((passages, { filter }) =>
      filter?.[key] === undefined ? passages : passages.filter((passage) => keeps(passage, filter))
    )({
      index: both.index,
      retriever: {
        search: (query) => both.retriever.search({ ...query, filter: without(query.filter, key) })
      }
    })

const twins: Record<string, readonly [what: string, twin: Twin]> = {
  "documents are listed in the order of their sources, with their hashes and how many chunks they have": [
    "lists them as they were put, the last change last",
    ({ index, retriever }) => {
      const order: Array<string> = []
      return {
        retriever,
        index: {
          ...index,
          put: (of, documents) =>
            Effect.zipRight(
              Effect.sync(() => order.push(...documents.map(({ source }) => source))),
              index.put(of, documents)
            ),
          documents: (of) =>
            Effect.map(index.documents(of), (all) =>
              all.toSorted((a, b) => order.indexOf(a.source) - order.indexOf(b.source))
            )
        }
      }
    }
  ],
  "a collection that is not known is empty, and nothing of it can be missed": [
    "fails where there is nothing to remove",
    index(({ documents, remove }) => ({
      remove: (of, sources) =>
        Effect.flatMap(documents(of), (all) =>
          sources.every((source) => all.some((one) => one.source === source))
            ? remove(of, sources)
            : Effect.die("There is no such document.")
        )
    }))
  ],
  "a chunk is found as it was put": [
    "trims texts",
    puts((one) => [{ ...one, chunks: one.chunks.map((chunk) => ({ ...chunk, text: chunk.text.trim() })) }])
  ],
  "a document stands in the place of the one that had its source": [
    "replaces chunk by chunk, and leaves those that the new one does not have",
    (both) => {
      const before = new Map<string, DocumentIndex.IndexedDocument>()
      return puts((one) => {
        const chunks = [...one.chunks, ...(before.get(one.source)?.chunks.slice(one.chunks.length) ?? [])]
        before.set(one.source, { ...one, chunks })
        return [{ ...one, chunks }]
      })(both)
    }
  ],
  "of documents with one source that are put at once, the last stays": [
    "keeps the first",
    index(({ put }) => ({ put: (of, documents) => put(of, documents.toReversed()) }))
  ],
  "a document that is removed is neither listed nor found, and can come back": [
    "removes the first only",
    index(({ remove }) => ({ remove: (of, sources) => remove(of, sources.slice(0, 1)) }))
  ],
  "a collection that is cleared is empty, and can be filled again": [
    "clears the tenant",
    ({ index, retriever }) => {
      const other = DocumentIndex.collection("other")
      return {
        retriever,
        index: { ...index, clear: (of) => Effect.zipRight(index.clear(of), index.clear(other)) }
      }
    }
  ],
  "a collection has its own documents and no others": [
    "compares names without the spaces at their ends, as some databases do",
    collections((of) => ({ ...of, name: of.name.trimEnd() || of.name }))
  ],
  "nothing of another tenant is found": [
    "does not tell capitals from other letters",
    collections((of) => ({ ...of, tenant: of.tenant.toLowerCase() }))
  ],
  "tenants, collections and sources have any names": [
    "normalizes sources",
    puts((one) => [{ ...one, source: one.source.normalize() }])
  ],
  "what a writer does to what it gave does not reach the index, nor what a reader does to what it found": [
    "gives every reader the same passages",
    (both) => {
      const given = new Map<string, Retriever.Passage>()
      return found((passages) =>
        passages.map((passage) => {
          if (!given.has(passage.id)) given.set(passage.id, passage)
          return given.get(passage.id)!
        })
      )(both)
    }
  ],
  "passages come the best first, with scores from 0 to 1, and each time in the same order": [
    "gives scores that have no end",
    found((passages) => passages.map((passage) => ({ ...passage, score: passage.score * 10 })))
  ],
  "what says all that was asked comes before what says none of it": [
    "has them in the order of their texts",
    ({ index, retriever }) => ({
      index,
      retriever: {
        search: (query) =>
          Effect.map(retriever.search({ ...query, query: "a lions zebra rivers" }), (passages) =>
            passages.toSorted((a, b) => (a.text < b.text ? -1 : 1))
          )
      }
    })
  ],
  "the context of a chunk is searched, and is no part of its text": [
    "searches the text alone",
    puts((one) => [{ ...one, chunks: one.chunks.map((chunk) => ({ ...chunk, context: "" })) }])
  ],
  "no more passages are found than were asked for": [
    "takes 0 for what was not said",
    asking((query) => ({ ...query, topK: query.topK || 5 }))
  ],
  "passages with less than the least score are left out, and a least score of 0 leaves out none": [
    "takes 0 for what was not said",
    asking((query) => ({ ...query, minScore: query.minScore || 0.2 }))
  ],
  "a collection is searched alone, or all together": [
    "takes a name for a glob",
    (both) => asking((query) => (query.filter?.collection === "*" ? { ...query, filter: {} } : query))(both)
  ],
  "a source has to match one of the globs as a whole": [
    "looks for them anywhere",
    loosely("sources", ({ source }, { sources }) => sources!.some((glob) => matches(`*${glob}*`, source)))
  ],
  "a glob of sources tells upper case from lower case": [
    "takes one for the other",
    loosely("sources", ({ source }, { sources }) =>
      sources!.some((glob) => matches(glob.toLowerCase(), source.toLowerCase()))
    )
  ],
  "metadata has to have all values that were asked for, of their kind": [
    "compares them as texts",
    loosely("metadata", (passage, { metadata }) =>
      Object.entries(metadata!).every(([key, value]) => String(passage.metadata[key]) === String(value))
    )
  ],
  "all that a filter says must hold, and what it leaves out takes no places": [
    "leaves out of the best what does not match",
    loosely("metadata", (passage, { metadata }) =>
      Object.entries(metadata!).every(([key, value]) => passage.metadata[key] === value)
    )
  ],
  "any text can be asked": [
    "takes it for a query in a language of its own",
    ({ index, retriever }) => ({
      index,
      retriever: {
        search: (query) =>
          (query.query.match(/"/g) ?? []).length % 2 === 1 ? Effect.die("unterminated string") : retriever.search(query)
      }
    })
  ],
  "a query that makes no sense is refused as one": [
    "makes the best of it",
    asking((query) => ({
      ...query,
      topK: Math.max(0, Math.floor(query.topK || 0)),
      minScore: Math.min(1, Math.max(0, query.minScore || 0))
    }))
  ],
  "documents that are put at the same time are all kept, whole": [
    "reads what there is, and writes it back with what is new",
    (both) => {
      const all: Array<DocumentIndex.IndexedDocument> = []
      return index(({ clear, put }) => ({
        put: (of, documents) =>
          Effect.gen(function* () {
            const before = [...all]
            yield* Effect.yieldNow()
            yield* clear(of)
            yield* put(of, [...before, ...documents])
            all.splice(0, all.length, ...before, ...documents)
          })
      }))(both)
    }
  ],
  "of documents with one source that are put at the same time, one stays, whole": [
    "writes a document before its chunks",
    (both) => {
      const chunks = make()
      return {
        retriever: chunks.retriever,
        index: {
          ...both.index,
          put: (of, documents) =>
            Effect.gen(function* () {
              yield* both.index.put(of, documents)
              // Longer documents take longer.
              yield* Effect.repeatN(Effect.yieldNow(), (documents[0]?.chunks.length ?? 0) * 20)
              yield* chunks.index.put(of, documents)
            })
        }
      }
    }
  ],
  "who searches sees all of a put or nothing of it": [
    "puts one document after the other",
    index(({ put }) => ({
      put: (of, documents) =>
        Effect.forEach(documents, (one) => Effect.zipRight(put(of, [one]), Effect.yieldNow()), { discard: true })
    }))
  ]
}

documentIndex("the plainest index", layer())

describe("an index is caught by the rule that it breaks, if it", () => {
  it.each(Object.entries(twins).map(([rule, [what, twin]]) => [what, rule, twin] as const))(
    "%s: %s",
    async (_, rule, twin) => {
      const { check } = IndexRules.rules.find((known) => known.rule === rule)!
      const exit = await Effect.runPromiseExit(Effect.provide(check, layer(twin)))
      expect(Exit.isFailure(exit)).toBe(true)
    }
  )
})

it("rules have names of their own, and each has a twin", () => {
  expect(IndexRules.rules.map(({ rule }) => rule)).toEqual(Object.keys(twins))
})
