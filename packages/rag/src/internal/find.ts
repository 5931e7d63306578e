/**
 * Searches, and keeps to what there is room for.
 */
import * as Effect from "effect/Effect"
import { RetrievalError } from "../RagErrors.ts"
import type { Numbered } from "../RagSection.ts"
import type { Passage, Query, Service } from "../Retriever.ts"
import { clip } from "./clip.ts"
import type { Plan } from "./plan.ts"
import { quoted } from "./quoted.ts"
import { sift } from "./sift.ts"
import { timely } from "./timely.ts"

/** Searches for a run, within the time that there is. For no passages at all nothing is searched. */
export const search = (
  retriever: Service,
  query: string,
  tenant: string,
  { filter, rest, settings: { minScore, searchTimeout, topK } }: Plan
): Effect.Effect<ReadonlyArray<Passage>, RetrievalError> => {
  if (topK === 0) return Effect.succeed([])
  const asked = { query, topK, minScore, tenant, ...(filter !== undefined && { filter }) }
  // What a filter leaves out takes no places, however much of it there is.
  const found = Effect.map(
    rest === undefined ? retriever.search(asked) : sift(retriever, rest, { maxCandidates: Infinity })(asked),
    (passages) => asAsked(passages, asked)
  )
  const time = typeof searchTimeout === "number" ? `${searchTimeout} ms` : searchTimeout
  return timely(
    searchTimeout,
    () => new RetrievalError({ reason: "Timeout", message: `The search took longer than ${time}.` })
  )(found)
}

/** What was asked for holds, whatever the retriever makes of it. */
const asAsked = (passages: ReadonlyArray<Passage>, { minScore, topK }: Query): ReadonlyArray<Passage> =>
  passages.length <= topK && passages.every(({ score }) => score >= minScore)
    ? passages
    : passages.filter(({ score }) => score >= minScore).slice(0, topK)

/** Numbers passages on from those numbers that are taken: from 1 if none are. */
export const numbered = (passages: ReadonlyArray<Passage>, taken = 0): ReadonlyArray<Numbered> =>
  passages.map(({ id, metadata, score, source, text }, i) => ({
    number: taken + i + 1,
    id,
    text,
    source,
    score,
    metadata
  }))

/** A piece of text that is not worth its tags. */
const tooShort = 200

/** What stands between two passages. */
export const gap = "\n\n".length

const ellipsis = " … (cut)"

/** A passage that has room, and what the model is shown of it. */
export interface Fitting {
  readonly passage: Numbered
  readonly text: string
}

/**
 * The best passages that have room, with their tags. One that has not is cut, if
 * enough of it is left, or makes room for those behind it.
 */
export const fitting = (passages: ReadonlyArray<Numbered>, maxCharacters: number): ReadonlyArray<Fitting> => {
  const kept: Array<Fitting> = []
  let room = maxCharacters
  for (const whole of passages) {
    const passage = { passage: whole, text: quoted(whole) }
    const fits = passage.text.length <= room ? passage : cut(whole, room)
    if (fits === undefined) continue
    kept.push(fits)
    room -= fits.text.length + gap
  }
  return kept
}

/** The same, without what the model is shown of them. */
export const within = (passages: ReadonlyArray<Numbered>, maxCharacters: number): ReadonlyArray<Numbered> =>
  fitting(passages, maxCharacters).map(({ passage }) => passage)

/** As much of a passage as there is room for, tags and escapes of what is kept included. */
const cut = (passage: Numbered, room: number): Fitting | undefined => {
  const first = (length: number): Numbered => ({ ...passage, text: passage.text.slice(0, length) + ellipsis })
  // More of a text is never shorter between its tags.
  let [least, most] = [0, Math.min(passage.text.length, Math.max(room, 0))]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (quoted(first(middle)).length <= room) least = middle
    else most = middle - 1
  }
  const text = clip(passage.text, least)
  if (text.length < tooShort) return undefined
  const shorter = { ...passage, text: text.trimEnd() + ellipsis }
  return { passage: shorter, text: quoted(shorter) }
}
