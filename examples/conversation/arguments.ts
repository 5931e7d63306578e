/** What the command is given. */
import { parseArgs } from "node:util"

export const usage = 'usage: npx -y pnpm@10 example conversation [--db <file>] ["a question"]'

export interface Arguments {
  /** Missing for a file that is gone afterwards. */
  readonly db?: string
  readonly question: string
}

/** The arguments, or what is wrong with them. */
export const argumentsOf = (argv: ReadonlyArray<string>): Arguments | string => {
  try {
    const { positionals, values } = parseArgs({
      // pnpm may hand its own separator on.
      args: argv[0] === "--" ? argv.slice(1) : [...argv],
      options: { db: { type: "string" } },
      allowPositionals: true
    })
    const question = positionals.length === 0 ? "Which framework does our project use?" : positionals.join(" ").trim()
    if (question === "") return "the question is empty"
    if (values.db === undefined) return { question }
    if (values.db === "" || values.db === ":memory:")
      return "--db needs the path of a file, which a new process opens again"
    return { db: values.db, question }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
