/**
 * The structure of a text, as far as it is cut by it: sections, and in them units that
 * stay whole where they fit. Markdown is read line by line in one pass: of its
 * structure, only what a line begins with is needed, and the parsers that know all of
 * it take minutes for, or fail on, what is nested without end.
 */

/** A piece of a text that stays whole where it fits. The units of a section leave nothing out. */
export interface Unit {
  readonly from: number
  readonly through: number
  /** Whether it consists of sentences: the last of them may be said again. */
  readonly prose: boolean
}

/** What stands under a heading, with that heading; or a page. */
export interface Section {
  /** From the highest to its own, which may be cut. */
  readonly headings: ReadonlyArray<string>
  readonly page?: number
  readonly units: ReadonlyArray<Unit>
}

interface Line {
  readonly from: number
  readonly through: number
  /** Without what ends it. */
  readonly text: string
}

function* linesOf(text: string, start: number, end: number): Iterable<Line> {
  // Behind the end nothing is looked for: what is there may be long.
  const part = text.slice(start, end)
  for (let from = 0; from < part.length;) {
    const at = part.indexOf("\n", from)
    const through = at < 0 ? part.length : at + 1
    yield { from: start + from, through: start + through, text: part.slice(from, through).replace(/\r?\n$/, "") }
    from = through
  }
}

// -----------------------------------------------------------------------------
// plain text
// -----------------------------------------------------------------------------

/** One section of paragraphs, or one for each page. */
export function* textSections(text: string, pages: boolean): Iterable<Section> {
  if (!pages) return yield { headings: [], units: paragraphs(text, 0, text.length) }
  let page = 0
  for (let from = 0; from <= text.length;) {
    const at = text.indexOf("\f", from)
    const end = at < 0 ? text.length : at
    yield { headings: [], page: ++page, units: paragraphs(text, from, end) }
    from = end + 1
  }
}

const paragraphs = (text: string, start: number, end: number): ReadonlyArray<Unit> => {
  const units: Array<Unit> = []
  let from = start
  let blank = false
  for (const line of linesOf(text, start, end)) {
    const empty = line.text.trim() === ""
    if (blank && !empty) {
      units.push({ from, through: line.from, prose: true })
      from = line.from
    }
    blank = empty
  }
  return from < end ? [...units, { from, through: end, prose: true }] : units
}

// -----------------------------------------------------------------------------
// markdown
// -----------------------------------------------------------------------------

/** What a block is, which says where it ends. */
type Kind = "paragraph" | "item" | "quote" | "table" | "fence" | "html" | "heading"

interface Block extends Unit {
  readonly kind: Kind
  /** Of a heading. */
  readonly level: number
  readonly title: string
}

/** The sections of a document, from a place on. */
export function* markdownSections(text: string, start: number): Iterable<Section> {
  let path: ReadonlyArray<{ readonly level: number; readonly title: string }> = []
  let units: Array<Unit> = []
  let headed = false
  const section = (): Section => ({ headings: path.map(({ title }) => title), units })
  for (const block of blocksOf(text, start)) {
    if (block.kind === "heading") {
      // Headings with nothing below them but a lower one stand with what that one is above.
      if (units.length > 0 && (!headed || block.level <= (path.at(-1)?.level ?? 0))) {
        yield section()
        units = []
      }
      path = [...path.filter(({ level }) => level < block.level), { level: block.level, title: block.title }]
    }
    headed = block.kind === "heading"
    units.push({ from: block.from, through: block.through, prose: block.prose })
  }
  if (units.length > 0) yield section()
}

const item = /^([ \t]*)(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)/
const endsOfHtml: ReadonlyArray<readonly [RegExp, string]> = [
  [/^ {0,3}<!--/, "-->"],
  [/^ {0,3}<(?:script|style|pre|textarea)(?:[\s>]|$)/i, "</"]
]

/** The blocks of a document, one behind the other, with the empty lines after them. */
function* blocksOf(text: string, start: number): Iterable<Block> {
  /** What has come to its end at a line. */
  const ended: Array<Block> = []
  let open: { kind: Kind; from: number; level: number; title: string } | undefined
  let fence: { readonly mark: string; readonly indent: number } | undefined
  let htmlEnd: string | undefined
  /** How far what belongs to the item of a list is indented; 0 outside of lists. */
  let indent = 0
  let blank = true
  let before = ""

  const begin = (kind: Kind, from: number, level = 0, title = "") => {
    if (open !== undefined) ended.push(blockOf(open, from))
    open = { kind, from, level, title }
  }
  const openFence = (line: string, at: number): boolean => {
    const found = /^(`{3,}(?!`)|~{3,}(?!~))(.*)$/.exec(line.slice(at))
    if (found === null || (found[1]![0] === "`" && found[2]!.includes("`"))) return false
    fence = { mark: found[1]!, indent: at }
    return true
  }

  for (const { from, text: line } of linesOf(text, start, text.length)) {
    const rest = line.trimStart()
    const at = line.length - rest.length
    const empty = rest === ""
    const inItem = indent > 0 && at >= indent
    const closing = fence !== undefined && isClosing(rest, fence.mark)

    if (htmlEnd !== undefined) {
      if (line.includes(htmlEnd)) htmlEnd = undefined
    } else if (fence !== undefined && (closing || empty || indent === 0 || inItem)) {
      if (closing) fence = undefined
    } else if (empty) {
      // The last block goes on to the next.
    } else {
      fence = undefined
      const marker = item.exec(line)
      const html = endsOfHtml.find(([begins]) => begins.test(line))
      const heading = inItem || at > 3 ? undefined : headingOf(rest)
      const lazy = !blank && (open?.kind === "paragraph" || open?.kind === "item" || open?.kind === "quote")
      if (heading !== undefined) {
        indent = 0
        begin("heading", from, heading.level, heading.title)
      } else if (!inItem && at <= 3 && !blank && open?.kind === "paragraph" && /^(?:=+|-+)[ \t]*$/.test(rest)) {
        open = { ...open, kind: "heading", level: rest[0] === "=" ? 1 : 2, title: titleOf(text.slice(open.from, from)) }
      } else if (at <= 3 && isBreak(rest)) {
        indent = 0
        begin("paragraph", from)
      } else if (marker !== null && (at <= 3 || indent > 0)) {
        indent = at + 2
        begin("item", from)
        openFence(line, marker[0].length)
      } else if ((at <= 3 || inItem) && openFence(line, at)) {
        // Code that belongs to an item stands in it.
        if (!inItem) {
          indent = 0
          begin("fence", from)
        }
      } else if (rest.startsWith(">") && at <= 3) {
        indent = 0
        if (open?.kind !== "quote" || blank) begin("quote", from)
      } else if (html !== undefined && !inItem) {
        indent = 0
        begin("html", from)
        if (!line.slice(line.indexOf("<") + 4).includes(html[1])) htmlEnd = html[1]
      } else if (isDelimiter(rest) && open?.kind === "paragraph" && !blank && before.includes("|")) {
        open = { ...open, kind: "table" }
      } else if (inItem || lazy || (!blank && open?.kind === "table")) {
        // It goes on.
      } else {
        indent = 0
        begin("paragraph", from)
      }
    }
    blank = empty && fence === undefined && htmlEnd === undefined
    before = line
    if (ended.length > 0) yield* ended.splice(0)
  }
  if (open !== undefined) yield blockOf(open, text.length)
}

const blockOf = (open: Omit<Block, "through" | "prose">, through: number): Block => ({
  ...open,
  through,
  prose: open.kind === "paragraph" || open.kind === "item" || open.kind === "quote"
})

const isClosing = (rest: string, mark: string): boolean => {
  const line = rest.trimEnd()
  return line.startsWith(mark) && (mark[0] === "`" ? /^`+$/ : /^~+$/).test(line)
}

/** A thematic break: three or more of one mark, and nothing else. */
const isBreak = (rest: string): boolean => {
  const mark = rest[0]
  if (mark !== "-" && mark !== "*" && mark !== "_") return false
  let count = 0
  for (const letter of rest) {
    if (letter === mark) count++
    else if (letter !== " " && letter !== "\t") return false
  }
  return count >= 3
}

/** The line below the head of a table. */
const isDelimiter = (rest: string): boolean => /^[-:|][-:| \t]*$/.test(rest) && rest.includes("-") && rest.includes("|")

const headingOf = (rest: string): { readonly level: number; readonly title: string } | undefined => {
  const marks = /^#{1,6}(?=[ \t]|$)/.exec(rest)
  return marks === null ? undefined : { level: marks[0].length, title: titleOf(rest.slice(marks[0].length)) }
}

/** The text of a heading, without what it is set with; long ones are cut. */
const titleOf = (text: string): string =>
  text
    .slice(0, 400)
    .replace(/[ \t]#+[ \t]*$/, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]|<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 200)
    .replace(/[\ud800-\udbff]$/, "")
