// Bundles the benchmark as an application would be bundled (tsx keeps function
// names, which makes closures several times slower) and runs it.
import { spawnSync } from "node:child_process"
import { build } from "esbuild"

const outfile = "packages/bench/dist/bench.mjs"
await build({
  entryPoints: ["packages/bench/src/main.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  external: ["effect", "effect/*", "libsql"],
  logLevel: "warning"
})
const { status } = spawnSync(process.execPath, ["--expose-gc", outfile, ...process.argv.slice(2)], { stdio: "inherit" })
process.exitCode = status ?? 1
