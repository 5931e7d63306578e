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

export const metadataOf = (text: string): Metadata =>
  // It is what `textOfMetadata` has written. An object is the way in which the other numbers are.
  JSON.parse(text, (key, value: unknown) =>
    key !== "" && typeof value === "object" ? Number(Reflect.get(value!, "number")) : value
  ) as Metadata
