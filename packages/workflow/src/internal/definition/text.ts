/**
 * Reads the text of a definition: YAML, of which JSON is a part.
 */
import { Composer, type CST, type Document, Parser } from "yaml"
import type { Problem } from "../../WorkflowErrors.ts"

const maxCharacters = 1_000_000
const maxDepth = 400
/** What aliases may add; more is an attack. */
const maxAliasCount = 100

/** What a text says, or what is wrong with it. */
export const readText = (text: string): { readonly value: unknown } | { readonly problems: ReadonlyArray<Problem> } => {
  if (text.length > maxCharacters) return refused([`too large: more than ${maxCharacters} characters`])
  const tokens = [...new Parser().parse(text)]
  // What takes the tokens together calls itself for each level, until the stack is full.
  if (tokens.some(isTooDeep)) return refused([`too deep: more than ${maxDepth} levels of values in values`])
  const documents: ReadonlyArray<Document.Parsed> = [
    ...new Composer({ uniqueKeys: true }).compose(tokens, true, text.length)
  ]
  // A warning is of a tag that nobody knows, without which the value is another than what is written.
  const messages = documents
    .flatMap(({ errors, warnings }) => [...errors, ...warnings])
    .map(({ message, pos: [start] }) => `${message} at ${place(text, start)}`)
  if (documents.length > 1) messages.push(`one document is expected, and there are ${documents.length}`)
  if (messages.length > 0) return refused(messages)
  try {
    return { value: documents[0]!.toJS({ maxAliasCount }) as unknown }
  } catch (error) {
    // An alias of nothing, or too many of them.
    return refused([(error as Error).message])
  }
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
