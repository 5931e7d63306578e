/**
 * The chunks of a tenant, made of what was known of them before and the rows that are new.
 */
import { storedText } from "@heddle/memory/store"
import * as Schema from "effect/Schema"
import { decoded } from "../rows.ts"
import { KnownWords } from "./knownWords.ts"
import { type Chunks, hasDirection, type Held } from "./ranking.ts"
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
  readonly others: ReadonlyArray<ReadonlyArray<unknown>>
  readonly before: Loaded | undefined
}

const First = Schema.Tuple([Schema.Number, Schema.Number], Schema.Unknown)

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
  const { before, first, others } = read as Read
  const [revision, tenant] = decodeFirst(first)
  const there = new Set(others.map(([id]) => id))
  const kept = (before?.entries ?? []).flatMap((entry, place) =>
    there.has(entry.id) ? [{ entry, at: before!.positions[place]! }] : []
  )
  const last = before?.entries.at(-1)?.id ?? 0
  const fresh = others
    .filter(([id]) => Number(id) > last)
    .map((row) => decodeFresh(row))
    .toSorted(([a], [b]) => a - b)

  const sizeOf = ({ at, entry }: (typeof kept)[number]): number => (at < 0 ? 0 : entry.collection.size!)
  const vectors = new Float32Array(
    kept.reduce((sum, one) => sum + sizeOf(one), 0) + fresh.reduce((sum, row) => sum + lengthOf(row[4]), 0)
  )
  const positions = new Int32Array(kept.length + fresh.length).fill(-1)
  let end = 0
  for (const [place, one] of kept.entries()) {
    if (one.at < 0) continue
    positions[place] = end
    vectors.set(before!.vectors.subarray(one.at, one.at + sizeOf(one)), end)
    end += sizeOf(one)
  }

  // Texts that many chunks have are there once.
  const collections = new Map<number, Held>()
  const sources = new Map<string, string>()
  const entries = kept.map(({ entry }) => entry)
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
    vectors,
    positions,
    averageWords: entries.reduce((sum, { words }) => sum + words, 0) / entries.length
  }
})

const lengthOf = (vector: Uint8Array | null): number => (vector?.byteLength ?? 0) / Float32Array.BYTES_PER_ELEMENT
