import { existsSync, readdirSync, readFileSync } from "node:fs"

/** The packages that are published: folder, name and manifest of each. */
export const publicPackages = () =>
  readdirSync("packages")
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(`${folder}/package.json`))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({ folder, name: /** @type {string} */ (manifest.name), manifest }))
