// Runs every `check:*` script of the root, also after one has failed.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** @type {{ scripts: Record<string, string> }} */
const { scripts } = JSON.parse(readFileSync("package.json", "utf8"))
const checks = Object.entries(scripts).filter(([name]) => name.startsWith("check:"))

const failed = checks.filter(([name, command]) => {
  const started = performance.now()
  const { status } = spawnSync(command, { shell: true, stdio: "inherit" })
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  return status !== 0
})
process.exitCode = failed.length === 0 ? 0 : 1
