// `pnpm example <name> [arguments]` runs `examples/<name>/main.ts`.
import { existsSync, readdirSync } from "node:fs"
import { pathToFileURL } from "node:url"
import path from "node:path"

const examples = existsSync("examples")
  ? readdirSync("examples").filter((name) => existsSync(`examples/${name}/main.ts`))
  : []
const [name = "", ...rest] = process.argv.slice(2)

if (examples.includes(name)) {
  const main = path.resolve("examples", name, "main.ts")
  process.argv = [process.argv[0] ?? "node", main, ...rest]
  await import(pathToFileURL(main).href)
} else {
  console.error(`${name === "" ? "Which example?" : `There is no example "${name}".`} There are:`)
  for (const example of examples) console.error(`  pnpm example ${example}`)
  process.exitCode = 1
}
