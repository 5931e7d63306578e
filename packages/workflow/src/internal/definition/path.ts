/**
 * How the places, the names and the mistakes of a definition are written.
 */
import { unknownName as unknown } from "@heddle/core/names"
import { describe } from "../describe.ts"

/** A path as code would have it: `node.nodes[2].agent`. */
export const pathText = (path: ReadonlyArray<string | number>): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === "" ? key : `${text}.${key}`
  }, "")

/** To list names and to compare them takes time, of which a definition full of mistakes could want any amount. */
const mostProblems = 100

/** Says that there is no such name, which there are, and which may be meant. `before`: how many problems were told before. */
export const unknownName = (kind: string, name: string, known: () => ReadonlyArray<string>, before: number): string =>
  before >= mostProblems ? `unknown ${kind} ${JSON.stringify(name)}` : unknown(kind, name, known())

/** What an error says, on one line: the errors of the expression library draw an arrow below the expression otherwise. */
export const summary = (error: unknown): string =>
  error instanceof Error && "summary" in error ? String(error.summary) : describe(error)
