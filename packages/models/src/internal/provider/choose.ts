/**
 * Which tools of a provider an agent is given.
 */
import { whole } from "@heddle/core/glob"
import type { ToolDefinition } from "../../ToolProvider.ts"

/** Globs over whole names, or a predicate. */
export type Filter = ReadonlyArray<string> | ((definition: ToolDefinition) => boolean)

/** Says whether a tool is to be given: it is allowed, and not denied. */
export const chosen = (
  allow: Filter | undefined,
  deny: Filter | undefined
): ((definition: ToolDefinition) => boolean) => {
  const isAllowed = allow === undefined ? () => true : predicate(allow)
  const isDenied = deny === undefined ? () => false : predicate(deny)
  return (definition) => isAllowed(definition) && !isDenied(definition)
}

const predicate = (filter: Filter): ((definition: ToolDefinition) => boolean) => {
  if (typeof filter === "function") return filter
  const fits = filter.map((glob) => whole(glob, { matchCase: true }))
  return ({ name }) => fits.some((fit) => fit(name))
}
