/**
 * Compiles every `ts` snippet of the README, the docs and the docstrings, and
 * runs those that print. A snippet fenced as `ts no-run` is compiled only. What
 * is printed must equal the `text` or `console` block that follows, if one does.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { checkSnippets } from "./check-snippets.ts"
import { fromMarkdown, fromSource } from "./snippets.ts"

const under = (folder: string, extension: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(extension))
        .toSorted()
        .map((path) => `${folder}/${path}`)
    : []

const pages = [...["README.md"].filter(existsSync), ...under("docs", ".md")]
const sources = readdirSync("packages").flatMap((name) => under(`packages/${name}/src`, ".ts"))

const snippets = [
  ...pages.flatMap((file) => fromMarkdown(file, readFileSync(file, "utf8"))),
  ...sources.flatMap((file) => fromSource(file, readFileSync(file, "utf8")))
]
const failures = await checkSnippets(snippets, ".snippets/docs")

for (const failure of failures) console.error(failure)
const run = snippets.filter((snippet) => snippet.runs).length
console.log(`${snippets.length} snippets compiled, ${run} run, ${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1
