/**
 * Which passages a filter lets through.
 */
import { whole } from "@heddle/core/glob"
import type { Filter, Metadata } from "../Retriever.ts"

/** What a filter looks at. */
interface Filtered {
  readonly collection: string
  readonly source: string
  readonly metadata: Metadata
}

/** Says whether something is let through. Without a filter everything is. */
export const accepts = ({ collection, metadata, sources }: Filter = {}): ((found: Filtered) => boolean) => {
  const globs = sources?.map((glob) => whole(glob, { matchCase: true }))
  const wanted = Object.entries(metadata ?? {})
  return (found) =>
    (collection === undefined || found.collection === collection) &&
    (globs === undefined || globs.some((matches) => matches(found.source))) &&
    wanted.every(([key, value]) => Object.hasOwn(found.metadata, key) && found.metadata[key] === value)
}
