/**
 * Puts the units of a section together until a chunk is full. A unit that does not
 * fit into any chunk is cut: into lines, sentences, words, and characters last.
 */
import type { Unit } from "./sections.ts"

/** A place in a text, and the place behind its end. */
export interface Piece {
  readonly from: number
  readonly through: number
}

interface Limits {
  readonly maxCharacters: number
  readonly overlap: number
}

/** The chunks of a section. Without an overlap, they leave nothing out and have nothing twice. */
export function* pack(
  text: string,
  units: ReadonlyArray<Unit>,
  { maxCharacters, overlap }: Limits
): Generator<Piece, void> {
  /** The units of the chunk that is being made. */
  let open: Array<Unit> = []
  let from = 0
  /** Where that chunk ends, without the space at its end. */
  let end = 0
  for (const whole of units) {
    for (const unit of cut(text, whole, maxCharacters)) {
      const unitEnd = endOf(text, unit)
      // Space makes nothing longer.
      const reached = unitEnd === unit.from ? end : unitEnd
      if (open.length > 0 && reached - from <= maxCharacters) {
        open.push(unit)
        end = reached
        continue
      }
      const last = open.at(-1)
      if (last !== undefined) yield { from, through: last.through }
      const again = overlap === 0 ? [] : endings(text, open, overlap)
      from = again.find((place) => unitEnd - place <= maxCharacters) ?? unit.from
      end = unitEnd
      open = [unit]
    }
  }
  const last = open.at(-1)
  if (last !== undefined) yield { from, through: last.through }
}

/** Where a piece ends without the space at its end, which does not count: where it begins if there is nothing else. */
const endOf = (text: string, { from, through }: Piece): number => {
  let end = through
  while (end > from && isSpace(text.charCodeAt(end - 1))) end--
  return end
}

const isLong = (text: string, piece: Piece, most: number): boolean => endOf(text, piece) - piece.from > most

/** What `trimEnd` takes for space. */
const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 160 || (code > 5000 && String.fromCharCode(code).trim() === "")

// -----------------------------------------------------------------------------
// what is said again
// -----------------------------------------------------------------------------

/** Where the last sentences of a chunk begin, the first first. */
const endings = (text: string, units: ReadonlyArray<Unit>, overlap: number): ReadonlyArray<number> => {
  const end = units.at(-1)?.through ?? 0
  const places: Array<number> = []
  for (const unit of units.toReversed()) {
    if (!unit.prose || unit.through <= end - overlap) break
    const sentences = sentencesOf(text, unit.from, unit.through)
    places.unshift(...sentences.map(({ from }) => from).filter((from) => from >= end - overlap))
  }
  return places
}

// -----------------------------------------------------------------------------
// what does not fit
// -----------------------------------------------------------------------------

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" })
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** How much is looked at at once: places far into a long text are found slowly. */
const stretch = 8_192

/** A unit in pieces of a length at the most. */
const cut = (text: string, unit: Unit, most: number): ReadonlyArray<Unit> => {
  if (!isLong(text, unit, most)) return [unit]
  const lines = unit.prose ? [unit] : linesOf(text, unit)
  return lines
    .flatMap((line) => (isLong(text, line, most) ? sentencesOf(text, line.from, line.through) : [line]))
    .flatMap((piece) => (isLong(text, piece, most) ? wordsOf(text, piece, most) : [piece]))
    .map(({ from, through }) => ({ from, through, prose: unit.prose }))
}

const linesOf = (text: string, { from, through }: Piece): ReadonlyArray<Piece> => {
  const lines: Array<Piece> = []
  const part = text.slice(from, through)
  for (let at = 0; at < part.length;) {
    const end = part.indexOf("\n", at)
    const next = end < 0 ? part.length : end + 1
    lines.push({ from: from + at, through: from + next })
    at = next
  }
  return lines
}

const sentencesOf = (text: string, from: number, through: number): ReadonlyArray<Piece> => {
  const found: Array<Piece> = []
  /** Where the sentence begins that may go on. */
  let open = from
  for (let at = from; at < through;) {
    const end = Math.min(through, wholeBefore(text, at + stretch))
    // A line that ends within a paragraph ends no sentence.
    const part = text.slice(at, end).replace(/\r?\n(?=\S)/g, (ending) => " ".repeat(ending.length))
    let last = at
    for (const { index } of sentences.segment(part)) {
      last = at + index
      if (last > open) {
        found.push({ from: open, through: last })
        open = last
      }
    }
    // The last one is looked at again with what comes after it, unless it fills the stretch.
    at = last > at && end < through ? last : end
  }
  if (open < through) found.push({ from: open, through })
  return found
}

/** A place that is not between the halves of a character. */
const wholeBefore = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff && at > 0 && isHigh(text.charCodeAt(at - 1)) ? at - 1 : at
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** A piece in as many words as fit, or in a part of one that does not fit. */
const wordsOf = (text: string, piece: Piece, most: number): ReadonlyArray<Piece> => {
  const found: Array<Piece> = []
  const { from, through } = piece
  const last = endOf(text, piece)
  let at = from
  while (last - at > most) {
    const end = spaceBefore(text, at + most, at + most / 2) ?? graphemeBefore(text, at, most)
    found.push({ from: at, through: end })
    at = end
  }
  found.push({ from: at, through })
  return found
}

/** The place behind the last space up to a place, which itself counts as well. */
const spaceBefore = (text: string, from: number, least: number): number | undefined => {
  for (let at = from; at > least; at--) if (isSpace(text.charCodeAt(at))) return Math.min(at + 1, text.length)
  return undefined
}

/** The last place between two characters that people see, or if one of them is too long, between its parts. */
const graphemeBefore = (text: string, from: number, most: number): number => {
  // Between letters without marks there always is one.
  if (isPlain(text.charCodeAt(from + most - 1)) && isPlain(text.charCodeAt(from + most))) return from + most
  let place = 0
  for (const { index } of graphemes.segment(text.slice(from, from + most + 2))) if (index <= most) place = index
  return place > 0 ? from + place : Math.max(from + 1, wholeBefore(text, from + most))
}

const isPlain = (code: number): boolean => code > 13 && code < 0x300 && code !== 0xad
