// Writes `src/index.ts` of each public package: one namespace for each module
// in `src/` whose name is in PascalCase. With `--check` it only tells which are
// out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { publicPackages } from "./packages.mjs"

/** @param {string} folder */
const barrel = (folder) => {
  const modules = readdirSync(`${folder}/src`)
    .filter((file) => /^[A-Z]\w*\.ts$/.test(file))
    .map((file) => file.slice(0, -".ts".length))
    .toSorted()
  return modules.map((name) => `export * as ${name} from "./${name}.ts"\n`).join("") || "export {}\n"
}

const stale = publicPackages().filter(({ folder }) => {
  const index = `${folder}/src/index.ts`
  return !existsSync(index) || readFileSync(index, "utf8") !== barrel(folder)
})

if (process.argv.includes("--check")) {
  for (const { folder } of stale) console.error(`${folder}/src/index.ts is out of date: run \`pnpm barrels\``)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const { folder } of stale) writeFileSync(`${folder}/src/index.ts`, barrel(folder))
}
