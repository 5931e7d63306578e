/**
 * Globs over text: found anywhere in a line, without regard to case. `*` is any text
 * within the line, `?` any one character, and a backslash takes from the character
 * behind it what it stands for. Takes a time of pattern times text at the most,
 * whatever the pattern.
 */

/** A character, or any one. */
type Place = string | undefined

const fold = (text: string): string => text.toLowerCase()

/** The pieces between stars. */
const pieces = (pattern: string): ReadonlyArray<ReadonlyArray<Place>> => {
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
  return all.filter((piece) => piece.length > 0)
}

const fits = (piece: ReadonlyArray<Place>, line: ReadonlyArray<string>, at: number): boolean =>
  piece.every((place, i) => place === undefined || place === line[at + i])

/** Where a piece ends that begins at `from` or later, or -1. */
const find = (piece: ReadonlyArray<Place>, line: ReadonlyArray<string>, from: number): number => {
  for (let at = from; at + piece.length <= line.length; at++) if (fits(piece, line, at)) return at + piece.length
  return -1
}

/** What says whether a text has a line in which the pattern is found. */
export const glob = (pattern: string): ((text: string) => boolean) => {
  const wanted = pieces(pattern)
  return (text) =>
    text.split(/\r\n|[\n\r\u2028\u2029]/).some((line) => {
      const characters = Array.from(line, fold)
      let at = 0
      for (const piece of wanted) if ((at = find(piece, characters, at)) < 0) return false
      return true
    })
}
