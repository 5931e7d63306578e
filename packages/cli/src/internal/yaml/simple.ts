/**
 * Reads the YAML that most files have, several times as fast as the library, which
 * takes half a second for a few hundred files. Whatever is not as simple as it looks
 * is left to the library: other than this reads it there is nothing that this reads.
 *
 * Simple are maps and lists over lines, and within one line; texts without quotes that
 * begin with a letter (or as options and paths do), texts in quotes without escapes, whole numbers, true and false.
 */

/** What a text says; `undefined` if it is not simple. */
export const readSimple = (text: string): { readonly value: unknown } | undefined => {
  const lines: Array<Line> = []
  for (const line of text.split(/\r?\n/)) {
    // Tabs, and what may end a line or be no character.
    if (/[^ -~\u00a1-\u2027\u2030-\ud7ff\ue000-\ufefe]/.test(line)) return undefined
    const content = line.trimStart()
    if (content === "" || content.startsWith("#")) continue
    lines.push({ indent: line.length - content.length, content: content.trimEnd() })
  }
  if (lines.length === 0) return { value: null }
  // The library counts what it makes.
  if (lines.length > maxLines) return undefined
  const reader = new Reader(lines)
  const value = reader.block(lines[0]!.indent)
  return value === complex || !reader.isAtEnd ? undefined : { value }
}

interface Line {
  readonly indent: number
  readonly content: string
}

/** It is not simple. */
const complex: unique symbol = Symbol("complex")
type Value = unknown

const entry = /^([A-Za-z][A-Za-z0-9_-]*):(?: +(.*))?$/
const maxDepth = 20
const maxLines = 500

class Reader {
  private readonly lines: Array<Line>
  private at = 0
  private depth = 0

  constructor(lines: Array<Line>) {
    this.lines = lines
  }

  get isAtEnd(): boolean {
    return this.at === this.lines.length
  }

  /** A map or a list whose lines are indented so far. */
  block(indent: number): Value {
    if (++this.depth > maxDepth) return complex
    const value = this.isItem(indent) ? this.list(indent) : this.map(indent)
    this.depth--
    return value
  }

  private isItem(indent: number): boolean {
    const line = this.lines[this.at]
    return line !== undefined && line.indent === indent && /^-(?: |$)/.test(line.content)
  }

  private list(indent: number): Value {
    const items: Array<Value> = []
    while (this.isItem(indent)) {
      const content = this.lines[this.at]!.content.slice(2)
      let item: Value
      if (entry.test(content)) {
        // As if the key stood on a line of its own.
        this.lines[this.at] = { indent: indent + 2, content }
        item = this.block(indent + 2)
      } else {
        this.at++
        item = this.isDeeper(indent) ? complex : scalar(content)
      }
      if (item === complex) return complex
      items.push(item)
    }
    return this.isDeeper(indent) ? complex : items
  }

  private map(indent: number): Value {
    const entries = new Map<string, Value>()
    for (let line = this.lines[this.at]; line !== undefined && line.indent === indent; line = this.lines[this.at]) {
      const [, key, text = ""] = entry.exec(line.content) ?? []
      if (key === undefined || key.length > 100 || entries.has(key) || isWord(key)) return complex
      this.at++
      const value = text === "" ? this.below(indent) : this.isDeeper(indent) ? complex : scalar(text)
      if (value === complex) return complex
      entries.set(key, value)
    }
    return this.isDeeper(indent) ? complex : Object.fromEntries(entries)
  }

  /** What stands below a key. */
  private below(indent: number): Value {
    if (this.isDeeper(indent)) return this.block(this.lines[this.at]!.indent)
    return this.isItem(indent) ? this.block(indent) : null
  }

  private isDeeper(indent: number): boolean {
    const line = this.lines[this.at]
    return line !== undefined && line.indent > indent
  }
}

const isWord = (text: string): boolean => /^(?:null|true|false)$/i.test(text)

/** What stands on one line. */
const scalar = (text: string): Value => {
  if (text.startsWith("[") || text.startsWith("{")) {
    const [value, rest] = flow(text, 0)
    return rest === "" ? value : complex
  }
  const quotes = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text)
  if (quotes !== null) return quotes[1] ?? quotes[2]
  return / #|: |:$/.test(text) ? complex : plain(text)
}

const plain = (text: string): Value => {
  if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return Number(text)
  if (text === "true") return true
  if (text === "false") return false
  return /^(?:-{0,2}[A-Za-z]|\.{0,2}\/[A-Za-z])/.test(text) && !isWord(text) ? text : complex
}

/** A value within brackets, and what stands behind it. */
const flow = (text: string, depth: number): readonly [Value, string] => {
  const bad = [complex, text] as const
  if (depth > maxDepth) return bad
  const quotes = /^(?:"([^"\\]*)"|'([^']*)') *(?=[,\]}])/.exec(text)
  if (quotes !== null) return [quotes[1] ?? quotes[2], text.slice(quotes[0].length)]
  if (!text.startsWith("[") && !text.startsWith("{")) {
    const word = /^[A-Za-z0-9./-][A-Za-z0-9_./ *-]*(?=[,\]}])/.exec(text)
    return word === null ? bad : [plain(word[0].trimEnd()), text.slice(word[0].length)]
  }
  const isMap = text.startsWith("{")
  const end = isMap ? "}" : "]"
  const entries = new Map<string | number, Value>()
  let rest = text.slice(1).trimStart()
  while (!rest.startsWith(end)) {
    const key = isMap ? /^([A-Za-z][A-Za-z0-9_-]*): +/.exec(rest) : undefined
    if (key === null || (key && (entries.has(key[1]!) || isWord(key[1]!)))) return bad
    const [value, after] = flow(rest.slice(key?.[0].length ?? 0), depth + 1)
    if (value === complex) return bad
    entries.set(key?.[1] ?? entries.size, value)
    rest = after.trimStart()
    if (rest.startsWith(",")) rest = rest.slice(1).trimStart()
    else if (!rest.startsWith(end)) return bad
  }
  return [isMap ? Object.fromEntries(entries) : [...entries.values()], rest.slice(1)]
}
