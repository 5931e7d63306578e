/**
 * Where the words are that were looked for last. A common one is in most queries, and to
 * read where it is takes longer than all else of a search.
 */
import { RecencyMap } from "@heddle/core/store"
import type { Postings } from "./ranking.ts"

/** Places that are kept, for each chunk that there is: some 200 bytes. */
const keptOfChunk = 16

/** What a word takes besides its places, in places. */
const ofWord = 16

/** Words of the chunks of a tenant, as they were at a revision. */
export class KnownWords {
  readonly #words = new RecencyMap<Postings>()
  readonly #most: number
  #size = 0

  constructor(chunks: number) {
    this.#most = keptOfChunk * chunks
  }

  get(word: string): Postings | undefined {
    return this.#words.use(word)
  }

  set(word: string, postings: Postings): void {
    this.#delete(word)
    this.#words.set(word, postings)
    this.#size += sizeOf(postings)
    while (this.#size > this.#most) this.#delete(this.#words.oldest!)
  }

  #delete(word: string): void {
    const known = this.#words.get(word)
    if (known === undefined) return
    this.#words.delete(word)
    this.#size -= sizeOf(known)
  }
}

const sizeOf = ({ places }: Postings): number => places.length + ofWord
