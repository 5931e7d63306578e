/**
 * What stands before a markdown document between two lines of three dashes, as far as
 * it is plain: keys with a text, a number or a truth value.
 */
import type { Metadata } from "../Retriever.ts"

/** Where the document begins behind its front matter, and what that says. */
export const frontMatter = (text: string): { readonly end: number; readonly metadata: Metadata } => {
  const open = /^\ufeff?---[ \t]*\r?\n/.exec(text)
  if (open === null) return { end: 0, metadata: {} }
  const close = /^(?:---|\.\.\.)[ \t]*$/m
  const rest = text.slice(open[0].length, open[0].length + 65_536)
  const closed = close.exec(rest)
  // Two thematic breaks with prose between them are not front matter.
  if (closed === null || !/^[\w.-]+[ \t]*:/.test(rest)) return { end: 0, metadata: {} }
  const found = rest
    .slice(0, closed.index)
    .split(/\r?\n/)
    .flatMap((line) => {
      const at = line.indexOf(":")
      const key = line.slice(0, Math.max(0, at)).trimEnd()
      const value = line.slice(at + 1).trim()
      // What goes on in other lines, or has a structure, is left out.
      return /^[\w.-]+$/.test(key) && value !== "" && !/^[[{|>&*!#]/.test(value) ? [[key, scalar(value)] as const] : []
    })
  return { end: open[0].length + closed.index + closed[0].length, metadata: Object.fromEntries(found) }
}

const scalar = (text: string): string | number | boolean => {
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(text)
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? ""
  if (text === "true" || text === "false") return text === "true"
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? Number(text) : text
}
