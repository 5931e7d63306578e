import Database from "libsql"
import { chmodSync, existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { lookAtNode } from "../src/internal/doctor/place.ts"
import { makeWorld } from "./support.ts"

const clerk = { "agents/clerk.md": "You answer.\n" }

/** What was looked at, by what it is. */
const checksOf = (out: string) =>
  new Map(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly what: string; readonly state: string; readonly found: string })
      .map((check) => [check.what, check])
  )

describe("doctor", () => {
  it("tells how everything is, with what can be done, and makes nothing", async () => {
    const { heddle, home, project } = makeWorld(clerk)
    const { err, out, status } = await heddle(["doctor"])
    expect({ err, status }).toEqual({ err: "", status: 0 })
    expect(out).toMatch(/^✓ Node: \d+/)
    expect(out).toContain(`– project: ${project}`)
    expect(out).toContain("✓ agents: 1 file\n")
    expect(out).toMatch(/! model: offline\/offline.*\n {2}→ Set one of the keys/)
    expect(out).toContain("– ANTHROPIC_API_KEY: not set\n")
    expect(out).toContain("– Ollama at http://127.0.0.1:9: does not answer")
    expect(existsSync(path.join(home, ".local"))).toBe(false)
    expect(existsSync(path.join(project, ".heddle"))).toBe(false)
  })

  it("tells that a key is set, and never what it is", async () => {
    const { heddle } = makeWorld(clerk)
    const variables = { ANTHROPIC_API_KEY: "sk-canary", OPENAI_API_KEY: "sk-canary", HEDDLE_MODEL: "openai/gpt-5" }
    for (const args of [["doctor"], ["doctor", "--json"]]) {
      const { err, out } = await heddle(args, { variables })
      expect(out + err).not.toContain("canary")
      expect(out).toContain("openai/gpt-5 (HEDDLE_MODEL)")
    }
  })

  it("a model that is named without its key is broken", async () => {
    const { heddle } = makeWorld(clerk)
    const { err, out, status } = await heddle(["doctor"], { variables: { HEDDLE_MODEL: "openai/gpt-5" } })
    expect(status).toBe(1)
    expect(out).toMatch(/✗ model: .*OPENAI_API_KEY/)
    expect(err).toBe("heddle: One thing is broken, see ✗.\n")
  })

  it("a configuration with errors is told of, and all the rest is looked at", async () => {
    const { heddle } = makeWorld({ ...clerk, ".heddle/config.yaml": "modle: x\n" })
    const { out, status } = await heddle(["doctor"])
    expect(status).toBe(1)
    expect(out).toMatch(/✗ configuration: \.heddle\/config\.yaml:1:1: error: .*"modle"/)
    expect(out).toContain("✓ agents: 1 file")
  })

  it("files of agents with errors are broken", async () => {
    const { heddle } = makeWorld({ ...clerk, "agents/bad.md": "---\ncontextMode: isolatd\n---\nYou write.\n" })
    const { out, status } = await heddle(["doctor"])
    expect(status).toBe(1)
    expect(out).toContain("✗ agents: 2 files, 1 error\n  → heddle lint tells where.\n")
  })

  it("finds an Ollama, and the model that answers there", async () => {
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ models: [{ name: "llama3.2:latest" }] }))
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { heddle } = makeWorld(clerk)
    const { out } = await heddle(["doctor", "--json"], { variables: { OLLAMA_HOST: `127.0.0.1:${port}` } })
    const checks = checksOf(out)
    expect(checks.get("model")).toMatchObject({ state: "ok" })
    expect(checks.get(`Ollama at http://127.0.0.1:${port}`)).toMatchObject({ state: "ok" })
  })

  it("a database that is there is opened, and what is wrong with it told with the remedy", async () => {
    const { heddle, write } = makeWorld(clerk)
    write("bad.db", "this is no database, whatever its name says ".repeat(100))
    const bad = await heddle(["doctor", "--db", "bad.db"])
    expect(bad.status).toBe(1)
    expect(bad.out).toMatch(/✗ database: .*bad\.db is not a database\. Check the path/)

    await heddle(["index", "agents", "--db", "good.db"])
    const good = checksOf((await heddle(["doctor", "--json", "--db", "good.db"])).out)
    expect(good.get("database")).toMatchObject({ state: "ok" })
  })

  it("a database that a newer version has written to is told of", async () => {
    const { heddle, project } = makeWorld(clerk)
    await heddle(["index", "agents", "--db", "x.db"])
    const file = new Database(path.join(project, "x.db"))
    file.exec("INSERT INTO heddle_layouts (layout) VALUES (99)")
    file.close()
    const { out, status } = await heddle(["doctor", "--db", "x.db"])
    expect(status).toBe(1)
    expect(out).toMatch(/✗ database: .*newer version.*Update/)
  })

  it("a file where the folder of the database should be is told of", async () => {
    const { heddle } = makeWorld({ ...clerk, data: "no folder" })
    const { out, status } = await heddle(["doctor", "--db", "data/x.db"])
    expect(status).toBe(1)
    expect(out).toMatch(/✗ data folder: .*data is not a folder/)
  })

  it("programs of servers are looked for on the PATH, and agents that cannot be run are told of", async () => {
    const { heddle, project, write } = makeWorld({
      "agents/a.md": "---\nmcp: { one: { command: serve-one }, two: { command: serve-two } }\n---\nHi.\n",
      "agents/b.md": "---\nmodel: openai/gpt-5\n---\nHi.\n"
    })
    chmodSync(write("tools/serve-one", "#!/bin/sh\n"), 0o755)
    write("tools/serve-two", "not a program")
    const { out, status } = await heddle(["doctor", "--json"], { variables: { PATH: path.join(project, "tools") } })
    expect(status).toBe(0)
    const checks = checksOf(out)
    expect(checks.get("program serve-one")).toMatchObject({ state: "ok" })
    expect(checks.get("program serve-two")).toMatchObject({ state: "warning" })
    expect(checks.get("agent b")?.found).toContain("set the environment variable OPENAI_API_KEY")
  })
})

it.each([
  ["18.20.0", "broken"],
  ["20.18.9", "broken"],
  ["20.19.0", "ok"],
  ["22.1.0", "ok"]
])("Node %s is %s", (version, state) => {
  expect(lookAtNode(version).state).toBe(state)
})
