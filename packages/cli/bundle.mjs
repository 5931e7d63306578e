// Makes one program of the command and of all that it needs, which starts in a
// fraction of the time that the modules would take one by one. What is seldom needed
// comes in pieces of its own; what is no JavaScript, or finds its own files, stays outside.
import { build } from "esbuild"
import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** @param {string} relative */
const at = (relative) => fileURLToPath(new URL(relative, import.meta.url))

/** Writes `heddle.mjs` and its pieces. `entry` is what is run. */
export const bundle = async (outdir = at("./dist/bin"), entry = at("./src/internal/bin.ts")) => {
  const { outputFiles } = await build({
    entryPoints: { heddle: entry },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["libsql", "unpdf", "@ai-sdk/*", "@modelcontextprotocol/*"],
    // What was CommonJS asks for modules of Node in its own way.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    },
    logLevel: "warning",
    write: false
  })
  mkdirSync(outdir, { recursive: true })
  // Others may be starting the command: each file is there as a whole, and the one that names the others at last.
  /** @param {import("esbuild").OutputFile} file */
  const isEntry = (file) => path.basename(file.path) === "heddle.mjs"
  for (const file of outputFiles.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
    const unfinished = `${file.path}.${process.pid}`
    writeFileSync(unfinished, file.contents)
    renameSync(unfinished, file.path)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
