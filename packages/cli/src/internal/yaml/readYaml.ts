/**
 * Reads YAML as plain data that remembers where it stands. Whatever the text is, this
 * ends soon and does not throw.
 */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  type Node,
  Parser
} from "yaml"
import { readQuickly } from "./quick.ts"

/** What is wrong with a text, and where: an offset in it. */
interface Mistake {
  readonly at: number
  readonly message: string
}

/** The keys and indices on the way to a value. */
export type Path = ReadonlyArray<PropertyKey>

/** What was read. */
export interface Yaml {
  /** Plain data: objects, lists, texts, numbers, `true`, `false` and `null`. `undefined` if it could not be read. */
  readonly value: unknown
  readonly mistakes: ReadonlyArray<Mistake>
  /** The offset of a key or of its value; if it is not there, that of the closest thing around it. */
  readonly offsetOf: (path: Path, part: "key" | "value") => number
}

const most = {
  characters: 50_000,
  /** Levels of values in values. */
  depth: 100,
  /** To find what one alias stands for, all that stands before it is gone through. */
  aliases: 100,
  /** Values, those of aliases wherever they are used. */
  values: 3000,
  /** A text of nothing but mistakes has as many as letters. */
  mistakes: 20,
  /** Of a message of the library. */
  letters: 200
}

/**
 * Reads one document of YAML. A text that says nothing is `null`. Where it turns out that
 * something is wrong with the text, `thoroughly` tells of all of it.
 */
export const readYaml = (text: string, how: "quickly" | "thoroughly"): Yaml => {
  if (text.length > most.characters) return refused(`too large: more than ${most.characters} characters of YAML`)
  const quick = how === "quickly" ? readQuickly(text) : undefined
  if (quick === undefined) return readAny(text)
  // Where things stand is asked for only when there is something to be told.
  let whole: Yaml | undefined
  return { ...quick, mistakes: [], offsetOf: (path, part) => (whole ??= readAny(text)).offsetOf(path, part) }
}

/** Reads it with the library. */
export const readAny = (text: string): Yaml => {
  const tokens = [...new Parser().parse(text)]
  // What takes the tokens together calls itself for each level, until the stack is full.
  const deep = tokens.map(tooDeep).find((at) => at !== undefined)
  if (deep !== undefined) return refused(`too deep: more than ${most.depth} levels of values in values`, deep)
  const { documents, mistakes, more } = compose(tokens, text)
  const [document] = documents
  const found = mistakes.toSorted((a, b) => a.at - b.at)
  if (more) found.push({ at: found.at(-1)!.at, message: "there is more, which is not looked for" })
  if (documents.length > 1) {
    found.push({ at: documents[1]!.range[0], message: `one document is expected, and there are ${documents.length}` })
  }
  if (document === undefined || found.length > 0) return { ...refused(""), mistakes: found }
  const reading = new Reading()
  const value = reading.value(document.contents)
  return {
    value: reading.isWhole ? value : undefined,
    mistakes: reading.mistakes,
    offsetOf: (path, part) => offsetOf(document, path, part)
  }
}

const refused = (message: string, at = 0): Yaml => ({
  value: undefined,
  mistakes: [{ at, message }],
  offsetOf: () => 0
})

// -----------------------------------------------------------------------------
// documents of tokens
// -----------------------------------------------------------------------------

interface Composed {
  readonly documents: ReadonlyArray<Document.Parsed>
  readonly mistakes: ReadonlyArray<Mistake>
  readonly more: boolean
}

const compose = (tokens: ReadonlyArray<CST.Token>, text: string): Composed => {
  // The library compares each key with all the others to see whether it is unique.
  const composer = new Composer({ uniqueKeys: false, logLevel: "silent" })
  const documents = [...composer.compose(upToMost(tokens), true, text.length)]
  // A warning is of a tag that nobody knows, without which the value is another than what is written.
  const all = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])
  const mistakes = all.slice(0, most.mistakes).map(({ code, message, pos }) => ({
    at: Math.min(pos[0], text.length),
    message: `${unquoted(message)}${hints[code] === undefined ? "" : ` (${hints[code]})`}`
  }))
  return { documents, mistakes, more: all.length > mistakes.length }
}

/** Some messages quote what is written, however long it is, and it may be secret. */
const unquoted = (message: string): string => message.replace(/: "[^]*$/, "").slice(0, most.letters)

const hints: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: "a text that begins so has to be in quotes",
  BLOCK_AS_IMPLICIT_KEY: 'a text with ": " in it has to be in quotes',
  TAB_AS_INDENT: "spaces are used to indent"
}

/** Without what comes after too many tokens that are mistakes already. */
const upToMost = (tokens: ReadonlyArray<CST.Token>): Iterable<CST.Token> => {
  let wrong = 0
  const end = tokens.findIndex(({ type }) => type === "error" && ++wrong > most.mistakes + 1)
  return end < 0 ? tokens : tokens.slice(0, end)
}

/** Where values are nested deeper than they may be, found without a stack that could overflow. */
const tooDeep = (token: CST.Token): number | undefined => {
  const open: Array<{ readonly token: CST.Token; readonly depth: number }> = [{ token, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, token } = next
    if (depth > most.depth) return token.offset
    for (const inner of inside(token)) if (inner) open.push({ token: inner, depth: depth + 1 })
  }
  return undefined
}

const inside = (token: CST.Token): ReadonlyArray<CST.Token | null | undefined> =>
  token.type === "document"
    ? [token.value]
    : "items" in token
      ? token.items.flatMap(({ key, value }) => [key, value])
      : []

// -----------------------------------------------------------------------------
// data of documents
// -----------------------------------------------------------------------------

/** Makes plain data of a document, and finds keys that cannot be those of an object. */
class Reading {
  readonly mistakes: Array<Mistake> = []
  isWhole = true
  private readonly anchors = new Map<string, Node>()
  private values = 0
  private depth = 0
  private aliases = 0

  value(node: Node | null | undefined): unknown {
    if (++this.values > most.values) return this.stop(node, `too large: more than ${most.values} values`)
    if (isAlias(node)) return this.alias(node)
    if (isScalar(node)) {
      this.remember(node)
      return typeof node.value === "bigint" || node.value instanceof Date ? node.source : (node.value ?? null)
    }
    if (!isCollection(node)) return null
    // Aliases make it deeper than the text is.
    if (++this.depth > most.depth)
      return this.stop(node, `too deep: more than ${most.depth} levels of values in values`)
    const value = isMap(node) ? this.map(node) : node.items.map((item) => this.value(item as Node))
    this.depth--
    // Not before: what is inside of it cannot be it.
    this.remember(node)
    return value
  }

  private remember(node: Node): void {
    if ("anchor" in node && node.anchor !== undefined) this.anchors.set(node.anchor, node)
  }

  private alias(node: Alias): unknown {
    const target = this.anchors.get(node.source)
    if (target === undefined) return this.stop(node, `*${node.source} stands for nothing that is before it`)
    if (++this.aliases > most.aliases) return this.stop(node, `too many aliases: more than ${most.aliases}`)
    return this.isWhole ? this.value(target) : undefined
  }

  private map({
    items
  }: {
    readonly items: ReadonlyArray<{ readonly key: unknown; readonly value: unknown }>
  }): unknown {
    const entries = new Map<string, unknown>()
    for (const { key, value } of items) {
      // A parsed document has nodes alone.
      const at = (key as Node | null)?.range?.[0] ?? 0
      const name = isScalar(key) ? String(key.value ?? "") : undefined
      if (name === undefined || name === "") this.mistakes.push({ at, message: "expected a text as key" })
      else if (this.mistakes.length >= most.mistakes)
        return this.stop(key as Node, "there is more, which is not looked for")
      else if (name === "__proto__") this.mistakes.push({ at, message: "__proto__ cannot be a key" })
      else {
        if (entries.has(name)) this.mistakes.push({ at, message: `the key ${JSON.stringify(name)} is there twice` })
        entries.set(name, this.value(value as Node | null))
      }
    }
    return Object.fromEntries(entries)
  }

  private stop(node: Node | null | undefined, message: string): undefined {
    if (this.isWhole) this.mistakes.push({ at: node?.range?.[0] ?? 0, message })
    this.isWhole = false
    return undefined
  }
}

const offsetOf = (document: Document.Parsed, path: Path, part: "key" | "value"): number => {
  let node: unknown = document.contents
  let at = document.contents?.range?.[0] ?? document.range[0]
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document)
    if (!isCollection(node)) return at
    let key: unknown
    let value: unknown
    if (isMap(node)) {
      // The last one counts, as in the data.
      const pair = node.items.findLast(({ key }) => isScalar(key) && String(key.value ?? "") === String(step))
      if (pair === undefined) return at
      ;({ key, value } = pair)
    } else {
      value = node.items[Number(step)]
      if (value === undefined) return at
    }
    const isLast = i === path.length - 1
    // A value that is left out stands nowhere.
    const isThere =
      isAlias(value) || isCollection(value) || (isScalar(value) && (value.source !== "" || value.type !== "PLAIN"))
    const wanted = (isLast && part === "key" ? key : undefined) ?? (isThere ? value : (key ?? value))
    at = (wanted as Node | null | undefined)?.range?.[0] ?? at
    node = value
  }
  return at
}
