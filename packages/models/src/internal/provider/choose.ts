/**
 * Which tools of a provider an agent is given.
 */
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
  const globs = filter.map((pattern) => Array.from(pattern))
  return ({ name }) => {
    const characters = Array.from(name)
    return globs.some((pattern) => matches(pattern, characters))
  }
}

/** Whether all of a name fits a pattern. Takes a time of pattern times name at the most: only the last star is ever tried again. */
const matches = (pattern: ReadonlyArray<string>, name: ReadonlyArray<string>): boolean => {
  let p = 0
  let n = 0
  let star = -1
  let from = 0
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++
      from = n
    } else if (pattern[p] === "?" || pattern[p] === name[n]) {
      p++
      n++
    } else if (star >= 0) {
      p = star + 1
      n = ++from
    } else return false
  }
  while (pattern[p] === "*") p++
  return p === pattern.length
}
