/**
 * What is said of a name that nobody knows.
 *
 * @example
 * ```ts
 * import { unknownName } from "@heddle/core/names"
 *
 * console.log(unknownName("color", "grean", ["red", "green"]))
 * ```
 * ```text
 * unknown color "grean": there are "red", "green"; is "green" meant?
 * ```
 */

/** To list names and to compare them takes time and room, of which there could be any amount. */
const most = { listed: 20, compared: 200, letters: 50, quoted: 100 }

/** Says that there is no such name, which there are, and which may be meant. A name of more than 100 letters is cut. */
export const unknownName = (kind: string, name: string, known: ReadonlyArray<string>): string => {
  const unknown = `unknown ${kind} ${quoted(name)}`
  if (known.length === 0) return `${unknown}: there are none`
  const near = nearest(name, known.slice(0, most.compared))
  const list = known.slice(0, most.listed).map(quoted)
  const more = known.length > most.listed ? ` and ${known.length - most.listed} more` : ""
  return `${unknown}: there are ${list.join(", ")}${more}${near === undefined ? "" : `; is ${quoted(near)} meant?`}`
}

/** A name in quotes, cut where it is longer than anybody reads. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > most.quoted ? `${name.slice(0, most.quoted)}…` : name)

/** The name that looks most like this one, if one does: with at the most a third of the letters of the longer one wrong, and not all. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > most.letters) return undefined
  let best: string | undefined = undefined
  let least = Infinity
  for (const other of known) {
    if (other.length > most.letters) continue
    const allowed = Math.max(1, Math.floor(Math.max(name.length, other.length) / 3))
    const edits = distance(name.toLowerCase(), other.toLowerCase())
    if (edits < least && edits <= allowed && edits < name.length) {
      best = other
      least = edits
    }
  }
  return best
}

/** How many letters have to be put in, taken out, changed, or swapped with the next one, to get from one text to another. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = !isSame && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          next[j - 1]! + 1,
          row[j]! + 1,
          row[j - 1]! + (isSame ? 0 : 1),
          isSwapped ? before[j - 2]! + 1 : Infinity
        )
      )
    }
    before = row
    row = next
  }
  return row[b.length]!
}
