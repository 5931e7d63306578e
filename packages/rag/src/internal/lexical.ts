/**
 * The documents of one tenant, and where their words are.
 */
import { frozen } from "@heddle/core/store"
import { stems } from "@heddle/core/words"
import MiniSearch, { type SearchResult } from "minisearch"
import type { Chunk, DocumentInfo, IndexedDocument } from "../DocumentIndex.ts"
import type { Passage, Query } from "../Retriever.ts"
import * as bm25 from "./bm25.ts"
import { accepts } from "./filter.ts"

interface Entry {
  readonly key: number
  readonly collection: string
  readonly source: string
  readonly chunk: Chunk
}

interface Kept {
  readonly info: DocumentInfo
  readonly keys: ReadonlyArray<number>
}

/** What is searched of an entry, where what it is about counts like its own words. */
const searched = ({ chunk: { context, text } }: Entry): string => (context === "" ? text : `${context}\n${text}`)

/** The documents of one tenant. */
export class Lexical {
  readonly #collections = new Map<string, Map<string, Kept>>()
  readonly #entries = new Map<number, Entry>()
  readonly #words = new MiniSearch<Entry>({
    idField: "key",
    fields: ["searched"],
    extractField: (entry, field) => (field === "key" ? entry.key : searched(entry)) as string,
    tokenize: (text) => stems(text) as Array<string>,
    processTerm: (term) => term,
    searchOptions: { bm25: bm25.constants },
    // What is removed is removed at once.
    autoVacuum: false
  })
  #lastKey = 0

  documents(collection: string): ReadonlyArray<DocumentInfo> {
    const kept = Array.from(this.#collections.get(collection)?.values() ?? [], ({ info }) => info)
    return kept.toSorted((a, b) => (a.source < b.source ? -1 : 1))
  }

  put(collection: string, documents: ReadonlyArray<IndexedDocument>): void {
    const all = this.#collections.get(collection) ?? new Map<string, Kept>()
    this.#collections.set(collection, all)
    for (const { chunks, hash, source } of documents) {
      this.remove(collection, [source])
      const keys = chunks.map((chunk) => {
        const entry: Entry = { key: ++this.#lastKey, collection, source, chunk: frozen(chunk) }
        this.#entries.set(entry.key, entry)
        this.#words.add(entry)
        return entry.key
      })
      all.set(source, { info: frozen({ source, hash, chunks: chunks.length }), keys })
    }
  }

  remove(collection: string, sources: ReadonlyArray<string>): void {
    const all = this.#collections.get(collection)
    for (const source of sources) {
      for (const key of all?.get(source)?.keys ?? []) {
        this.#words.remove(this.#entries.get(key)!)
        this.#entries.delete(key)
      }
      all?.delete(source)
    }
  }

  clear(collection: string): void {
    this.remove(collection, Array.from(this.#collections.get(collection)?.keys() ?? []))
    this.#collections.delete(collection)
  }

  search({ filter, minScore, query, topK }: Query): ReadonlyArray<Passage> {
    const terms = Array.from(new Set(stems(query)))
    const results = this.#words.search(terms.join(" "), { tokenize: () => terms })
    const most = this.#mostOf(terms, results)
    const isAccepted = accepts(filter)
    const found: Array<Passage> = []
    for (const result of results) {
      const { chunk, collection, source } = this.#entries.get(result.id as number)!
      const { id, metadata, text } = chunk
      // The library counts a result as many times as it has words of the query.
      const score = Math.min(1, result.score / result.queryTerms.length / most)
      if (score >= minScore && isAccepted({ collection, source, metadata }))
        found.push({ id, text, source, score, metadata })
    }
    return found.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, topK)
  }

  /** What a passage would reach that says nothing but these words, again and again. */
  #mostOf(terms: ReadonlyArray<string>, results: ReadonlyArray<SearchResult>): number {
    const having = new Map<string, number>()
    for (const { terms } of results) for (const term of terms) having.set(term, (having.get(term) ?? 0) + 1)
    const all = this.#words.documentCount
    return terms.reduce((sum, term) => sum + bm25.rarity(all, having.get(term) ?? 0), 0) * bm25.most
  }
}
