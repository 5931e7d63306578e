/**
 * The chunks of a tenant, made of what was known of them before and the rows that are new.
 */
import { storedText } from "@heddle/memory/store"
import * as Schema from "effect/Schema"
import { decoded } from "../rows.ts"
import { type Chunks, type Entry, hasDirection, type Held } from "./ranking.ts"
import { metadataOf } from "./written.ts"

/** The chunks of a tenant as they were at a revision. */
export interface Loaded extends Chunks {
  readonly tenant: number
  readonly revision: number
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
  const kept = before?.entries.filter(({ id }) => there.has(id)) ?? []
  const last = before?.entries.at(-1)?.id ?? 0
  const fresh = others.filter(([id]) => Number(id) > last).map((row) => decodeFresh(row))

  const size =
    kept.reduce((sum, entry) => sum + sizeOf(entry), 0) + fresh.reduce((sum, row) => sum + lengthOf(row[4]), 0)
  const vectors = new Float32Array(size)
  let end = 0
  const entries = kept.map((entry): Entry => {
    if (entry.at < 0) return entry
    const at = end
    vectors.set(before!.vectors.subarray(entry.at, entry.at + sizeOf(entry)), at)
    end += sizeOf(entry)
    return at === entry.at ? entry : { ...entry, at }
  })

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
    const at = isUsed ? end : -1
    if (isUsed) end += lengthOf(vector)
    entries.push({
      id,
      chunk: storedText(chunk),
      source: known,
      metadata: metadataOf(metadata),
      collection: held,
      words,
      at
    })
  }
  entries.sort((a, b) => a.id - b.id)
  return {
    tenant,
    revision,
    entries,
    places: new Map(entries.map(({ id }, place) => [id, place])),
    vectors,
    averageWords: entries.reduce((sum, { words }) => sum + words, 0) / entries.length
  }
})

/** Numbers of the vector of a chunk. */
const sizeOf = ({ at, collection }: Entry): number => (at < 0 ? 0 : (collection.size ?? 0))

const lengthOf = (vector: Uint8Array | null): number => (vector?.byteLength ?? 0) / Float32Array.BYTES_PER_ELEMENT
