/**
 * Text for a terminal.
 */
import type { Sheet } from "./Output.ts"

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

/** Paints a text, where there are colours. */
export const paint = ({ colours }: Pick<Sheet, "colours">, colour: keyof typeof codes, text: string): string =>
  colours && text !== "" ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text

/** Takes out what would steer the terminal: neither a model nor a file is to do that. */
export const clean = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "")

/** One line of a text, cut to a length. */
export const short = (text: string, length: number): string => {
  const line = clean(text).replace(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, Math.max(0, length - 1))}…` : line
}
