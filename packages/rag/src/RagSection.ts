/**
 * The section of the instructions that holds what was found. It has a source of its
 * own, so that a handler after the retrieval can change it or take it out.
 */
import { quoted } from "./internal/quoted.ts"
import { section } from "./internal/section.ts"
import type { Passage } from "./Retriever.ts"

export { quoted } from "./internal/quoted.ts"

/** The source of the section. */
export const source = "retrieval"

/** A passage, with the number that it is cited by. */
export interface Numbered extends Passage {
  readonly number: number
}

/** What there is to tell the model. */
export interface Found {
  /** The best first: those that had room, or that what the model has made of them is made of. */
  readonly passages: ReadonlyArray<Numbered>
  /** How many the search has found. */
  readonly total: number
  /** What the model has made of the passages before. */
  readonly notes: string | undefined
  /** Whether the search failed, so that nothing is known. */
  readonly failed: boolean
  /** Whether passages are to be cited by their numbers. */
  readonly citations: boolean
}

/** The section, unless another is asked for. */
export const text = (found: Found): string => section(found, found.passages.map(quoted))
