/**
 * HTML as markdown, as far as chunks need it: headings, paragraphs, items of lists,
 * code and tables. What is not for readers is dropped. One pass, whatever the nesting.
 */
import type { Parser, ParserOptions } from "htmlparser2"

/** What htmlparser2 tells of what it reads. */
type Handler = NonNullable<ConstructorParameters<typeof Parser>[0]>

/** Makes a parser that tells a handler of what it reads. */
export type MakeParser = (handler: Partial<Handler>, options?: ParserOptions) => Pick<Parser, "write" | "end">

const dropped = new Set(["script", "style", "noscript", "template", "svg", "math", "iframe", "object", "nav"])

const blocks = new Set(
  (
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html " +
    "legend main menu ol optgroup option p section summary table tbody tfoot thead ul"
  ).split(" ")
)

/** No page is nested like this, and a parser takes the longer the deeper it is. */
const deepest = 5_000

/** The text and the title of a page. Throws if it is nested too deeply. */
export const markdownOfHtml = (parser: MakeParser, html: string): { readonly text: string; readonly title: string } => {
  const written: Array<string> = []
  let line = ""
  let title = ""
  let inTitle = false
  let depth = 0
  let hidden = 0
  let code = 0
  let cells: Array<string> | undefined
  let rows = 0
  /** What the next block is marked with. */
  let mark = ""

  // Space is one space, but where it is code.
  const flush = () => {
    const text = code > 0 ? line : line.replace(/\s+/g, " ").trim()
    line = ""
    return text
  }
  const block = (prefix = "") => {
    if (cells !== undefined) return void (line += " ")
    const text = flush()
    if (text === "") return
    // What would be taken for a heading is none.
    const plain = prefix === "" && mark === "" ? text.replace(/^(?=#|```|~~~|---|===)/, "\\") : text
    written.push(`${prefix === "" ? mark : prefix}${plain}`)
    mark = ""
  }

  const cell = () => flush().replace(/\s+/g, " ").replaceAll("|", "\\|")

  const handler: Partial<Handler> = {
    onopentag: (name) => {
      if (++depth > deepest) throw new Error(`it is nested more than ${deepest} deep.`)
      if (name === "title") inTitle = hidden === 0 && title === ""
      if (dropped.has(name)) hidden++
      if (hidden > 0) return
      if (name === "br") line += code > 0 ? "\n" : " "
      else if (name === "pre") {
        block()
        code++
      } else if (name === "tr") {
        cells = undefined
        block()
        cells = []
      } else if (name === "td" || name === "th") {
        if (cells === undefined) block()
      } else if (name === "table") {
        cells = undefined
        block()
        rows = 0
      } else if (/^h[1-6]$/.test(name) || name === "li" || blocks.has(name)) {
        block()
        if (name === "li") mark = "- "
      }
    },
    ontext: (text) => {
      if (inTitle) title += text
      else if (hidden === 0) line += text
    },
    onclosetag: (name) => {
      depth--
      if (name === "title") inTitle = false
      if (dropped.has(name)) hidden--
      if (hidden > 0) return
      if (name === "pre" && code > 0) {
        const text = flush().replace(/^\n/, "").trimEnd()
        code--
        if (text !== "") written.push(fenced(text))
        mark = ""
      } else if (name === "td" || name === "th") {
        // A cell that has a table in it is no cell of one.
        if (cells === undefined) block()
        else cells.push(cell())
      } else if (name === "tr") {
        if (cells === undefined) return block()
        const row = line.trim() === "" ? cells : [...cells, cell()]
        cells = undefined
        line = ""
        if (row.every((text) => text === "")) return
        // The rows of a table stand in lines, one under the other.
        const text = `| ${row.join(" | ")} |`
        if (rows++ === 0) written.push(`${text}\n|${" --- |".repeat(row.length)}`)
        else written.push(`${written.pop() ?? ""}\n${text}`)
      } else if (/^h[1-6]$/.test(name)) block(`${"#".repeat(Number(name[1]))} `)
      else if (name === "li" || blocks.has(name)) {
        block()
        if (name === "li") mark = ""
      }
    }
  }
  const reader = parser(handler)
  reader.write(html)
  reader.end()
  block()
  return { text: written.join("\n\n"), title: title.replace(/\s+/g, " ").trim() }
}

/** Code in a fence that is longer than those in it. */
const fenced = (code: string): string => {
  const fence = "`".repeat((code.match(/`{3,}/g) ?? []).reduce((longest, one) => Math.max(longest, one.length + 1), 3))
  return `${fence}\n${code}\n${fence}`
}
