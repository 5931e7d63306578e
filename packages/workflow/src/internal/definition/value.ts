/**
 * A definition before it is looked at, whatever that is and however large; and the
 * plain data that it is made to.
 */
import * as Either from "effect/Either"
import type { Problem } from "../../WorkflowErrors.ts"
import { jsonText } from "./expression.ts"

/** The keys and indices on the way to a value. */
export type Path = Problem["path"]
/** The fields of an object. */
export type Fields = Readonly<Record<string, unknown>>

const maxDepth = 200
const maxValues = 100_000

/** A copy that is plain data: what JSON has no word for is not in it, nor is what a prototype has. */
export const plainCopy = (definition: unknown): Either.Either<unknown, Problem> => {
  try {
    const problem = tooBig(definition)
    if (problem !== undefined) return Either.left(problem)
    const copy: unknown = JSON.parse(jsonText(definition, atMost(maxValues)))
    // What a `toJSON` gives was not looked at before.
    const grown = tooBig(copy)
    return grown === undefined ? Either.right(copy) : Either.left(grown)
  } catch (error) {
    if (error instanceof TooManyValues) return Either.left(tooLarge)
    // A getter, a proxy or a `toJSON` throws what it likes, or gives what is too deep for the stack.
    return Either.left({
      path: [],
      message: `cannot be read: ${error instanceof Error ? error.message : typeof error}`
    })
  }
}

class TooManyValues extends Error {}

/** Throws when it is called more often. */
const atMost = (times: number) => {
  let left = times
  return () => {
    if (--left < 0) throw new TooManyValues()
  }
}

const tooLarge: Problem = { path: [], message: `too large: more than ${maxValues} values` }

/** Looks at the size before anything else does, without a stack that could overflow. What stands in two places counts twice. */
const tooBig = (definition: unknown): Problem | undefined => {
  let values = 0
  const open: Array<{ readonly value: unknown; readonly path: Path }> = [{ value: definition, path: [] }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next
    if (++values + open.length > maxValues) return tooLarge
    if (path.length > maxDepth) return { path: path.slice(0, 6), message: `too deep: more than ${maxDepth} levels` }
    for (const [key, inner] of entries(value)) open.push({ value: inner, path: [...path, key] })
  }
  return undefined
}

const entries = (value: unknown): Iterable<readonly [string | number, unknown]> =>
  Array.isArray(value) ? value.entries() : Object.entries(fields(value))

/** The own fields of an object; of anything else, none. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** A field of an object, if it is its own. */
export const own = (value: unknown, key: string): unknown => {
  const record = fields(value)
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/**
 * What a node is called: by its name, or as the workflow that it refers to. A
 * sequence with something around it that has no name is told by what is in it;
 * one with nothing around it is called nothing.
 */
export const nameOf = (node: unknown, workflows: Fields): string | undefined => {
  const name = own(node, "name")
  if (typeof name === "string") return name
  const type = own(node, "type")
  const to = own(node, "workflow")
  if (type === "workflow" && typeof to === "string") return nameOf(own(workflows, to), {}) ?? to
  return type === "sequence" && hasAround(node) ? label(node, workflows) : undefined
}

const hasAround = (node: unknown): boolean =>
  own(node, "timeout") !== undefined || own(node, "retry") !== undefined || (own(node, "onError") ?? "fail") !== "fail"

const label = (node: unknown, workflows: Fields): string => {
  const nodes = own(node, "nodes")
  const labels = (Array.isArray(nodes) ? nodes : []).map((node) => nameOf(node, workflows) ?? label(node, workflows))
  // Alone, it would take the name of the one that is in it.
  return labels.length === 1 ? `sequence of ${labels[0]}` : labels.join(" → ")
}
