/**
 * Texts that stand between tags, as handlers quote what they have found:
 * `<passage number="1" source="a.md">`, a line break, the text.
 */

/** A text between tags. */
interface Quotation {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
}

/** The quotations of a text, and what stands around them. */
export interface Quoted {
  readonly quotations: ReadonlyArray<Quotation>
  readonly rest: string
}

const opening = /<([a-z][\w-]{0,40})((?: [\w-]{1,40}="[^"\n]{0,500}")*)>\n/gi

/** Finds quotations; not those inside of others. */
export const quotationsIn = (text: string): Quoted => {
  const quotations: Array<Quotation> = []
  /** Tags that are closed nowhere from here on. */
  const unclosed = new Set<string>()
  let rest = ""
  let from = 0
  opening.lastIndex = 0
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const tag = found[1]!
    if (unclosed.has(tag)) continue
    const end = text.indexOf(`\n</${tag}>`, opening.lastIndex - 1)
    if (end < 0) {
      unclosed.add(tag)
      continue
    }
    quotations.push({ tag, attributes: attributesOf(found[2]!), text: text.slice(opening.lastIndex, end) })
    rest += text.slice(from, found.index)
    from = opening.lastIndex = end + `\n</${tag}>`.length
  }
  return { quotations, rest: rest + text.slice(from) }
}

const attributesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(text.matchAll(/([\w-]+)="([^"]*)"/g), ([, name, value]) => [name!, unescaped(value!)]))

const unescaped = (text: string): string =>
  text.replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCharCode(Number(code)))
