/**
 * Several filters as one: each is a limit, so all of them hold.
 */
import type { Filter, Metadata, Passage } from "../Retriever.ts"
import { accepts } from "./filter.ts"

/** What several filters say together. */
export interface Limits {
  /** What a retriever can be asked for. */
  readonly filter: Filter | undefined
  /** What of the filters is left to be looked at in what was found: a `Filter` has one list of globs. */
  readonly rest: ((passage: Passage) => boolean) | undefined
}

/** Lets nothing through. */
const nothing = { sources: [] } satisfies Filter

/** All of the filters, those said the most closely first. */
export const limits = (filters: ReadonlyArray<Filter>): Limits => {
  if (filters.length <= 1) return { filter: filters[0], rest: undefined }
  const collections = new Set(filters.flatMap(({ collection }) => collection ?? []))
  const metadata = new Map<string, Metadata[string]>()
  for (const [key, value] of filters.flatMap(({ metadata = {} }) => Object.entries(metadata))) {
    if (metadata.has(key) && metadata.get(key) !== value) return { filter: nothing, rest: undefined }
    metadata.set(key, value)
  }
  if (collections.size > 1) return { filter: nothing, rest: undefined }
  const [collection] = collections
  const lists = new Map(
    filters.flatMap(({ sources }) => (sources === undefined ? [] : [[JSON.stringify(sources), sources]]))
  )
  const [sources, ...others] = lists.values()
  const all = others.map((sources) => accepts({ sources }))
  return {
    filter: {
      ...(collection !== undefined && { collection }),
      ...(sources !== undefined && { sources }),
      ...(metadata.size > 0 && { metadata: Object.fromEntries(metadata) })
    },
    rest:
      all.length === 0
        ? undefined
        : ({ metadata, source }) => all.every((isAccepted) => isAccepted({ collection: "", metadata, source }))
  }
}
