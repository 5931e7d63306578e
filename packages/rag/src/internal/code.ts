/**
 * Where a text in markdown is code: in spans between backticks, and in fences.
 */

/** The text with spaces in the place of its code, so that all else stands where it stood. */
export const withoutCode = (text: string): string => {
  if (!/[`~]/.test(text)) return text
  let out = ""
  /** Lines outside of fences that belong together. */
  let paragraph = ""
  let fence: string | undefined
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`]*$)|~{3,})(.*)/.exec(line)
    const isCode = fence !== undefined || mark !== null
    if (!isCode && line.trim() !== "") {
      paragraph += line
      continue
    }
    out += withoutSpans(paragraph) + (isCode ? blank(line) : line)
    paragraph = ""
    if (fence === undefined) fence = mark?.[1]
    else if (mark !== null && mark[1]!.startsWith(fence) && mark[2]!.trim() === "") fence = undefined
  }
  return out + withoutSpans(paragraph)
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ")

/** A paragraph without what stands between two marks that are equally long. */
const withoutSpans = (paragraph: string): string => {
  const marks = Array.from(paragraph.matchAll(/(\\?)(`+)/g), ({ 1: escape, 2: mark, index }) => ({
    isEscaped: escape !== "",
    from: index + escape!.length,
    through: index + escape!.length + mark!.length,
    length: mark!.length
  }))
  // Found from behind, so that no mark is looked at twice.
  const next = new Map<number, number>()
  const partners = marks.map(() => -1)
  for (let i = marks.length - 1; i >= 0; i--) {
    const { length } = marks[i]!
    partners[i] = next.get(length) ?? -1
    next.set(length, i)
  }
  let out = ""
  let end = 0
  for (let i = 0; i < marks.length; i++) {
    const partner = partners[i]!
    if (partner < 0 || marks[i]!.isEscaped) continue
    const { through } = marks[partner]!
    out += paragraph.slice(end, marks[i]!.from) + blank(paragraph.slice(marks[i]!.from, through))
    end = through
    i = partner
  }
  return out + paragraph.slice(end)
}
