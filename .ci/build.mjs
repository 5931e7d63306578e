// Builds every public package, packs each as it would be published, has publint
// judge what was packed, and imports every module of it in plain Node by its name.
import { execFileSync, spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { bundle } from "../packages/cli/bundle.mjs"
import { publicPackages } from "./packages.mjs"

const packages = publicPackages()
const consumer = mkdtempSync(path.join(tmpdir(), "heddle-build-"))
const modules = path.join(consumer, "node_modules")
let problems = 0

/** @param {string} message */
const report = (message) => {
  console.error(message)
  problems++
}

/** @param {string} command @param {ReadonlyArray<string>} args @param {string} [cwd] */
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] })

for (const { folder } of packages) rmSync(`${folder}/dist`, { recursive: true, force: true })
execFileSync("tsc", ["-b", ...packages.map(({ folder }) => folder)], { stdio: "inherit" })
await bundle()

for (const { folder, manifest, name } of packages) {
  const tarball = path.join(consumer, `${name.replace("/", "-")}.tgz`)
  run("pnpm", ["pack", "--out", tarball], folder)
  const installed = path.join(modules, name)
  mkdirSync(installed, { recursive: true })
  run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed])

  const { messages } = await publint({ pkgDir: installed, pack: false, strict: true })
  const packed = JSON.parse(readFileSync(`${installed}/package.json`, "utf8"))
  for (const message of messages) report(`${name}: ${formatMessage(message, packed, { color: false })}`)

  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const link = path.join(modules, dependency)
    if (dependency.startsWith("@heddle/") || existsSync(link)) continue
    mkdirSync(path.dirname(link), { recursive: true })
    symlinkSync(realpathSync(`${folder}/node_modules/${dependency}`), link, "dir")
  }
}

// A module in lower case may need more than the package itself (a test runner, say), so it is left out.
for (const { folder, name } of packages) {
  const subpaths = readdirSync(`${folder}/src`).filter((file) => /^[A-Z]\w*\.ts$/.test(file))
  const entries = [name, ...subpaths.map((file) => `${name}/${file.slice(0, -".ts".length)}`)]
  const script = entries.map((entry) => `await import("${entry}")`).join("\n")
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: consumer,
    encoding: "utf8"
  })
  if (status !== 0) report(`${name} cannot be imported:\n${stderr}`)
  console.log(`${name}: ${entries.length} entries imported`)
}

// A command starts from what was packed, in a folder that has nothing of this repository.
for (const { manifest, name } of packages) {
  for (const [command, file] of Object.entries(manifest.bin ?? {})) {
    const { status, stderr, stdout } = spawnSync(process.execPath, [path.join(modules, name, file), "--version"], {
      cwd: consumer,
      encoding: "utf8"
    })
    if (status !== 0 || stdout.trim() !== manifest.version) report(`${command} --version:\n${stdout}${stderr}`)
    console.log(`${name}: ${command} --version says ${stdout.trim()}`)
  }
}

rmSync(consumer, { recursive: true })
process.exitCode = problems === 0 ? 0 : 1
