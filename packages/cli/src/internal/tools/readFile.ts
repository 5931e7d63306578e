/** Reads a file of the project. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { bytesOf, inside } from "./inside.ts"
import { count, longest, textOf, textTool } from "./tool.ts"

/** Bytes of a file at the most. */
const most = 10_000_000

/** Lines that are given unless said. */
const usual = 2000

export const readFile = textTool({
  name: "read_file",
  description:
    "Reads a text file of the project, or the text of a PDF. A long file is read in parts: say from which line on, and how many.",
  parameters: Schema.Struct({
    path: Schema.String.annotations({ description: "The path of the file, from the project's folder on." }),
    from: count("The first line, from 1."),
    lines: count(`How many lines; ${usual} unless said.`)
  }),
  annotations: { readOnly: true, idempotent: true },
  execute: ({ from = 1, lines: count = usual, path }) =>
    Effect.gen(function* () {
      const file = yield* inside(path)
      const bytes = yield* bytesOf(file, most)
      const format = /\.pdf$/i.test(file.shown) ? "pdf" : "text"
      const text = yield* textOf({ source: file.shown, format }, bytes, `"${file.shown}"`)
      return part(text, from, count)
    })
})

/** Some lines of a text, and what is said where that is not all of it. */
const part = (text: string, from: number, count: number): string => {
  const all = text.split("\n")
  if (text.endsWith("\n")) all.pop()
  if (text.trim() === "") return "(The file has no text.)"
  if (from > all.length) return `(The file has ${all.length} lines.)`
  const wanted = all.slice(from - 1, from - 1 + count)
  const kept: Array<string> = []
  let size = 0
  for (const line of wanted) {
    if (kept.length > 0 && size + line.length + 1 > longest) break
    kept.push(line.length > longest ? `${line.slice(0, longest)}…` : line)
    size += line.length + 1
  }
  const last = from + kept.length - 1
  const note = from === 1 && last === all.length ? "" : `\n\n(Lines ${from} to ${last} of ${all.length}.)`
  return `${kept.join("\n")}${note}`
}
