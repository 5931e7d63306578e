/**
 * Where documents come from: texts at hand, here; folders and files, in
 * `@heddle/rag/files`. What cannot be read, a picture say, is reported and left out.
 *
 * Sources of one's own are a value with a stream of items; `document` makes an item
 * of bytes.
 *
 * @example
 * ```ts
 * import { Documents } from "@heddle/rag"
 * import { Effect, Stream } from "effect"
 *
 * const notes = Documents.texts([
 *   { source: "opening.md", text: "# Opening\n\nWe open at nine." },
 *   { source: "empty.txt", text: "" }
 * ])
 * const program = Effect.gen(function* () {
 *   const { items, total } = yield* notes
 *   const tags = yield* Stream.runCollect(Stream.map(items, ({ _tag }) => _tag))
 *   return `${total}: ${[...tags].join(" ")}`
 * })
 * console.log(await Effect.runPromise(program))
 * ```
 * ```text
 * 2: Document Skipped
 * ```
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { contentOf, decoded } from "./internal/formats.ts"
import { hexOf, sha256 } from "./internal/hash.ts"
import type { SkipReason, Unreadable } from "./internal/unreadable.ts"
import type { Metadata } from "./Retriever.ts"

export { type SkipReason, Unreadable } from "./internal/unreadable.ts"

/** What a document can be written in. */
export type Format = "markdown" | "text" | "html" | "pdf"

/** What is written in a document. */
export interface Content {
  /** Of `pages`, a form feed stands between one page and the next. */
  readonly format: "markdown" | "text" | "pages"
  readonly text: string
  /** What all its chunks are marked with. A `title` is searched as well. */
  readonly metadata: Metadata
  /** Whether the lines of the text are those of the document, so that they can be told. `true` unless said. */
  readonly lines?: boolean
}

/** A document that can be read. */
export interface Document {
  readonly _tag: "Document"
  /** What it is called by, for example a path in a folder or a URL. */
  readonly source: string
  /** Changes when the bytes of the document change. */
  readonly hash: string
  /** Reads what is written in it, which takes time: nobody does so if the hash is known. */
  readonly read: Effect.Effect<Content, Unreadable>
}

/** A document that is left out. */
export interface Skipped {
  readonly _tag: "Skipped"
  readonly source: string
  readonly reason: SkipReason
  /** Says what is wrong and, where there is one, the way out. */
  readonly message: string
}

/** A document, or why there is none. */
export type Item = Document | Skipped

/** Documents that were looked up. */
export interface Opened<out E = never, out R = never> {
  /** How many items there are, if that is known before they are read. */
  readonly total?: number
  /** In the same order each time. */
  readonly items: Stream.Stream<Item, E, R>
}

/** Documents of a source, which are looked up when this runs. */
export type Documents<E = never, R = never> = Effect.Effect<Opened<E, R>, E, R>

/** The documents could not be looked up at all. */
export class DocumentsUnavailable extends Data.TaggedError("DocumentsUnavailable")<{
  readonly reason: "NotFound" | "NotAFolder" | "Unreadable"
  readonly message: string
  readonly cause?: unknown
}> {}

/** A document that is left out. */
export const skipped = (source: string, reason: SkipReason, message: string): Skipped => ({
  _tag: "Skipped",
  source,
  reason,
  message
})

/** What is known of a document besides its bytes. */
export interface Described {
  readonly source: string
  /** What the end of the source says, unless said: `.md`, `.html`, `.pdf`; anything else is text. */
  readonly format?: Format
  readonly metadata?: Metadata
}

/** An item of bytes: what is seen to be empty, or neither a text nor a PDF, is skipped. The bytes must not change. */
export const document = (described: Described, bytes: Uint8Array): Effect.Effect<Item> => {
  const { metadata = {}, source } = described
  const format = described.format ?? formatOf(source)
  const readable = format === "pdf" ? Effect.void : Effect.asVoid(decoded(bytes))
  return bytes.length === 0
    ? Effect.succeed(skipped(source, "Empty", "It is empty."))
    : readable.pipe(
        Effect.zipRight(hexOf(bytes)),
        Effect.map((hash): Item => ({
          _tag: "Document",
          source,
          hash: sha256(JSON.stringify([hash, format, metadata])),
          read: contentOf(format, bytes, metadata)
        })),
        Effect.catchAll(({ message, reason }) => Effect.succeed(skipped(source, reason, message)))
      )
}

/** A text with what it is called by. */
export interface Text extends Described {
  readonly text: string
}

/** Documents whose texts are at hand. A format of `pdf` needs bytes, and is skipped. */
export const texts = (all: ReadonlyArray<Text>): Documents =>
  Effect.succeed({
    total: all.length,
    items: Stream.mapEffect(Stream.fromIterable(all), (one) => document(one, new TextEncoder().encode(one.text)))
  })

/** What the end of a source says of its format. */
const formatOf = (source: string): Format => {
  if (/\.(?:md|mdx|markdown)$/i.test(source)) return "markdown"
  if (/\.(?:x?html?)$/i.test(source)) return "html"
  return /\.pdf$/i.test(source) ? "pdf" : "text"
}
