import { Cli } from "@heddle/cli"
import { Effect } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { questions } from "../commands.ts"

const folder = path.join(import.meta.dirname, "..")
const kept = mkdtempSync(path.join(tmpdir(), "heddle-agents-"))
const db = path.join(kept, "heddle.db")
const agents = readdirSync(path.join(folder, "agents")).map((file) => file.replace(/\.md$/, ""))

/** Runs a command in the folder of the example, offline. */
const heddle = async (...args: ReadonlyArray<string>) => {
  let out = ""
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text)
    return true
  })
  try {
    return { status: await Effect.runPromise(Cli.main(args, { input: "" })), out: () => out }
  } finally {
    write.mockRestore()
  }
}

beforeAll(async () => {
  process.chdir(folder)
  vi.stubEnv("HEDDLE_MODEL", "offline/offline")
  // No agents and no configuration of who runs this.
  vi.stubEnv("XDG_CONFIG_HOME", kept)
  await heddle("index", "notes", "--db", db)
})
afterAll(() => rmSync(kept, { recursive: true }))

it("every agent passes lint", async () => {
  expect((await heddle("lint")).status).toBe(0)
})

it("every agent is asked something", () => {
  expect(Object.keys(questions)).toEqual(expect.arrayContaining(agents))
})

it.each(agents)("%s runs, offline", async (agent) => {
  const { out, status } = await heddle("run", agent, questions[agent]!, "--session", agent, "--db", db)
  expect(status).toBe(0)
  expect(out().trim()).not.toBe("")
})

it("the editor answers with what the librarian has found", async () => {
  const { out } = await heddle("run", "editor", questions["editor"]!, "--db", db)
  expect(out()).toContain("The library of the museum opens at ten.")
})

it("the workflow of the folder runs", async () => {
  const { out, status } = await heddle("workflow", "run", "workflows/letter.yaml", "When does it open?", "--db", db)
  expect(status).toBe(0)
  expect(out()).toContain("The museum opens at nine")
})
