/** Finds circles in who asks whom. */

/** Whom each one asks. */
export type Graph = ReadonlyMap<string, ReadonlyArray<string>>

/** For each one that is in a circle the shortest, beginning with it: each asks the next, and the last one the first. */
export const circles = (graph: Graph): ReadonlyArray<ReadonlyArray<string>> =>
  [...graph.keys()].flatMap((start) => {
    const circle = circleOf(graph, start)
    return circle === undefined ? [] : [circle]
  })

const circleOf = (graph: Graph, start: string): ReadonlyArray<string> | undefined => {
  // How each was reached; what is closest comes first.
  const from = new Map<string, string>()
  const open = [start]
  for (const name of open) {
    for (const next of graph.get(name) ?? []) {
      if (next === start) return way(from, start, name)
      if (from.has(next)) continue
      from.set(next, name)
      open.push(next)
    }
  }
  return undefined
}

const way = (from: ReadonlyMap<string, string>, start: string, end: string): ReadonlyArray<string> => {
  const names = [end]
  for (let name = end; name !== start;) {
    name = from.get(name)!
    names.unshift(name)
  }
  return names
}
