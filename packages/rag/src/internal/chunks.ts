/**
 * Makes the chunks of a document one after the other, so that whoever has enough of
 * them can stop.
 */
import type { Effective } from "../Chunking.ts"
import type { Chunk } from "../DocumentIndex.ts"
import type { Content } from "../Documents.ts"
import type { Metadata } from "../Retriever.ts"
import { frontMatter } from "./frontMatter.ts"
import { sha256 } from "./hash.ts"
import { pack } from "./pack.ts"
import { markdownSections, type Section, textSections } from "./sections.ts"

/** The chunks of a document, in its order. */
export function* chunks(source: string, content: Content, limits: Effective): Generator<Chunk, void> {
  const front = content.format === "markdown" ? frontMatter(content.text) : { end: 0, metadata: {} }
  const marks: Metadata = { ...front.metadata, ...content.metadata }
  const title = typeof marks["title"] === "string" ? marks["title"] : ""
  const repeats = new Map<string, number>()
  const lineAt = lines(content.text)

  const chunkOf = ({ headings, page }: Section, from: number, text: string): Chunk => {
    const name = sha256(JSON.stringify([source, headings, text])).slice(0, 32)
    const repeat = repeats.get(name) ?? 0
    repeats.set(name, repeat + 1)
    return {
      id: repeat === 0 ? name : `${name}-${repeat}`,
      text,
      context: path(title === headings[0] ? headings : [title.slice(0, 200), ...headings]),
      metadata: {
        ...marks,
        ...(headings.length > 0 && { heading: path(headings) }),
        ...(page !== undefined ? { page } : content.lines !== false && { line: lineAt(from) })
      }
    }
  }
  const sections =
    content.format === "markdown"
      ? markdownSections(content.text, front.end)
      : textSections(content.text, content.format === "pages")
  for (const section of sections) {
    for (const { from, through } of pack(content.text, section.units, limits)) {
      const { start, text } = trimmed(content.text, from, through)
      if (text !== "") yield chunkOf(section, start, text)
    }
  }
}

const path = (headings: ReadonlyArray<string>): string => headings.filter((heading) => heading !== "").join(" > ")

/** A piece without the empty lines before it and the space behind it: an indent says something. */
const trimmed = (all: string, from: number, through: number): { readonly start: number; readonly text: string } => {
  const text = all.slice(from, through).trimEnd()
  const before = text.slice(0, text.length - text.trimStart().length)
  const skipped = before.lastIndexOf("\n") + 1
  return { start: from + skipped, text: text.slice(skipped) }
}

/** Counts lines, for places that are asked for in their order or not far behind the one before. */
const lines = (text: string) => {
  let at = 0
  let line = 1
  return (place: number): number => {
    for (; at > place; at--) if (text[at - 1] === "\n") line--
    for (; at < place; at++) if (text[at] === "\n") line++
    return line
  }
}
