/** Finds the code snippets of a page or of a source file's docstrings. */

export interface Snippet {
  readonly file: string
  /** The line of the first line of code, counted from 1. */
  readonly line: number
  readonly code: string
  /** Whether it is run: it prints something, and is not fenced as `ts no-run`. */
  readonly runs: boolean
  /** What it must print, if a `text`, `console` or `mermaid` block follows it. */
  readonly output: string | undefined
}

/** The `ts` snippets of a Markdown page. */
export const fromMarkdown = (file: string, text: string): ReadonlyArray<Snippet> => fromLines(file, text.split("\n"))

/** The `ts` snippets of the docstrings in a source file. */
export const fromSource = (file: string, text: string): ReadonlyArray<Snippet> => {
  let inside = false
  return fromLines(
    file,
    text.split("\n").map((line) => {
      if (/^\s*\/\*\*/.test(line)) inside = true
      const doc = inside ? line.replace(/^\s*(\/\*\*|\*(?!\/)) ?/, "").replaceAll("*\\/", "*/") : ""
      if (line.includes("*/")) inside = false
      return doc
    })
  )
}

interface Block {
  readonly language: string
  readonly flags: ReadonlyArray<string>
  readonly start: number
  readonly end: number
  readonly body: string
}

const fromLines = (file: string, lines: ReadonlyArray<string>): ReadonlyArray<Snippet> => {
  const all = blocks(lines)
  return all.flatMap((block, index) => {
    if (block.language !== "ts") return []
    const next = all[index + 1]
    const follows =
      next !== undefined &&
      ["text", "console", "mermaid"].includes(next.language) &&
      lines.slice(block.end + 1, next.start).every((line) => line.trim() === "")
    return {
      file,
      line: block.start + 2,
      code: block.body,
      runs: /console\.log/i.test(block.body) && !block.flags.includes("no-run"),
      output: follows ? next.body.trim() : undefined
    }
  })
}

/** Fenced blocks. A fence is closed by one that is at least as long, so that a block can show a fence. */
const blocks = (lines: ReadonlyArray<string>): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  for (let start = 0; start < lines.length; start++) {
    const open = /^(\s*)(`{3,})\s*([^`]*)$/.exec(lines[start] ?? "")
    if (open === null) continue
    const [, indent = "", fence = "", info = ""] = open
    const close = lines.findIndex((line, at) => at > start && new RegExp(`^\\s*\`{${fence.length},}\\s*$`).test(line))
    const end = close === -1 ? lines.length : close
    const [language = "", ...flags] = info.trim().split(/\s+/)
    const body = lines.slice(start + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    found.push({ language, flags, start, end, body: body.join("\n") })
    start = end
  }
  return found
}
