// Makes one program of the command and of all that it needs, which starts in a
// fraction of the time that the modules would take one by one. What is seldom needed,
// or is no JavaScript, stays outside.
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * @param {string} [outdir]
 * @param {string} [entry] What is run.
 */
export const bundle = (outdir = at("./dist/bin"), entry = at("./src/internal/bin.ts")) =>
  build({
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
    logLevel: "warning"
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
