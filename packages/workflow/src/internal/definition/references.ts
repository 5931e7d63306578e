/**
 * The references from workflow to workflow in a definition: without cycles, and
 * not so many that a small text is a huge workflow.
 */
import type { Problem } from "../../WorkflowErrors.ts"

/** One workflow of a definition. */
export interface Scope {
  nodes: number
  /** Levels of nodes. */
  depth: number
  readonly references: Array<{
    readonly to: string
    readonly path: ReadonlyArray<string | number>
    readonly depth: number
  }>
}

/** The workflows that can be referred to. A reference to another is not in here. */
export type Graph = ReadonlyMap<string, Scope>

/** With everything that is referred to in its place. */
const maxNodes = 10_000
const maxDepth = 200

interface Size {
  readonly nodes: number
  readonly depth: number
}

/** What is wrong with the references. */
export const checkReferences = (root: Scope, graph: Graph): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = []
  const sizes = new Map<string, Size>()
  const way: Array<string> = []

  const total = (scope: Scope): Size => {
    let { depth, nodes } = scope
    for (const { depth: at, path, to } of scope.references) {
      const inner = follow(to, path)
      nodes += inner.nodes
      depth = Math.max(depth, at + inner.depth)
      const message =
        nodes > maxNodes
          ? `too large: with all that is referred to, more than ${maxNodes} nodes`
          : depth > maxDepth
            ? `too deep: with all that is referred to, more than ${maxDepth} levels of nodes`
            : undefined
      if (message !== undefined) {
        problems.push({ path, message })
        // Told once, not again by all that refer to it.
        return nothing
      }
    }
    return { nodes, depth }
  }

  const follow = (to: string, path: Problem["path"]): Size => {
    const known = sizes.get(to)
    if (known !== undefined) return known
    const start = way.indexOf(to)
    if (start >= 0) {
      problems.push({ path, message: `a cycle of references: ${[...way.slice(start), to].join(" → ")}` })
      return nothing
    }
    if (way.length >= maxDepth) {
      problems.push({ path, message: `too deep: more than ${maxDepth} references one inside of the other` })
      return nothing
    }
    way.push(to)
    const size = total(graph.get(to)!)
    way.pop()
    sizes.set(to, size)
    return size
  }

  for (const name of graph.keys()) follow(name, ["workflows", name])
  total(root)
  return problems
}

const nothing: Size = { nodes: 0, depth: 0 }
