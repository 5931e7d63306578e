/**
 * The documents of one tenant, and where their words are.
 */
import { frozen } from "@heddle/core/store"
import { stems, terms } from "@heddle/core/words"
import MiniSearch, { type SearchResult } from "minisearch"
import type { Chunk, DocumentInfo, IndexedDocument } from "../DocumentIndex.ts"
import type { Passage, Query } from "../Retriever.ts"
import * as bm25 from "./bm25.ts"
import { accepts } from "./filter.ts"
import * as queryTerms from "./queryTerms.ts"

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

/** What is searched of an entry. */
interface Searched {
  readonly key: number
  readonly words: ReadonlyArray<string>
}

/** The words of an entry, where what it is about counts like its own. */
const searched = ({ chunk: { context, text }, key }: Entry): Searched => ({
  key,
  words: stems(context === "" ? text : `${context}\n${text}`)
})

/** The documents of one tenant. */
export class Lexical {
  readonly #collections = new Map<string, Map<string, Kept>>()
  readonly #entries = new Map<number, Entry>()
  /** How often each word is there. */
  readonly #counts = new Map<string, number>()
  readonly #words = new MiniSearch<Searched>({
    idField: "key",
    fields: ["words"],
    extractField: ({ key, words }, field) => (field === "key" ? key : words.join(" ")) as string,
    tokenize: (text) => (text === "" ? [] : text.split(" ")),
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
        const found = searched(entry)
        this.#words.add(found)
        this.#count(found, 1)
        return entry.key
      })
      all.set(source, { info: frozen({ source, hash, chunks: chunks.length }), keys })
    }
  }

  remove(collection: string, sources: ReadonlyArray<string>): void {
    const all = this.#collections.get(collection)
    for (const source of sources) {
      for (const key of all?.get(source)?.keys ?? []) {
        const found = searched(this.#entries.get(key)!)
        this.#words.remove(found)
        this.#count(found, -1)
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
    const wanted = this.#wanted(query)
    const results = this.#words.search(wanted.join(" "), { tokenize: () => Array.from(wanted) })
    const most = this.#mostOf(wanted, results)
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

  #count({ words }: Searched, by: 1 | -1): void {
    for (const word of words) {
      const count = (this.#counts.get(word) ?? 0) + by
      if (count === 0) this.#counts.delete(word)
      else this.#counts.set(word, count)
    }
  }

  #wanted(query: string): ReadonlyArray<string> {
    const all = terms(query)
    if (all.length <= queryTerms.most) return all
    const counted = queryTerms.counted(all)
    return queryTerms.rarest(
      counted,
      counted.map((word) => this.#counts.get(word) ?? 0)
    )
  }

  /** What a passage would reach that says nothing but these words, again and again. */
  #mostOf(wanted: ReadonlyArray<string>, results: ReadonlyArray<SearchResult>): number {
    const having = new Map<string, number>()
    for (const { terms } of results) for (const term of terms) having.set(term, (having.get(term) ?? 0) + 1)
    const all = this.#words.documentCount
    return wanted.reduce((sum, term) => sum + bm25.rarity(all, having.get(term) ?? 0), 0) * bm25.most
  }
}
