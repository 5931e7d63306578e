/**
 * What is written in bytes. What reads a format is loaded when it is used.
 */
import { causeText } from "@heddle/core/cause"
import * as Effect from "effect/Effect"
import type { Content, Format } from "../Documents.ts"
import type { Metadata } from "../Retriever.ts"
import { markdownOfHtml } from "./html.ts"
import { Unreadable } from "./unreadable.ts"

const binary = new Unreadable({ reason: "Binary", message: "It is not a text." })

const encodings = [
  { mark: [0xef, 0xbb, 0xbf], name: "utf-8" },
  { mark: [0xff, 0xfe], name: "utf-16le" },
  { mark: [0xfe, 0xff], name: "utf-16be" }
]

/** Bytes that are known for what they are by how they begin, and hold no NUL. */
const signatures = ["%PDF-", "\u0089PNG", "\u00ff\u00d8\u00ff", "GIF8", "PK\u0003\u0004", "\u001f\u008b"]

const begins = (bytes: Uint8Array, mark: ReadonlyArray<number>) => mark.every((byte, at) => bytes[at] === byte)

/** The text of bytes in UTF-8, or in UTF-16 with a byte order mark. */
export const decoded = (bytes: Uint8Array): Effect.Effect<string, Unreadable> => {
  const encoding = encodings.find(({ mark }) => begins(bytes, mark))?.name ?? "utf-8"
  if (
    signatures.some((one) =>
      begins(
        bytes,
        Array.from(one, (letter) => letter.charCodeAt(0))
      )
    )
  )
    return binary
  if (encoding === "utf-8" && bytes.subarray(0, 65_536).includes(0)) return binary
  return Effect.try({
    try: () => new TextDecoder(encoding, { fatal: true }).decode(bytes),
    catch: (cause) =>
      new Unreadable({ reason: "Encoding", message: "It is not in UTF-8. Save it in that encoding.", cause })
  })
}

/** Loads an optional package. */
const load = <A>(name: string, load: () => Promise<A>): Effect.Effect<A, Unreadable> =>
  Effect.tryPromise({
    try: load,
    catch: (cause) =>
      new Unreadable({
        reason: "MissingPackage",
        message: `It takes the package "${name}" to read it: npm install ${name}`,
        cause
      })
  })

const badFormat = (format: string) => (cause: unknown) =>
  new Unreadable({
    reason: "Format",
    message: `It cannot be read as ${format}: ${causeText(cause)}`,
    cause
  })

const ofHtml = (html: string, metadata: Metadata): Effect.Effect<Content, Unreadable> =>
  Effect.flatMap(
    load("htmlparser2", () => import("htmlparser2")),
    ({ Parser }) =>
      Effect.try({
        try: () => {
          const { text, title } = markdownOfHtml((handler) => new Parser(handler), html)
          return { format: "markdown", text, metadata: { ...(title !== "" && { title }), ...metadata }, lines: false }
        },
        catch: badFormat("HTML")
      })
  )

const ofPdf = (bytes: Uint8Array, metadata: Metadata): Effect.Effect<Content, Unreadable> =>
  Effect.flatMap(
    load("unpdf", () => import("unpdf")),
    ({ extractText, getDocumentProxy, getMeta }) =>
      Effect.acquireUseRelease(
        Effect.tryPromise({
          // What is read is taken away from who gives it, so a copy is given; errors alone are told.
          try: () => getDocumentProxy(bytes.slice(), { verbosity: 0 }),
          catch: badFormat("PDF")
        }),
        (pdf) =>
          Effect.tryPromise({
            try: async (): Promise<Content> => {
              const { text } = await extractText(pdf, { mergePages: false })
              const { info } = await getMeta(pdf)
              const title: unknown = info["Title"]
              return {
                format: "pages",
                text: text.map((page) => page.replaceAll("\f", "\n")).join("\f"),
                metadata: { ...(typeof title === "string" && title.trim() !== "" && { title }), ...metadata }
              }
            },
            catch: badFormat("PDF")
          }),
        (pdf) => Effect.ignore(Effect.tryPromise(() => pdf.destroy()))
      )
  )

const ofText = (format: "markdown" | "text", text: string, metadata: Metadata): Content => ({ format, text, metadata })

/** What is written in bytes of a format. Fails if that is nothing. */
export const contentOf = (format: Format, bytes: Uint8Array, metadata: Metadata): Effect.Effect<Content, Unreadable> =>
  (format === "pdf"
    ? ofPdf(bytes, metadata)
    : Effect.flatMap(decoded(bytes), (text) =>
        format === "html" ? ofHtml(text, metadata) : Effect.succeed(ofText(format, text, metadata))
      )
  ).pipe(
    // Some databases end a text there.
    Effect.map((content) => ({ ...content, text: content.text.replaceAll("\0", "\ufffd") })),
    Effect.filterOrFail(
      ({ text }) => text.trim() !== "",
      () =>
        new Unreadable({
          reason: "Empty",
          message:
            format === "pdf" ? "It has no text: it may be a scan, which needs to be recognized." : "It has no text."
        })
    )
  )
