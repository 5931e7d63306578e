/**
 * Finds what is left to be done with a document, and cuts it where it is to be indexed.
 */
import * as Effect from "effect/Effect"
import * as Chunking from "../Chunking.ts"
import type { Chunk, DocumentInfo, IndexedDocument } from "../DocumentIndex.ts"
import { type Item, type Skipped, skipped } from "../Documents.ts"
import { chunks } from "./chunks.ts"
import { sha256 } from "./hash.ts"
import { Unreadable } from "./unreadable.ts"

/** What is left to be done with an item. */
export type Prepared =
  | { readonly _tag: "Unchanged"; readonly source: string }
  | { readonly _tag: "Ready"; readonly document: IndexedDocument }
  | Skipped

/** How documents are cut, and how many chunks one may have. */
export interface Cutting {
  readonly chunking: Chunking.Effective
  readonly maxChunks: number
}

/** What finds it, of what is known of the documents that are indexed. A document is read only if it is new or has changed. */
export const preparing = ({ chunking, maxChunks }: Cutting, known: ReadonlyMap<string, DocumentInfo>) => {
  const cutAs = JSON.stringify([Chunking.version, chunking.maxCharacters, chunking.overlap])
  return (item: Item): Effect.Effect<Prepared> => {
    if (item._tag === "Skipped") return Effect.succeed(item)
    const { source } = item
    const hash = sha256(`${item.hash} ${cutAs}`)
    const info = known.get(source)
    if (info?.hash === hash && info.chunks <= maxChunks) return Effect.succeed({ _tag: "Unchanged", source })
    return item.read.pipe(
      Effect.flatMap((content) => cutUp(chunks(source, content, chunking), maxChunks)),
      Effect.map((all): Prepared => ({ _tag: "Ready", document: { source, hash, chunks: all } })),
      Effect.catchAll(({ message, reason }) => Effect.succeed(skipped(source, reason, message))),
      // Others have their turn between documents.
      Effect.zipLeft(Effect.yieldNow())
    )
  }
}

/** The chunks of a document, if they are not too many. Now and then, others have their turn. */
const cutUp = (all: Iterable<Chunk>, most: number): Effect.Effect<ReadonlyArray<Chunk>, Unreadable> =>
  Effect.gen(function* () {
    const made: Array<Chunk> = []
    for (const chunk of all) {
      if (made.length >= most) {
        return yield* new Unreadable({ reason: "TooLarge", message: `It has more chunks than ${most}, the maxChunks.` })
      }
      made.push(chunk)
      if (made.length % 64 === 0) yield* Effect.yieldNow()
    }
    return made
  })
