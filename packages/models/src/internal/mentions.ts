/**
 * What a question mentions that an argument may be made of. Questions are short
 * by the time they get here.
 */
import { isStopWord, stem, words } from "@heddle/core/words"

const all = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(text.matchAll(pattern), (m) => m[1] ?? m[0])

/** Texts in quotation marks. */
export const quoted = (text: string): ReadonlyArray<string> =>
  all(text, /["“«„]([^"“”«»„]{1,200})["”»“]/g).concat(
    all(text, /`([^`]{1,200})`/g),
    all(text, /(?<!\p{L})'([^']{1,200})'(?!\p{L})/gu)
  )

/** URLs. */
export const urls = (text: string): ReadonlyArray<string> =>
  all(text, /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]{1,500}/gi).map((url) => url.replace(/[.,;:!?)]+$/, ""))

/** E-mail addresses. */
export const emails = (text: string): ReadonlyArray<string> =>
  all(text, /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}/g)

/** Paths of files: with a directory that is marked as one, or with an extension. */
export const paths = (text: string): ReadonlyArray<string> =>
  text
    .split(/[\s"'`“”«»<>,;]+/)
    .map((piece) => piece.replace(/^[([{]+|[)\]}?!:.…]+$/gu, "").slice(0, 300))
    .filter((piece) => !/^[a-z][\w+.-]*:\/\/|@/i.test(piece))
    .filter(
      (piece) => /^(?:~|\.{1,2})?[\\/]+[^\\/]|^[a-z]:\\/i.test(piece) || /[\p{L}\p{N}_-]\.[a-z]{2,5}$/u.test(piece)
    )

/** Numbers that stand for themselves. */
export const numbers = (text: string): ReadonlyArray<number> =>
  all(text, /(?<![\p{L}\p{N}_./-])-?\d{1,15}(?:\.\d{1,15})?(?![\p{L}\p{N}_/]|\.\d)/gu).map(Number)

/** Dates as `2024-05-31`, with a time or without. */
export const dates = (text: string): ReadonlyArray<string> =>
  all(text, /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]{4,15}(?:Z|[+-]\d\d:?\d\d)?)?/g)

/** A sum to be worked out. */
export const expressions = (text: string): ReadonlyArray<string> =>
  all(text, /[\d(][\d\s.,()+*/^%-]*[\d)]/g)
    .map((found) => found.trim())
    .filter((found) => /\d[\s)]*[+*/^%-][\s(]*\d/.test(found))

/** Names: capitalized words that do not begin a sentence. */
export const names = (text: string): ReadonlyArray<string> =>
  all(text, /(?<=[^\s.!?][ \t])(\p{Lu}[\p{L}\p{N}'’-]*(?:[ \t]\p{Lu}[\p{L}\p{N}'’-]*)*)/gu).filter(
    (name) => name !== "I"
  )

/** What stands behind the name of a thing: `city` in "the city of Bern" gives "Bern". */
export const after = (text: string, name: string): string | undefined => {
  const wanted = new Set(words(name).map(stem))
  const pieces = text.match(/[\p{L}\p{N}_.@-]+/gu) ?? []
  const found = pieces.findIndex((piece) => words(piece).some((word) => wanted.has(stem(word))))
  if (found < 0) return undefined
  const next = pieces.slice(found + 1).find((piece) => !isStopWord(piece.toLowerCase()))
  return next?.replace(/[.-]+$/, "")
}

/** What stands behind the last preposition: "in Bern" gives "Bern". */
export const object = (text: string): string | undefined => {
  const found =
    /^.*(?:\s|^)(?:in|for|of|about|at|to|from|on|with|named|called)\s+(?:the\s+|an?\s+)?([^?!.,;:]{1,100})/isu.exec(
      text
    )
  return found?.[1]?.trim()
}

/** The words of a question that carry meaning, as they are written. */
export const keywords = (text: string): string => {
  const pieces = text.match(/[\p{L}\p{N}\p{M}_.'’-]+/gu) ?? []
  const kept = pieces
    .map((piece) => piece.replace(/^[.'’-]+|[.'’-]+$/gu, ""))
    .filter((piece) => piece !== "" && !isStopWord(piece.toLowerCase()))
  return Array.from(new Set(kept)).slice(0, 32).join(" ")
}
