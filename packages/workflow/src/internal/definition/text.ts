/**
 * Reads the text of a definition: YAML, of which JSON is a part.
 */
import { Composer, type CST, type Document, isScalar, Parser, visit } from "yaml"
import type { Problem } from "../../WorkflowErrors.ts"

const maxCharacters = 100_000
const maxDepth = 400
/** What aliases may add; more is an attack. */
const maxAliasCount = 100
/** To find what one alias stands for, all that stands before it is gone through. */
const maxAliases = 500
/** Each is an error of the reader, with its line and column: a text of nothing but mistakes has as many as letters. */
const maxProblems = 20

/** What a text says, or what is wrong with it. */
export const readText = (text: string): { readonly value: unknown } | { readonly problems: ReadonlyArray<Problem> } => {
  if (text.length > maxCharacters) return refused([`too large: more than ${maxCharacters} characters`])
  const tokens = [...new Parser().parse(text)]
  // What takes the tokens together calls itself for each level, until the stack is full.
  if (tokens.some(isTooDeep)) return refused([`too deep: more than ${maxDepth} levels of values in values`])
  const read = compose(tokens, text.length)
  const aliases = read.documents.reduce((sum, document) => sum + aliasesIn(document), 0)
  if (aliases > maxAliases) return refused([`too many aliases: more than ${maxAliases}`])
  const mistakes = [...read.mistakes, ...read.documents.flatMap(repeatedKeys)].toSorted((a, b) => a.at - b.at)
  const messages = mistakes.slice(0, maxProblems).map(({ at, message }) => `${message} at ${place(text, at)}`)
  if (read.more) messages.push("and more, which are not looked for")
  else if (mistakes.length > maxProblems) messages.push(`and ${mistakes.length - maxProblems} more`)
  const { documents } = read
  if (documents.length > 1) messages.push(`one document is expected, and there are ${documents.length}`)
  if (messages.length > 0) return refused(messages)
  try {
    return { value: documents[0]!.toJS({ maxAliasCount }) as unknown }
  } catch (error) {
    // An alias of nothing, or too many of them.
    return refused([(error as Error).message])
  }
}

interface Mistake {
  readonly message: string
  readonly at: number
}

interface Composed {
  readonly documents: ReadonlyArray<Document.Parsed>
  readonly mistakes: ReadonlyArray<Mistake>
  /** Whether there are more mistakes than those. */
  readonly more: boolean
}

type Report = (source: unknown, code: string, message: string, warning?: boolean) => void

/** Composes documents of tokens, until there are too many mistakes. */
const compose = (tokens: ReadonlyArray<CST.Token>, length: number): Composed => {
  const documents: Array<Document.Parsed> = []
  const mistakes: Array<Mistake> = []
  // The library compares each key with all the others to see whether it is unique.
  const composer = new Composer({ uniqueKeys: false })
  // The library has no bound of its own, and does not make this public. A warning is of a tag that nobody
  // knows, without which the value is another than what is written.
  const reporting = composer as unknown as { onError: Report }
  reporting.onError = (source, _, message) => {
    if (mistakes.length >= maxProblems) throw new TooManyMistakes()
    mistakes.push({ message, at: offsetOf(source) })
  }
  try {
    for (const document of composer.compose(upToMost(tokens), true, length)) documents.push(document)
  } catch (error) {
    if (error instanceof TooManyMistakes) return { documents: [], mistakes, more: true }
    throw error
  }
  // What the composer says of a document without asking anybody.
  const others = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])
  return {
    documents,
    mistakes: [...mistakes, ...others.map(({ message, pos }) => ({ message, at: pos[0] }))],
    more: false
  }
}

/** Without what comes after too many tokens that are mistakes already. */
const upToMost = (tokens: ReadonlyArray<CST.Token>): Iterable<CST.Token> => {
  let wrong = 0
  const end = tokens.findIndex(({ type }) => type === "error" && ++wrong > maxProblems + 1)
  return end < 0 ? tokens : tokens.slice(0, end)
}

class TooManyMistakes extends Error {}

/** A source is an offset, a range or something that has an offset. */
const offsetOf = (source: unknown): number => {
  if (typeof source === "number") return source
  return Number(Array.isArray(source) ? source[0] : (source as { readonly offset: number }).offset)
}

const aliasesIn = (document: Document.Parsed): number => {
  let aliases = 0
  visit(document, { Alias: () => void aliases++ })
  return aliases
}

/** Keys of one map that would be one key of an object. */
const repeatedKeys = (document: Document.Parsed): ReadonlyArray<Mistake> => {
  const repeated: Array<Mistake> = []
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const name = String(key.value ?? "")
        if (seen.has(name)) repeated.push({ message: "Map keys must be unique", at: key.range?.[0] ?? 0 })
        seen.add(name)
      }
    }
  })
  return repeated
}

const refused = (messages: ReadonlyArray<string>) => ({ problems: messages.map((message) => ({ path: [], message })) })

const place = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split("\n")
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`
}

/** Whether values are nested deeper than they may be, without a stack that could overflow. */
const isTooDeep = (token: CST.Token): boolean => {
  const open: Array<{ readonly token: CST.Token; readonly depth: number }> = [{ token, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, token } = next
    if (depth > maxDepth) return true
    for (const inner of inside(token)) if (inner) open.push({ token: inner, depth: depth + 1 })
  }
  return false
}

const inside = (token: CST.Token): ReadonlyArray<CST.Token | null | undefined> =>
  token.type === "document"
    ? [token.value]
    : "items" in token
      ? token.items.flatMap(({ key, value }) => [key, value])
      : []
