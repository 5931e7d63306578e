import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"

const script = join(import.meta.dirname, "postgres.sh")
const sh = (...call: ReadonlyArray<string>) =>
  execFileSync("bash", ["-c", 'source "$0" && "$@"', script, ...call], { encoding: "utf8" }).trim()

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "heddle-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const program = (version: string, name: string) => {
  mkdirSync(join(folder, version, "bin"), { recursive: true })
  writeFileSync(join(folder, version, "bin", name), "")
}

it("takes the newest server, and no client for one", () => {
  expect(sh("postgres_bin", folder)).toBe("")
  program("17", "psql")
  expect(sh("postgres_bin", folder)).toBe("")
  program("9.6", "initdb")
  program("15", "initdb")
  expect(sh("postgres_bin", folder)).toBe(join(folder, "15/bin"))
})

it("keeps Debian from starting a server, unless something is said about that already", () => {
  const conf = join(folder, "etc", "createcluster.conf")
  sh("postgres_without_cluster", join(folder, "etc"))
  expect(readFileSync(conf, "utf8")).toBe("create_main_cluster = false\n")
  writeFileSync(conf, "mine")
  sh("postgres_without_cluster", join(folder, "etc"))
  expect(readFileSync(conf, "utf8")).toBe("mine")
})
