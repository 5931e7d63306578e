/**
 * Writes the list of all commands into docs/cli.md, as the commands themselves say what
 * they can do; with `--check`, says whether it is there as it should be.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { format, resolveConfig } from "prettier"
import { markdown } from "../packages/cli/src/internal/help.ts"
import { heddle } from "../packages/cli/src/internal/main.ts"

const file = "docs/cli.md"
const begin = "<!-- commands -->"
const end = "<!-- end of commands -->"

const before = readFileSync(file, "utf8")
const from = before.indexOf(begin)
const to = before.indexOf(end)
if (from < 0 || to < from) throw new Error(`${file} needs ${begin} and ${end}, between which the commands stand.`)
const list = markdown(heddle.descriptor, ["heddle"])
const written = `${before.slice(0, from)}${begin}\n\n${list}\n\n${before.slice(to)}`
const after = await format(written, { ...(await resolveConfig(file)), parser: "markdown" })

if (!process.argv.includes("--check")) writeFileSync(file, after)
else if (after === before) console.log(`${file} has all commands`)
else {
  console.error(`${file} does not say what the commands say: run \`pnpm docs:commands\``)
  process.exitCode = 1
}
