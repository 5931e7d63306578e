/**
 * What the rules of indexes are checked with: documents, and what is asked of an
 * index.
 */
import { Tenant } from "@heddle/core"
import { same, shown } from "@heddle/testing/Rules"
import * as Effect from "effect/Effect"
import { type Chunk, type Collection, collection, DocumentIndex, type IndexedDocument } from "../DocumentIndex.ts"
import type * as Index from "../DocumentIndex.ts"
import { type Filter, type Metadata, type Passage, query, Retriever } from "../Retriever.ts"

/** The collection of most rules. */
export const docs: Collection = collection("docs")

/** A chunk that nothing else is known of. Its id says its source and its place. */
export const chunk = (source: string, place: number, text: string, metadata: Metadata = {}): Chunk => ({
  id: `${source}#${place}`,
  text,
  context: "",
  metadata
})

/** A document with a chunk for each text. */
export const document = (source: string, ...texts: ReadonlyArray<string>): IndexedDocument => ({
  source,
  hash: `hash of ${shown(texts)}`,
  chunks: texts.map((text, place) => chunk(source, place, text))
})

/** Asks the index that the rule is given. */
export const ask = <A, E>(f: (index: Index.Service) => Effect.Effect<A, E>): Effect.Effect<A, E, DocumentIndex> =>
  Effect.flatMap(DocumentIndex, f)

/** Puts documents at once. */
export const put = (of: Collection, ...documents: ReadonlyArray<IndexedDocument>) =>
  ask((index) => index.put(of, documents))

/** What the index is asked besides the query. */
interface Asked {
  readonly topK?: number
  readonly minScore?: number
  readonly tenant?: string
  readonly filter?: Filter
}

/** Searches, for a hundred passages unless said. */
export const search = (text: string, asked: Asked = {}) =>
  Effect.flatMap(Retriever, (retriever) => retriever.search(query(text, { topK: 100, ...asked })))

/** The sources of what is found, each once, sorted. */
const sourcesOf = (passages: ReadonlyArray<Passage>): ReadonlyArray<string> =>
  [...new Set(passages.map(({ source }) => source))].toSorted()

/** The texts of what is found that have a word, sorted: a retriever may find others, which mean the like. */
export const textsWith = (word: string, asked: Asked = {}) =>
  Effect.map(search(word, asked), (passages) =>
    passages
      .map(({ text }) => text)
      .filter((text) => text.split(" ").includes(word))
      .toSorted()
  )

/** The sources of what is found that have a word in their text, each once, sorted. */
export const sourcesWith = (word: string, asked: Asked = {}) =>
  Effect.map(search(word, asked), (passages) =>
    sourcesOf(passages.filter(({ text }) => text.split(" ").includes(word)))
  )

/** Checks what a collection has, and what its documents are said to be. */
export const has = (of: Collection, wanted: ReadonlyArray<IndexedDocument>) =>
  Effect.gen(function* () {
    const found = yield* ask((index) => index.documents(of))
    yield* same(
      `The documents of ${shown(of)}`,
      found.map(({ chunks, hash, source }) => ({ source, hash, chunks })),
      wanted.map(({ chunks, hash, source }) => ({ source, hash, chunks: chunks.length }))
    )
  })

/** Checks which texts with a word are found in a collection. */
export const finds = (of: Collection, word: string, wanted: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const asked = { tenant: of.tenant, filter: { collection: of.name } }
    yield* same(`What is found for ${word} in ${shown(of)}`, yield* textsWith(word, asked), wanted.toSorted())
  })

/** Collections that are told apart by one thing only. */
export const alike: ReadonlyArray<Collection> = [
  collection("a"),
  collection("A"),
  collection("a "),
  collection("ab"),
  collection("a", "a"),
  collection("b", "a"),
  collection("a", "A"),
  collection("b", "ab"),
  collection("default", "a"),
  collection("a", `${Tenant.defaultTenant} `),
  collection("a:b", "c"),
  collection("b:c", "a"),
  collection("c", "a:b"),
  collection("b/c", "a"),
  collection('a","b', "c"),
  collection('b","c', "a")
]
