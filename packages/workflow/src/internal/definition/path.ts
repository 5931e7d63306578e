/**
 * How the places, the names and the mistakes of a definition are written.
 */
import { describe } from "../describe.ts"

/** A path as code would have it: `node.nodes[2].agent`. */
export const pathText = (path: ReadonlyArray<string | number>): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === "" ? key : `${text}.${key}`
  }, "")

/** To list names and to compare them takes time, of which a definition full of mistakes could want any amount. */
const most = { problems: 100, listed: 20, compared: 200, letters: 50 }

/** Says that there is no such name, which there are, and which may be meant. `before`: how many problems were told before. */
export const unknownName = (kind: string, name: string, known: () => ReadonlyArray<string>, before: number): string => {
  const unknown = `unknown ${kind} ${JSON.stringify(name)}`
  if (before >= most.problems) return unknown
  const names = known()
  if (names.length === 0) return `${unknown}: there are none`
  const near = nearest(name, names.slice(0, most.compared))
  const list = names.slice(0, most.listed).map((name) => JSON.stringify(name))
  const more = names.length > most.listed ? ` and ${names.length - most.listed} more` : ""
  return `${unknown}: there are ${list.join(", ")}${more}${near === undefined ? "" : `; is ${JSON.stringify(near)} meant?`}`
}

/** The name that looks most like this one, if one does. */
const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > most.letters) return undefined
  let best: string | undefined = undefined
  let least = Math.ceil(name.length / 3) + 1
  for (const other of known) {
    const edits = other.length > most.letters ? Infinity : distance(name.toLowerCase(), other.toLowerCase())
    if (edits < least) {
      best = other
      least = edits
    }
  }
  return best
}

/** How many letters have to be put in, taken out or changed to get from one text to another. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}

/** What an error says, on one line: the errors of the expression library draw an arrow below the expression otherwise. */
export const summary = (error: unknown): string =>
  error instanceof Error && "summary" in error ? String(error.summary) : describe(error)
