/**
 * Text for a terminal.
 */
import type { Sheet } from "./Output.ts"

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

/** Paints a text, where there are colours. */
export const paint = ({ colours }: Pick<Sheet, "colours">, colour: keyof typeof codes, text: string): string =>
  colours && text !== "" ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text

// Control characters but for tab and line feed, and what turns the direction of writing or is not seen. What joins
// letters (U+200C, U+200D) is part of some scripts, and stays.
const steering =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g

/** Takes out what would steer the terminal: neither a model nor a file is to do that. */
export const clean = (text: string): string => text.replace(steering, "")

/** JSON, in one line unless it is indented, in which nothing steers a terminal either. */
export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? "null").replace(steering, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")
  )

// Characters of East Asian scripts and pictures take two columns.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** Columns that a character takes. */
const columnsOf = (character: string): number =>
  /^[\p{M}\u200c\u200d]$/u.test(character) ? 0 : wide.test(character) ? 2 : 1

/** Columns that a text takes in one line, about. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) width += columnsOf(character)
  return width
}

/** Characters that are looked at for each column: of a text of megabytes the beginning is enough. */
const perColumn = 8

/** One line of a text, cut to a number of columns. */
export const short = (text: string, length: number): string => {
  const most = Math.max(0, length)
  const beginning = text.length > most * perColumn + 1000 ? `${text.slice(0, most * perColumn + 1000)}…` : text
  const line = clean(beginning).replace(/\s+/g, " ").trim()
  if (widthOf(line) <= most) return line
  let out = ""
  let width = 0
  for (const character of line) {
    width += columnsOf(character)
    if (width > most - 1) break
    out += character
  }
  return most === 0 ? "" : `${out}…`
}

/** A text with a mark at its end. */
export const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)
