/**
 * What the model is shown of documents, between tags that it cannot leave.
 */
import { Instructions } from "@heddle/core"
import type { Numbered } from "../RagSection.ts"
import type { Metadata } from "../Retriever.ts"
import { clip } from "./clip.ts"

/**
 * A passage between tags that it cannot leave, which say its number, its source and,
 * as its metadata has them, the `title` of the document and the `heading` above it.
 * A number in brackets in its text would look like a citation: `[12]` becomes `[ 12 ]`.
 */
export const quoted = ({ metadata, number, source, text }: Numbered): string =>
  Instructions.quoted("passage", withoutNumbers(text), {
    number,
    source: withoutNumbers(source),
    ...marks(metadata)
  })

/** Notes between tags. */
export const quotedNotes = (notes: string): string => Instructions.quoted("notes", notes)

/** The numbers and sources of passages between tags. */
export const quotedSources = (passages: ReadonlyArray<Numbered>): string =>
  Instructions.quoted(
    "sources",
    passages.map(({ number, source }) => `[${number}] ${withoutNumbers(source.replace(/\s+/g, " "))}`).join("\n")
  )

const withoutNumbers = (text: string): string =>
  text.includes("[") ? text.replace(/\[(\d+(?:\s*,\s*\d+)*)\]/g, "[ $1 ]") : text

/** The most of a title, and of a heading. */
const maxHeading = 200

/** What a passage is marked with that says where in a document it stands. */
export const headings = (metadata: Metadata): { readonly title?: string; readonly heading?: string } => ({
  ...ofText("title", metadata),
  ...ofText("heading", metadata)
})

/** The same, without what would look like a citation. */
const marks = (metadata: Metadata): Record<string, string> => {
  const found: Record<string, string> = headings(metadata)
  for (const key of Object.keys(found)) found[key] = withoutNumbers(found[key]!)
  return found
}

const ofText = <Key extends string>(key: Key, metadata: Metadata): { readonly [K in Key]?: string } => {
  const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
  // An object of one key has the type of that key alone.
  return (typeof value === "string" && value !== "" ? { [key]: clip(value, maxHeading) } : {}) as {
    [K in Key]?: string
  }
}
