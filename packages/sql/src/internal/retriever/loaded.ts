/**
 * The chunks of a tenant, made of what was known of them before and the rows that are new.
 */
import { storedText } from "@heddle/memory/store"
import * as Schema from "effect/Schema"
import { decoded } from "../rows.ts"
import { KnownWords } from "./knownWords.ts"
import { type Chunks, type Entry, hasDirection, type Held } from "./ranking.ts"
import { metadataOf } from "./written.ts"

/** The chunks of a tenant as they were at a revision. */
export interface Loaded extends Chunks {
  readonly tenant: number
  readonly revision: number
  /** Those that have chunks. */
  readonly collections: ReadonlyArray<Held>
  readonly words: KnownWords
}

interface Read {
  readonly first: ReadonlyArray<unknown>
  /** The chunks that have come since. */
  readonly fresh: ReadonlyArray<ReadonlyArray<unknown>>
  readonly before: Loaded | undefined
}

/** The revision, the ids of all chunks, and the tenant. */
const First = Schema.Tuple([Schema.Number, Schema.String, Schema.Null, Schema.Number], Schema.Unknown)

/** Of a chunk that is new. Vectors are looked at by themselves. */
const Fresh = Schema.Tuple(
  Schema.Number,
  Schema.String,
  Schema.String,
  Schema.Number,
  Schema.NullOr(Schema.Uint8ArrayFromSelf),
  Schema.String,
  Schema.Number,
  Schema.String,
  Schema.NullOr(Schema.String),
  Schema.NullOr(Schema.Number)
)

const decodeFirst = Schema.decodeUnknownSync(First)
const decodeFresh = Schema.decodeUnknownSync(Fresh)

export const decodeLoaded = decoded("The rows of chunks", (read): Loaded => {
  // It is given what `load` has read.
  const { before, first, fresh: rows } = read as Read
  const [revision, ids, , tenant] = decodeFirst(first)
  const fresh = rows.map((row) => decodeFresh(row)).toSorted(([a], [b]) => a - b)
  // The database itself has made this text.
  const there = new Set(JSON.parse(ids) as ReadonlyArray<number>)

  const entries: Array<Entry> = []
  const positions = new Int32Array(there.size).fill(-1)
  const vectors = new Float32Array(
    (before?.vectors.length ?? 0) + fresh.reduce((sum, row) => sum + lengthOf(row[4]), 0)
  )
  let end = before === undefined ? 0 : carry(before, there, { entries, positions, vectors })

  // Texts that many chunks have are there once.
  const collections = new Map<number, Held>()
  const sources = new Map<string, string>()
  for (const [id, chunk, metadata, words, vector, source, collection, name, model, size] of fresh) {
    const held = collections.get(collection) ?? {
      name: storedText(name),
      model: model === null ? null : storedText(model),
      size
    }
    collections.set(collection, held)
    const known = sources.get(source) ?? storedText(source)
    sources.set(source, known)
    if (vector !== null) {
      if (lengthOf(vector) !== size) throw new Error(`a vector of chunk ${id} has ${vector.byteLength} bytes`)
      new Uint8Array(vectors.buffer, end * Float32Array.BYTES_PER_ELEMENT, vector.byteLength).set(vector)
    }
    // The next one is written over a vector that is no use.
    const isUsed = vector !== null && hasDirection(vectors.subarray(end, end + lengthOf(vector)))
    if (isUsed) {
      positions[entries.length] = end
      end += lengthOf(vector)
    }
    entries.push({
      id,
      chunk: storedText(chunk),
      source: known,
      metadata: metadataOf(metadata),
      collection: held,
      words
    })
  }
  return {
    tenant,
    revision,
    entries,
    collections: Array.from(new Set(entries.map(({ collection }) => collection))),
    words: new KnownWords(entries.length),
    places: new Map(entries.map(({ id }, place) => [id, place])),
    vectors: vectors.subarray(0, end),
    positions,
    averageWords: entries.reduce((sum, { words }) => sum + words, 0) / entries.length
  }
})

const lengthOf = (vector: Uint8Array | null): number => (vector?.byteLength ?? 0) / Float32Array.BYTES_PER_ELEMENT

/** Takes over what of the chunks is still there, and gives where their vectors end. */
const carry = (
  before: Loaded,
  there: ReadonlySet<number>,
  into: { readonly entries: Array<Entry>; readonly positions: Int32Array; readonly vectors: Float32Array }
): number => {
  let end = 0
  // Vectors that stand one behind the other are copied at once.
  let [from, to] = [0, 0]
  const copy = () => into.vectors.set(before.vectors.subarray(from, to), end - (to - from))
  for (const [place, entry] of before.entries.entries()) {
    if (!there.has(entry.id)) continue
    const at = before.positions[place]!
    if (at >= 0) {
      if (at !== to) {
        copy()
        from = to = at
      }
      into.positions[into.entries.length] = end
      const size = entry.collection.size!
      to += size
      end += size
    }
    into.entries.push(entry)
  }
  copy()
  return end
}
