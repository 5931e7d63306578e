/**
 * Cuts texts where people see a character end.
 */

let segmenter: Intl.Segmenter | undefined

/** The first of a text, `length` code units at the most, that does not end within a character that people see. */
export const clip = (text: string, length: number): string => {
  if (text.length <= length) return text
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })
  // Whether a character goes on is said by the one behind it, which may be a pair.
  const next = segmenter.segment(text.slice(0, length + 2)).containing(length)
  return text.slice(0, next?.index ?? 0)
}
