/** What the command is given. */
import type { RagSettings } from "@heddle/rag"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

export const usage =
  'usage: npx -y pnpm@10 example ask-docs [--folder <folder>] [--db <file>] [--mode stuff|map_reduce] [--model <provider>/<model>] ["a question"]'

export interface Arguments {
  readonly folder: string
  /** Missing for a file that is gone afterwards. */
  readonly db?: string
  /** Both, unless one is asked for. */
  readonly modes: ReadonlyArray<RagSettings.RagMode>
  /** `provider/model`. Missing for whatever there is a key for. */
  readonly model?: string
  readonly question: string
}

const here = dirname(fileURLToPath(import.meta.url))

const modes = ["stuff", "map_reduce"] as const

/** The arguments, or what is wrong with them. */
export const argumentsOf = (argv: ReadonlyArray<string>): Arguments | string => {
  try {
    const { positionals, values } = parseArgs({
      // pnpm may hand its own separator on.
      args: argv[0] === "--" ? argv.slice(1) : [...argv],
      options: {
        folder: { type: "string", default: resolve(here, "../../docs") },
        db: { type: "string" },
        mode: { type: "string" },
        model: { type: "string" }
      },
      allowPositionals: true
    })
    const { db, folder, mode, model } = values
    const question =
      positionals.length === 0 ? "In which order do the hooks of handlers run?" : positionals.join(" ").trim()
    if (question === "") return "the question is empty"
    if (folder === "") return "--folder needs the path of a folder"
    if (db === "") return "--db needs the path of a file"
    const asked = modes.filter((known) => mode === undefined || known === mode)
    if (asked.length === 0) return `--mode is one of ${modes.join(", ")}, not ${JSON.stringify(mode)}`
    if (model !== undefined && !/^[^/]+\/./.test(model))
      return `--model is <provider>/<model>, not ${JSON.stringify(model)}`
    return { folder, modes: asked, question, ...(db !== undefined && { db }), ...(model !== undefined && { model }) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
