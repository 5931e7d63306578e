/** Takes the text of an agent's file apart. */

/** The two parts of a file, and where they begin in it. */
export interface Parts {
  /** The YAML between the lines of `---`; missing: there is none. */
  readonly head?: { readonly text: string; readonly at: number }
  readonly body: { readonly text: string; readonly at: number }
}

/** Why a file cannot be taken apart, and where. */
export interface Unclosed {
  readonly at: number
  readonly message: string
}

const first = /^\ufeff?---[ \t]*(?:\r?\n|$)/

/** Takes a file apart. Front matter begins in the first line and ends with the next line of `---`. */
export const split = (text: string): Parts | Unclosed => {
  const open = first.exec(text)
  if (/^\ufeff?---[ \t]*\r(?!\n)/.test(text)) {
    return { at: 0, message: "lines end with a carriage return alone: save the file with usual ends of lines" }
  }
  if (open === null) return late(text) ?? { body: { text: text.replace(/^\ufeff/, ""), at: 0 } }
  const from = open[0].length
  const close = /(?:^|\n)---[ \t]*\r?(?:\n|$)/g
  // The end of the first line may be the beginning of the last one.
  const end = from === 0 ? null : closing(text, close, from)
  if (end === null) return unclosed(text, from)
  return {
    head: { text: text.slice(from, end.start), at: from },
    body: { text: text.slice(end.end), at: Math.min(end.end, text.length) }
  }
}

const closing = (
  text: string,
  close: RegExp,
  from: number
): { readonly start: number; readonly end: number } | null => {
  close.lastIndex = from - 1
  const found = text[from - 1] === "\n" ? close.exec(text) : null
  if (found === null) return null
  const start = Math.max(from, found.index + (found[0].startsWith("\n") ? 1 : 0))
  return { start, end: found.index + found[0].length }
}

const unclosed = (text: string, from: number): Unclosed => {
  const lines = text.slice(from).split("\n")
  const near = lines.findIndex((line) => /^\s*(?:--+|\u2014+|\.\.\.)\s*$/.test(line))
  const hint = near < 0 ? "" : `; is line ${near + 2} meant?`
  return {
    at: text.startsWith("\ufeff") ? 1 : 0,
    message: `the front matter that begins here is not closed: there is no other line of ---${hint}`
  }
}

/** Front matter that begins too late would be read as a text, and nothing that it says would hold. */
const late = (text: string): Unclosed | undefined => {
  const found =
    /^\ufeff?\s*?\n[ \t]*---[ \t]*\r?\n[ \t]*[A-Za-z_]+[ \t]*:/.exec(text) ??
    /^\ufeff?[ \t]+---[ \t]*\r?\n[ \t]*[A-Za-z_]+[ \t]*:/.exec(text)
  return found === null
    ? undefined
    : {
        at: found[0].indexOf("---"),
        message: "front matter begins in the first line of a file, with nothing before it"
      }
}
