/**
 * Names that a model's provider takes for names that it may not.
 */

const longest = 64

/**
 * A name for each of the given ones: letters, digits, `_` and `-`, 64 at most, no two
 * alike. A name that is legal is kept. Another one has `_` for what may not be, and
 * a hash of itself at its end if it is too long or would be a second time there, so
 * that the same tool has the same name in the next list.
 */
export const toolNames = (prefix: string, names: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const out = new Map<string, string>()
  const used = new Set<string>()
  const take = (name: string, as: string) => {
    used.add(as)
    out.set(name, as)
  }
  const changed: Array<readonly [name: string, legal: string]> = []
  for (const name of names) {
    const legal = prefix + (name.replace(/[^a-zA-Z0-9_-]/gu, "_") || "tool")
    if (legal === prefix + name && legal.length <= longest) take(name, legal)
    else changed.push([name, legal])
  }
  for (const [name, legal] of changed) {
    let as = legal
    for (let salt = 0; as.length > longest || used.has(as); salt++) {
      const end = `_${hash(name + "\0".repeat(salt))}`
      as = legal.slice(0, longest - end.length) + end
    }
    take(name, as)
  }
  return out
}

/** Seven characters that tell names apart: FNV-1a. */
const hash = (text: string): string => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0
  return h.toString(36).padStart(7, "0")
}
