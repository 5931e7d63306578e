/**
 * Cuts documents into chunks that can be found and read for themselves: at headings,
 * then between paragraphs, items of lists, code and tables, which stay whole where
 * they fit, then between sentences, then between words, and within a word only where
 * it has no end.
 *
 * A chunk is a piece of the text as it stands there, from the one before on with the
 * last whole sentences of that one. None goes on across a heading. Its id says its
 * source, the headings above it and its text, so that it is the same whatever was
 * changed elsewhere.
 *
 * @example
 * ```ts
 * import { Chunking } from "@heddle/rag"
 *
 * const text = "# Guide\n\nRead this first.\n\n## Opening\n\nWe open at nine.\n"
 * const chunks = Chunking.chunk("guide.md", { format: "markdown", text, metadata: {} })
 * console.log(chunks.map(({ context, metadata }) => [context, metadata["line"]]))
 * console.log(chunks[1]!.text)
 * ```
 * ```text
 * [ [ 'Guide', 1 ], [ 'Guide > Opening', 5 ] ]
 * ## Opening
 *
 * We open at nine.
 * ```
 */
import { Errors } from "@heddle/core"
import type { Chunk } from "./DocumentIndex.ts"
import type { Content } from "./Documents.ts"
import { chunks } from "./internal/chunks.ts"

/** How documents are cut. */
export interface Options {
  /** Characters of a chunk at the most, as `length` counts them; a whole number from 16. @default 1200 */
  readonly maxCharacters?: number
  /**
   * Characters at the most that a chunk has of the one before it; a whole number up to
   * half of `maxCharacters`. @default 150, or an eighth of `maxCharacters` if that is less
   */
  readonly overlap?: number
}

/** How documents are cut, with nothing left to be said. */
export type Effective = Required<Options>

/** Changes when the same document would be cut otherwise than before. */
export const version = 1

/** Fills in what nobody has said. Throws a `DefinitionError` for what makes no sense. */
export const effective = ({ maxCharacters = 1_200, ...options }: Options = {}): Effective => {
  const { overlap = Math.min(150, Math.floor(maxCharacters / 8)) } = options
  if (!Number.isInteger(maxCharacters) || maxCharacters < 16) {
    throw new Errors.DefinitionError(`maxCharacters is a whole number from 16 up, but is ${maxCharacters}.`)
  }
  if (!Number.isInteger(overlap) || overlap < 0 || overlap > maxCharacters / 2) {
    const most = Math.floor(maxCharacters / 2)
    throw new Errors.DefinitionError(
      `overlap is a whole number from 0 to ${most}, half of maxCharacters, but is ${overlap}.`
    )
  }
  return { maxCharacters, overlap }
}

/**
 * The chunks of a document, in its order. What it is marked with stands in their
 * metadata, besides:
 *
 * - `title`, if it has one of its own;
 * - `heading`: the headings above, from the highest on, as `Guide > Opening`;
 * - `line`, from 1, where the chunk begins; of a document in pages, the `page`, from 1.
 *
 * Throws a `DefinitionError` if the options make no sense.
 */
export const chunk = (source: string, content: Content, options?: Options): ReadonlyArray<Chunk> =>
  Array.from(chunks(source, content, effective(options)))
