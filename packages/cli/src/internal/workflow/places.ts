/** Where the parts of a YAML or JSON text stand in it. */
// Not loaded where it is used: it is CommonJS, of whose names a bundle knows the default alone then.
import { isMap, isScalar, isSeq, parseDocument } from "yaml"
import { type Place, places } from "../yaml/places.ts"

/** Where what a path leads to stands: the key, or the element. Where there is none, what is around it. The text has been read without a mistake. */
export const placesOfPaths = (text: string): ((path: ReadonlyArray<string | number>) => Place) => {
  const placeOf = places(text)
  // The keys have been compared already, in less time than the library takes.
  const document = parseDocument(text, { uniqueKeys: false })
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
    return placeOf(at)
  }
}
