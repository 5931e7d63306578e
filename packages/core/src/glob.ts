/**
 * Globs over text, without regard to case unless that is asked for. `*` is any text within the line, `?` any
 * one character, and a backslash takes from the character behind it what it stands
 * for. Takes a time of pattern times text at the most, whatever the pattern.
 *
 * @example
 * ```ts
 * import { found, whole } from "@heddle/core/glob"
 *
 * console.log(found("uses *")("The project uses React.")) // true
 * console.log(whole("docs/*.md")("docs/memory.md")) // true
 * console.log(whole("docs/*.md")("docs/memory.md.bak")) // false
 * console.log(whole("docs/*.md", { matchCase: true })("Docs/memory.md")) // false
 * ```
 */

/** How characters are compared. */
export interface Options {
  /** Whether upper case is told from lower case. @default false */
  readonly matchCase?: boolean
}

/** A character, or any one. */
type Place = string | undefined

/** What makes characters the same that count as the same. */
type Fold = (character: string) => string

const folding = ({ matchCase = false }: Options): Fold =>
  matchCase ? (character) => character : (character) => character.toLowerCase()

/** The pieces between stars. */
const pieces = (pattern: string, fold: Fold): ReadonlyArray<ReadonlyArray<Place>> => {
  const all: Array<Array<Place>> = [[]]
  const characters = Array.from(pattern)
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    const last = all.at(-1)!
    if (character === "*") all.push([])
    else if (character === "?") last.push(undefined)
    else if (character === "\\" && i + 1 < characters.length) last.push(fold(characters[++i]!))
    else last.push(fold(character))
  }
  return all
}

const fits = (piece: ReadonlyArray<Place>, line: ReadonlyArray<string>, at: number): boolean =>
  piece.every((place, i) => place === undefined || place === line[at + i])

/** Where a piece ends that begins at `from` or later, or -1. */
const find = (piece: ReadonlyArray<Place>, line: ReadonlyArray<string>, from: number): number => {
  for (let at = from; at + piece.length <= line.length; at++) if (fits(piece, line, at)) return at + piece.length
  return -1
}

/** Where the last piece ends, if they come one after the other from `from` on, or -1. */
const findAll = (wanted: ReadonlyArray<ReadonlyArray<Place>>, line: ReadonlyArray<string>, from: number): number => {
  let at = from
  for (const piece of wanted) if ((at = find(piece, line, at)) < 0) return -1
  return at
}

/** What says whether a text has a line in which the pattern is found. */
export const found = (pattern: string, options: Options = {}): ((text: string) => boolean) => {
  const fold = folding(options)
  const wanted = pieces(pattern, fold).filter((piece) => piece.length > 0)
  return (text) => text.split(/\r\n|[\n\r\u2028\u2029]/).some((line) => findAll(wanted, Array.from(line, fold), 0) >= 0)
}

/** What says whether a text, as one line, is what the pattern says from its beginning to its end. */
export const whole = (pattern: string, options: Options = {}): ((text: string) => boolean) => {
  const fold = folding(options)
  const [first, ...others] = pieces(pattern, fold)
  const last = others.pop()
  return (text) => {
    const characters = Array.from(text, fold)
    if (!fits(first!, characters, 0)) return false
    if (last === undefined) return characters.length === first!.length
    const from = characters.length - last.length
    const end = findAll(others, characters, first!.length)
    return end >= 0 && end <= from && fits(last, characters, from)
  }
}
