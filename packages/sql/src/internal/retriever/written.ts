/**
 * How the words and the metadata of a chunk are written down.
 */
import type { Metadata } from "@heddle/rag/Retriever"

/** A tenant's words. Its id ends where the first letter is that is no digit. */
export const termsOf = (tenant: number, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.map((word) => `${tenant}x${word}`)

/** Numbers that JSON does not have are written in another way. */
export const textOfMetadata = (metadata: Metadata): string =>
  JSON.stringify(metadata, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value
  )

export const metadataOf = (text: string): Metadata => {
  // It is what `textOfMetadata` has written. An object is the way in which the other numbers are.
  const read = JSON.parse(text) as Record<string, Metadata[string] | { readonly number: string }>
  for (const [key, value] of Object.entries(read)) if (typeof value === "object") read[key] = Number(value.number)
  return read as Metadata
}
