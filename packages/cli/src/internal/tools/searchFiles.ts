/** Searches the files of the project. */
import { optional } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { bytesOf } from "./inside.ts"
import { refused, textTool } from "./tool.ts"
import { filesIn } from "./walk.ts"

/** What is looked at and given. */
const limits = { matches: 100, line: 240, bytes: 2_000_000, time: "20 seconds" } as const

export const searchFiles = textTool({
  name: "search_files",
  description:
    "Finds the lines of files of the project that have a text, without regard to case. The text is taken as it is: no pattern. Gives path:line: text.",
  parameters: Schema.Struct({
    text: Schema.NonEmptyString.annotations({ description: "The text to look for, within one line." }),
    path: optional(Schema.String).annotations({ description: "A folder or a file; the whole project unless said." }),
    glob: optional(Schema.String).annotations({
      description: 'Which files, such as "*.ts" for names or "src/**/*.ts" for paths; all unless said.'
    })
  }),
  annotations: { readOnly: true, idempotent: true },
  execute: ({ glob, path = ".", text }) =>
    Effect.gen(function* () {
      const wanted = text.toLowerCase()
      if (/[\r\n]/.test(wanted)) return yield* refused("The text has a line break, and lines are searched one by one.")
      const { files, isCut } = yield* filesIn(path, glob)
      const found: Array<string> = []
      for (const file of files) {
        if (found.length > limits.matches) break
        // What is no text, too large or gone is left out.
        const bytes = yield* Effect.orElseSucceed(bytesOf(file, limits.bytes), () => new Uint8Array())
        if (bytes.length === 0 || bytes.subarray(0, 8192).includes(0)) continue
        found.push(...matchesIn(new TextDecoder().decode(bytes), wanted).map((match) => `${file.shown}:${match}`))
      }
      if (found.length === 0) return isCut ? "(Nothing was found in what was looked at.)" : "(Nothing was found.)"
      const more = found.length > limits.matches ? "\n(There are more. Look for a longer text, or in fewer files.)" : ""
      return `${found.slice(0, limits.matches).join("\n")}${more}`
    }).pipe(
      Effect.timeoutFail({
        duration: limits.time,
        onTimeout: () => refused("The search took too long. Search in fewer files.")
      })
    )
})

const matchesIn = (text: string, wanted: string): ReadonlyArray<string> => {
  // Most files have it nowhere, and need not be cut into lines.
  if (!text.toLowerCase().includes(wanted)) return []
  return text.split("\n").flatMap((line, i) => {
    const at = line.toLowerCase().indexOf(wanted)
    if (at < 0) return []
    const from = Math.max(0, Math.min(at - limits.line / 3, line.length - limits.line))
    const cut = line.slice(from, from + limits.line).trim()
    return [`${i + 1}: ${from > 0 ? "…" : ""}${cut}${from + limits.line < line.length ? "…" : ""}`]
  })
}
