/**
 * Values that earlier tools have found and that a parameter of another tool may
 * take: the path in a search's hit, the id in a list's entry.
 */
import type { Message } from "@heddle/core"
import { stem, terms, words } from "@heddle/core/words"
import { canonical, isObject } from "./json.ts"
import { paths } from "./mentions.ts"

interface Candidate {
  readonly value: string
  readonly relevance: number
}

const pathNames = new Set("path file filename filepath document doc page uri url location source".split(" ").map(stem))

/** Whether a parameter of this name holds a path or an address. */
export const isPathName = (name: string) => words(name).some((word) => pathNames.has(stem(word)))
const same = (a: string, b: string) => {
  const [x, y] = [words(a).map(stem).join(" "), words(b).map(stem).join(" ")]
  return x === y || (x !== "" && (y.endsWith(` ${x}`) || x.endsWith(` ${y}`)))
}

const longestContext = 2_000

/** The values for a parameter, those that stand nearest to the question's words first. */
export const found = (
  name: string,
  question: string,
  calls: ReadonlyArray<Message.ToolCall>
): ReadonlyArray<string> => {
  const asked = new Set(terms(question))
  const pathLike = isPathName(name)
  const out: Array<Candidate> = []
  let basis = 0

  const take = (value: string, context: string) => {
    if (value === "" || value.length > 500) return
    const matched = new Set(
      words(context.slice(0, longestContext))
        .map(stem)
        .filter((term) => asked.has(term))
    ).size
    out.push({ value, relevance: matched + basis })
  }
  const walk = (value: unknown, key: string, depth: number): void => {
    if (depth > 10 || out.length > 1_000) return
    if (typeof value === "string") {
      if (same(key, name)) take(value, value)
      else if (pathLike)
        for (const line of value.slice(0, 100_000).split("\n")) for (const path of paths(line)) take(path, line)
    } else if (Array.isArray(value)) {
      for (const item of value) walk(item, key, depth + 1)
    } else if (isObject(value)) {
      const context = canonical(value)
      for (const [field, inner] of Object.entries(value)) {
        const fits = same(field, name) || (pathLike && isPathName(field))
        if (fits && typeof inner === "string") take(inner, context)
        else if (typeof inner === "object" && inner !== null) walk(inner, field, depth + 1)
      }
    }
  }
  for (const call of calls) {
    if (call.outcome._tag !== "Succeeded") continue
    // What came of a search for the question's words is near to them already.
    basis = terms(canonical(call.arguments)).some((term) => asked.has(term)) ? 0.5 : 0
    walk(call.outcome.result, "", 0)
  }
  const ranked = out.filter(({ relevance }) => relevance > 0).toSorted((a, b) => b.relevance - a.relevance)
  return Array.from(new Set(ranked.map(({ value }) => value)))
}
