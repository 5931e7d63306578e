// Runs the `heddle` command from the sources: makes its bundle anew where a source is
// newer, in the folder from which pnpm was called.
import { readdirSync, statSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "../packages/cli/bundle.mjs"

const root = path.join(fileURLToPath(import.meta.url), "../..")
const made = path.join(root, "packages/cli/dist/bin/heddle.mjs")

/** @param {string} folder @returns {number} when something in a folder was changed last */
const changed = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).reduce(
    (last, entry) => Math.max(last, statSync(path.join(entry.parentPath, entry.name)).mtimeMs),
    0
  )

const sources = readdirSync(path.join(root, "packages")).map((name) => path.join(root, "packages", name, "src"))
const manifests = [path.join(root, "pnpm-lock.yaml"), path.join(root, "packages/cli/bundle.mjs")]
const last = Math.max(
  ...sources.filter((folder) => statSync(folder, { throwIfNoEntry: false }) !== undefined).map(changed),
  ...manifests.map((file) => statSync(file).mtimeMs)
)
if ((statSync(made, { throwIfNoEntry: false })?.mtimeMs ?? 0) <= last) await bundle()

process.chdir(process.env["INIT_CWD"] ?? process.cwd())
await import(made)
