/**
 * Text as passages: sentences, list items and table rows, each with the
 * headings that it stands under. Reads plain text and markdown; code blocks are
 * left out, being no sentences.
 */

/** A passage of one text. */
export interface Piece {
  readonly text: string
  readonly heading: string
  readonly item: boolean
}

/** A sentence is cut after so many characters. */
const longest = 600

const heading = /^ {0,3}(#{1,6})[ \t](.*)$/
const bullet = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+/
const fence = /^\s*(?:```|~~~)/

/** Markdown's marks, taken off. */
const plain = (text: string): string =>
  text
    .replace(/!\[[^\]\n]{0,300}\]\([^()\n]{0,500}\)/g, "")
    .replace(/\[([^[\]\n]{1,300})\]\([^()\n]{0,500}\)/g, "$1")
    .replace(/\*\*|<!--.{0,300}?-->/g, "")
    .replace(/\s+/g, " ")
    .trim()

const cells = (line: string): ReadonlyArray<string> =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell))

const cut = (sentence: string): ReadonlyArray<string> => {
  if (sentence.length <= longest) return [sentence]
  const out: Array<string> = []
  for (let from = 0; from < sentence.length;) {
    const space = sentence.slice(from, from + longest).lastIndexOf(" ")
    const to = from + longest >= sentence.length ? sentence.length : from + (space > 0 ? space : longest)
    out.push(sentence.slice(from, to).trim())
    from = to
  }
  return out
}

/** The sentences of a text on one line. */
const sentences = (text: string): ReadonlyArray<string> =>
  text
    // What a sentence is from, as in "So it is. [1]", belongs to it.
    .split(/(?<=[.!?…](?:["')\]]| \[\d{1,3}\])?)\s+(?!\[\d{1,3}\])(?=[^\p{Ll}\s])|(?<=[。！？])/u)
    .flatMap(cut)
    .filter((sentence) => sentence !== "")

/** Cuts a text into its passages. */
export const split = (text: string): ReadonlyArray<Piece> => {
  const out: Array<Piece> = []
  const headings: Array<string> = []
  let block: Array<string> = []
  let item = false
  let fenced = false
  let table = false

  const under = () => headings.filter((h) => h !== undefined).join(" – ")
  const close = () => {
    if (block.length > 0) {
      const heading = under()
      for (const text of sentences(plain(block.join(" ")))) out.push({ text, heading, item })
    }
    block = []
    item = false
  }

  for (const line of text.split(/\r\n?|\n/)) {
    if (fence.test(line)) {
      close()
      fenced = !fenced
      continue
    }
    if (fenced) continue
    const title = heading.exec(line)
    const trimmed = line.trim()
    const row = trimmed.length > 1 && trimmed.startsWith("|") && trimmed.endsWith("|")
    if (title !== null) {
      close()
      headings.length = title[1]!.length - 1
      headings[title[1]!.length - 1] = plain(title[2]!).replace(/ #+$/, "")
    } else if (row) {
      close()
      // The first row names the columns and the second is a rule.
      if (table && !/^[\s|:-]+$/.test(line)) {
        const text = cells(line)
          .filter((cell) => cell !== "")
          .join(" – ")
        if (text !== "") out.push({ text, heading: under(), item: true })
      }
    } else if (trimmed === "") close()
    else if (bullet.test(line)) {
      close()
      item = true
      block.push(line.replace(bullet, ""))
    } else block.push(trimmed)
    table = row
  }
  close()
  return out
}
