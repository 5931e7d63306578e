/** Where the parts of a YAML or JSON text stand in it. */
import * as Effect from "effect/Effect"

/** A place in a text, from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Where what a path leads to stands: the key, or the element. Where there is none, what is around it. The text has been read without a mistake. */
export const places = (text: string): Effect.Effect<(path: ReadonlyArray<string | number>) => Place> =>
  Effect.map(
    Effect.promise(() => import("yaml")),
    ({ isMap, isScalar, isSeq, LineCounter, parseDocument }) => {
      const lineCounter = new LineCounter()
      // The keys have been compared already, in less time than the library takes.
      const document = parseDocument(text, { lineCounter, uniqueKeys: false })
      return (path) => {
        let node: unknown = document.contents
        let at = document.contents?.range[0] ?? 0
        for (const key of path) {
          if (isMap(node)) {
            const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
            if (pair === undefined) break
            // A document has ranges, which nodes that a program makes have not.
            at = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? at
            node = pair.value
          } else if (isSeq(node)) {
            node = node.items[Number(key)]
            const { range } = (node ?? {}) as { readonly range?: readonly [number, number, number] }
            if (range == null) break
            at = range[0]
          } else break
        }
        const { col, line } = lineCounter.linePos(at)
        return { line: Math.max(1, line), column: Math.max(1, col) }
      }
    }
  )
