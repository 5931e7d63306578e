/**
 * Metadata: here a record of anything, there a record of records, one for each
 * provider. What is not of that shape travels under a key of ours.
 */
import type { Message } from "@heddle/core"
import { isObject } from "../json.ts"
import type { ByProvider } from "../providerMetadata.ts"

/** What @effect/ai keeps beside a part of a prompt or of a response. */
export type Theirs = ByProvider

const key = "heddle"

/** Our metadata as theirs; `fromTheirs` gives it back. */
export const toTheirs = (metadata: Message.Metadata | undefined): Theirs => {
  if (metadata === undefined) return {}
  const entries = Object.entries(metadata)
  const loose = entries.filter(([name, value]) => name === key || !isObject(value))
  if (loose.length === 0) return metadata as Theirs // every value is a record
  const records = entries.filter(([name, value]) => name !== key && isObject(value))
  return Object.fromEntries([...records, [key, Object.fromEntries(loose)]]) as Theirs // as above
}

/** Their metadata as ours; none if it says nothing. */
export const fromTheirs = (theirs: Theirs | undefined): Message.Metadata | undefined => {
  if (theirs === undefined || Object.keys(theirs).length === 0) return undefined
  const loose = theirs[key]
  if (loose === undefined) return theirs
  const { [key]: _loose, ...records } = theirs
  return { ...records, ...loose }
}

/** The metadata as a field, left out where there is none. */
export const field = (metadata: Message.Metadata | undefined): { readonly metadata?: Message.Metadata } =>
  metadata === undefined ? {} : { metadata }
