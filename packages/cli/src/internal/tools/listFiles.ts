/** Lists files of the project. */
import { optional } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { longest, textTool } from "./tool.ts"
import { filesIn } from "./walk.ts"

/** Files that are listed. */
const most = 1000

export const listFiles = textTool({
  name: "list_files",
  description:
    "Lists the files of a folder of the project and of those in it, without hidden ones, links and node_modules.",
  parameters: Schema.Struct({
    path: optional(Schema.String).annotations({
      description: "The path of the folder; the whole project unless said."
    }),
    glob: optional(Schema.String).annotations({
      description: 'Which files, such as "*.md" for names or "docs/**/*.md" for paths; all unless said.'
    })
  }),
  annotations: { readOnly: true, idempotent: true },
  execute: ({ glob, path = "." }) =>
    Effect.map(filesIn(path, glob), ({ files, isCut }) => {
      if (files.length === 0)
        return isCut ? "(No such files among those that were looked at.)" : "(There are no such files.)"
      const shown: Array<string> = []
      let size = 0
      for (const file of files.slice(0, most)) {
        size += file.shown.length + 1
        if (size > longest) break
        shown.push(file.shown)
      }
      const left = files.length - shown.length
      const note =
        left > 0 ? `\n(${left} more. Use a glob, or the path of a folder.)` : isCut ? "\n(There are more.)" : ""
      return `${shown.join("\n")}${note}`
    })
})
