/**
 * Searches, and keeps to what there is room for.
 */
import type * as Effect from "effect/Effect"
import { RetrievalError } from "../RagErrors.ts"
import { type Numbered, quoted } from "../RagSection.ts"
import type { Effective } from "../RagSettings.ts"
import type { Filter, Passage, Service } from "../Retriever.ts"
import { timely } from "./timely.ts"

/** Searches for a run, within the time that there is. */
export const search = (
  retriever: Service,
  query: string,
  tenant: string,
  { minScore, searchTimeout, topK }: Effective,
  filter: Filter | undefined
): Effect.Effect<ReadonlyArray<Passage>, RetrievalError> =>
  retriever
    .search({ query, topK, minScore, tenant, ...(filter !== undefined && { filter }) })
    .pipe(
      timely(
        searchTimeout,
        () => new RetrievalError({ reason: "Timeout", message: `The search took longer than ${searchTimeout}.` })
      )
    )

/** Numbers passages from 1. */
export const numbered = (passages: ReadonlyArray<Passage>): ReadonlyArray<Numbered> =>
  passages.map((passage, i) => ({ ...passage, number: i + 1 }))

/** A piece of text that is not worth its tags. */
const tooShort = 200

/** What stands between two passages. */
const gap = "\n\n".length

const ellipsis = " … (cut)"

/** The first passages that have room, with their tags. One that has not is cut, if enough of it is left. */
export const within = (passages: ReadonlyArray<Numbered>, maxCharacters: number): ReadonlyArray<Numbered> => {
  const kept: Array<Numbered> = []
  let room = maxCharacters
  for (const passage of passages) {
    const length = quoted(passage).length
    if (length <= room) {
      kept.push(passage)
      room -= length + gap
      continue
    }
    // Taking tags apart makes a text longer: what is cut by that much fits in any case.
    const tags = length - passage.text.length
    const left = room - tags - ellipsis.length
    if (left >= tooShort) kept.push({ ...passage, text: passage.text.slice(0, left).trimEnd() + ellipsis })
    break
  }
  return kept
}
