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
    wanted.every(([key, value]) => Object.hasOwn(found.metadata, key) && isSame(found.metadata[key], value))
}

/** `NaN` is what it is; 0 and -0 are one number. */
const isSame = (a: unknown, b: unknown): boolean => a === b || Object.is(a, b)
