/**
 * Makes a text one that can stand in a block of history, and back again.
 *
 * A token is broken by a backslash behind its first character, or by one more
 * where there are backslashes already. That can be undone because no token has
 * a backslash in it: a first character that is followed by backslashes and the
 * rest of a token has one too many, and no other has.
 */

/** What the head of each run begins with. */
export const runHead = "[run-"

/** A line break, as some reader may see it. */
export const lineBreak = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/
const lineBreaks = new RegExp(lineBreak, "g")
const indentedLineBreaks = new RegExp(`(${lineBreak.source})  `, "g")

/** The end of a token, character by character, in the case that `fold` gives. In a tag, white space and a slash may stand before it. */
interface Rest {
  readonly tag: boolean
  readonly characters: ReadonlyArray<string>
}

/** What must not stand in a text as it is. */
export interface Tokens {
  /** Finds the first characters of tokens, but for those followed by what no token goes on with. */
  readonly firsts: RegExp
  /** Finds those that have a backslash behind them. */
  readonly brokenFirsts: RegExp
  /** By the first character. */
  readonly rests: ReadonlyMap<string, ReadonlyArray<Rest>>
}

/** Lower case first, so that letters that share a capital are one. */
const fold = (character: string): string => character.toLowerCase().toUpperCase()

const quoted = (character: string): string => character.replace(/[\^$\\.*+?()[\]{}|/]/, String.raw`\$&`)

/** The tokens of a format. */
export const protectedTokens = (format: { readonly header: string; readonly footer: string }): Tokens => {
  const rests = new Map<string, Array<Rest>>()
  const firsts: Array<string> = []
  const brokenFirsts: Array<string> = []
  for (const token of [runHead, format.header, format.footer]) {
    if (token === "") continue
    const name = /^<\/?([^\s<>/]+)>$/.exec(token)?.[1]
    const [first = "", ...others] = name === undefined ? token : `<${name}`
    const rest = { tag: name !== undefined, characters: others.map(fold) }
    rests.set(fold(first), [...(rests.get(fold(first)) ?? []), rest])
    const between = rest.tag ? String.raw`[\\\s\u0085/]` : String.raw`\\`
    firsts.push(`${quoted(first)}(?=${between}|${quoted(others[0] ?? "")})`)
    brokenFirsts.push(String.raw`${quoted(first)}(?=\\)`)
  }
  // Whether the rest is there is for `follows` to say: a pattern for that would run out of stack on long texts.
  return {
    firsts: new RegExp(firsts.join("|"), "giu"),
    brokenFirsts: new RegExp(brokenFirsts.join("|"), "giu"),
    rests
  }
}

/** Breaks the tokens in a text, then indents its lines. */
export const escape = (tokens: Tokens, text: string): string =>
  text
    .replace(tokens.firsts, (first, at: number) =>
      endsToken(tokens, first, text, at + first.length) ? `${first}\\` : first
    )
    .replace(lineBreaks, "$&  ")

/** Gives back what `escape` was given. */
export const unescape = (tokens: Tokens, escaped: string): string => {
  const text = escaped.replace(indentedLineBreaks, "$1")
  const dropped = new Uint8Array(text.length)
  const backslashes: Array<number> = []
  for (const { 0: first, index } of text.matchAll(tokens.brokenFirsts)) backslashes.push(index + first.length)
  // From the right, because a token is there if its rest is, without the backslashes that were put in there.
  for (const at of backslashes.toReversed()) {
    const first = lastCharacter(text, at)
    if (endsToken(tokens, first, text, at, dropped)) dropped[at] = 1
  }
  let kept = ""
  let from = 0
  for (let at = dropped.indexOf(1); at >= 0; at = dropped.indexOf(1, from)) {
    kept += text.slice(from, at)
    from = at + 1
  }
  return kept + text.slice(from)
}

const lastCharacter = (text: string, end: number): string =>
  Array.from(text.slice(Math.max(0, end - 2), end)).at(-1) ?? ""

const endsToken = (tokens: Tokens, first: string, text: string, at: number, dropped?: Uint8Array): boolean =>
  tokens.rests.get(fold(first))?.some((rest) => follows(rest, text, at, dropped)) === true

/** Whether a rest follows the backslashes at a place, when what is dropped is passed over. */
const follows = ({ tag, characters }: Rest, text: string, from: number, dropped?: Uint8Array): boolean => {
  let at = from
  const peek = (): string => {
    while (dropped?.[at] === 1) at++
    const point = text.codePointAt(at)
    return point === undefined ? "" : String.fromCodePoint(point)
  }
  const passSpace = () => {
    while (/[\s\u0085]/.test(peek())) at++
  }
  while (text[at] === "\\") at++
  if (tag) {
    passSpace()
    if (peek() === "/") {
      at++
      passSpace()
    }
  }
  for (const character of characters) {
    const found = peek()
    if (found !== character && fold(found) !== character) return false
    at += found.length
  }
  return true
}
