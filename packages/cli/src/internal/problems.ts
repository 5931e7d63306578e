/** Problems of files, as they are told. */
import type { Problem } from "../AgentFile.ts"
import { clean } from "./text.ts"

/** A problem on one line, as compilers write it. */
export const problemText = ({ column, line, message, path, severity }: Problem): string =>
  `${oneLine(path)}:${line}:${column}: ${severity}: ${oneLine(message)}`

/** A text on one line, which steers no terminal. */
export const oneLine = (text: string): string => {
  const lines = clean(text).split("\n")
  if (lines.length === 1) return lines[0]!
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
}

/** In the order of paths, lines and columns. */
export const sorted = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> =>
  problems.toSorted(
    (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line || a.column - b.column
  )

/** Whether it is an error. */
export const isError = ({ severity }: Problem): boolean => severity === "error"

/** How many there are: `2 errors and 1 warning`. */
export const counted = (problems: ReadonlyArray<Problem>): string => {
  const errors = problems.filter(isError).length
  const warnings = problems.length - errors
  const parts = [
    ...(errors > 0 ? [amount(errors, "error")] : []),
    ...(warnings > 0 ? [amount(warnings, "warning")] : [])
  ]
  return parts.join(" and ")
}

/** A number of things. */
export const amount = (n: number, thing: string): string => `${n} ${thing}${n === 1 ? "" : "s"}`
