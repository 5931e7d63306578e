/**
 * Reads YAML in which nothing is wrong, several times as fast as the library that knows
 * where things stand, which takes half a second for a few hundred files.
 */
import { CORE_SCHEMA, load } from "js-yaml"

/** Tabs, marks of documents, anchors, aliases and tags are left to the other library, and what only looks like one. */
const special = /\t|---|\.\.\.|(?:^|[\s[{,])(?:[&*!][^\s"']|<<\s*:)/m

/** What a text says; `undefined` if something may be wrong with it, or it is not simple. */
export const readQuickly = (text: string): { readonly value: unknown } | undefined => {
  if (special.test(text)) return undefined
  try {
    return { value: load(text, { schema: CORE_SCHEMA }) ?? null }
  } catch {
    return undefined
  }
}
