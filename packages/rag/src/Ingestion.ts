/**
 * Brings what is indexed up to date with its documents: what is new or has changed is
 * cut and indexed, what is gone is removed, and the rest is left alone.
 *
 * A document is indexed whole or stays as it was, whenever a run is stopped; the next
 * run does what was left. What is gone is removed at the end of a run, if all documents
 * were seen.
 *
 * @example
 * ```ts no-run
 * import * as NodeContext from "@effect/platform-node/NodeContext"
 * import { DocumentIndex, Ingestion } from "@heddle/rag"
 * import { folder } from "@heddle/rag/files"
 * import { Effect, Stream } from "effect"
 *
 * const bar = (fraction = 0) => "#".repeat(fraction * 40).padEnd(40, ".")
 * const program = Ingestion.run({ documents: folder("docs"), collection: DocumentIndex.collection("docs") }).pipe(
 *   Stream.tap((event) => Effect.sync(() => process.stderr.write(`\r${bar(event.fraction)}`))),
 *   Stream.filter((event) => event._tag === "Skipped"),
 *   Stream.runForEach(({ message, source }) => Effect.logWarning(`${source}: ${message}`)),
 *   Effect.provide(NodeContext.layer)
 * )
 * ```
 */
import { Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Chunking from "./Chunking.ts"
import { type Collection, DocumentIndex, type IndexedDocument } from "./DocumentIndex.ts"
import { type Documents, type Item, type Skipped, skipped } from "./Documents.ts"
import { goneOf } from "./internal/gone.ts"
import { type Prepared, preparing } from "./internal/prepare.ts"
import type { RetrievalError } from "./RagErrors.ts"

/** What is indexed, and how. */
export interface Options<E = never, R = never> {
  readonly documents: Documents<E, R>
  /** Where it is indexed. What else is indexed there is taken for gone. */
  readonly collection: Collection
  /** How documents are cut. Whatever changes here, all documents are cut and indexed anew. */
  readonly chunking?: Chunking.Options
  /** Documents that are read and cut at once; a whole number from 1. @default 4 */
  readonly concurrency?: number
  /**
   * Chunks that are put into the index at once, so that an embedding model is asked
   * for many: as soon as there are as many. A document is always put as a whole. @default 256
   */
  readonly batch?: number
  /** Chunks of a document at the most; one that has more is skipped as `TooLarge`. @default 10000 */
  readonly maxChunks?: number
}

/** What became of the documents. */
export interface Summary {
  /** Documents that are new or have changed, and were indexed. */
  readonly indexed: number
  /** The chunks of these. */
  readonly chunks: number
  readonly unchanged: number
  /** Documents that were indexed and are not any more. */
  readonly removed: number
  /** What was left out, and why. */
  readonly skipped: ReadonlyArray<Skipped>
}

/** How far a run is: from 0 to 1, if it is known how many documents there are. */
interface Progress {
  readonly fraction?: number
}

/** What happens in a run. */
export type Event = Progress &
  (
    | { readonly _tag: "Started"; readonly total?: number }
    | { readonly _tag: "Indexed"; readonly source: string; readonly chunks: number }
    | { readonly _tag: "Unchanged"; readonly source: string }
    | Skipped
    | { readonly _tag: "Removed"; readonly source: string }
    | ({ readonly _tag: "Finished" } & Summary)
  )

/** What a run takes one after the other. */
type Step = Prepared | { readonly _tag: "End" }

/**
 * Brings the index up to date, and tells of what happens.
 *
 * A document that is skipped and was indexed before is removed if what it said is
 * known to be gone: if it is not there, empty, binary, too large, badly encoded, or a
 * link that leaves the folder. It stays as it was if that is for other reasons, which may pass;
 * so does what was in a folder that could not be read. Of several documents with one
 * source, the first counts, and the others are skipped.
 *
 * A document whose texts the embedding model refuses is skipped as `Refused`. If it
 * refuses all of a collection that has nothing yet, the run fails.
 *
 * Fails as the documents do, or as the index does. Throws a `DefinitionError` if the
 * options make no sense.
 */
export const run = <E = never, R = never>(
  options: Options<E, R>
): Stream.Stream<Event, E | RetrievalError, R | DocumentIndex> => {
  const { collection, documents } = options
  const batch = whole("batch", options.batch ?? 256, 1)
  const concurrency = whole("concurrency", options.concurrency ?? 4, 1)
  const maxChunks = whole("maxChunks", options.maxChunks ?? 10_000, 1)
  const chunking = Chunking.effective(options.chunking)

  return Stream.unwrap(
    Effect.gen(function* () {
      const index = yield* DocumentIndex
      const { items, total } = yield* documents
      const known = new Map((yield* index.documents(collection)).map((info) => [info.source, info]))
      const prepare = preparing({ chunking, maxChunks }, known)
      const seen = new Set<string>()
      const left: Array<Skipped> = []
      const counts = { indexed: 0, chunks: 0, unchanged: 0, removed: 0 }
      let done = 0
      let ready: Array<IndexedDocument> = []
      let waiting = 0
      let refusal: RetrievalError | undefined

      /** Another one is done. */
      const told = (event: Event): Event => {
        done++
        return total === undefined ? event : { ...event, fraction: total === 0 ? 1 : Math.min(1, done / total) }
      }

      const once = (item: Item): Item => {
        if (seen.has(item.source)) {
          return skipped(item.source, "Duplicate", "There is another document with this source, which counts.")
        }
        seen.add(item.source)
        return item
      }

      const put = (documents: ReadonlyArray<IndexedDocument>) =>
        Effect.map(index.put(collection, documents), () =>
          documents.map(({ chunks, source }): Event => {
            counts.indexed++
            counts.chunks += chunks.length
            return told({ _tag: "Indexed", source, chunks: chunks.length })
          })
        )

      /** Fails if nothing of the collection was ever accepted: then what is wrong is not the document. */
      const hopeless = Effect.suspend(() =>
        refusal === undefined || counts.indexed > 0 || known.size > 0 ? Effect.void : Effect.fail(refusal)
      )

      /** Puts documents one by one, but for those that are refused. */
      const putEach = (documents: ReadonlyArray<IndexedDocument>) =>
        Effect.map(
          Effect.forEach(documents, (document) =>
            Effect.catchIf(put([document]), isRefused, (error) => {
              refusal ??= error
              const { message } = error
              const event = skipped(document.source, "Refused", message)
              left.push(event)
              return Effect.succeed([told(event)])
            })
          ),
          (events) => events.flat()
        )

      const flush = Effect.suspend(() => {
        const documents = ready
        ready = []
        waiting = 0
        return documents.length < 2
          ? putEach(documents)
          : Effect.catchIf(put(documents), isRefused, () => Effect.zipLeft(putEach(documents), hopeless))
      })

      const finish = Effect.gen(function* () {
        yield* hopeless
        const gone = goneOf(known.keys(), seen, left)
        if (gone.length > 0) yield* index.remove(collection, gone)
        counts.removed = gone.length
        const removed = gone.map((source): Event => ({
          _tag: "Removed",
          source,
          ...(total !== undefined && { fraction: 1 })
        }))
        return [...removed, { _tag: "Finished", ...counts, skipped: left, fraction: 1 } satisfies Event]
      })

      const take = (step: Step): Effect.Effect<ReadonlyArray<Event>, RetrievalError> => {
        switch (step._tag) {
          case "Unchanged":
            counts.unchanged++
            return Effect.succeed([told(step)])
          case "Skipped":
            left.push(step)
            return Effect.succeed([told(step)])
          case "Ready":
            ready.push(step.document)
            waiting += Math.max(1, step.document.chunks.length)
            return waiting < batch ? Effect.succeed([]) : flush
          case "End":
            return Effect.zipWith(flush, finish, (indexed, rest) => [...indexed, ...rest])
        }
      }

      const started: Event = { _tag: "Started", ...(total !== undefined && { total, fraction: 0 }) }
      return items.pipe(
        Stream.map(once),
        Stream.mapEffect(prepare, { concurrency: concurrency === Infinity ? "unbounded" : concurrency }),
        Stream.concat(Stream.succeed<Step>({ _tag: "End" })),
        Stream.mapEffect(take),
        Stream.mapConcat((events) => events),
        (events) => Stream.concat(Stream.succeed(started), events)
      )
    })
  )
}

/** Whether the embedding model does not want these texts, rather than any. */
const isRefused = ({ cause, reason }: RetrievalError): boolean =>
  reason === "Embedding" &&
  cause instanceof Errors.ModelError &&
  (cause.reason === "BadRequest" || cause.reason === "ContextLength" || cause.reason === "ContentFilter")

/** Brings the index up to date, and gives what became of the documents. */
export const indexed = <E = never, R = never>(
  options: Options<E, R>
): Effect.Effect<Summary, E | RetrievalError, R | DocumentIndex> =>
  Effect.map(Stream.runLast(run(options)), (last) => {
    // A run that does not fail ends with what became of it.
    const event = Option.getOrThrow(last) as Extract<Event, { readonly _tag: "Finished" }>
    const { chunks, indexed, removed, skipped, unchanged } = event
    return { indexed, chunks, unchanged, removed, skipped }
  })
