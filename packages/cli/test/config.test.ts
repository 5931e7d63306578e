import * as Effect from "effect/Effect"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { chmodSync, chownSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { Environment } from "../src/internal/Environment.ts"
import { survey } from "../src/internal/locate.ts"
import { makeWorld, type World } from "./support.ts"

const located = (
  { home, project }: World,
  variables: Readonly<Record<string, string>> = {},
  cwd = project,
  user?: number
) =>
  Effect.runPromise(
    survey().pipe(
      Effect.provideService(Environment, {
        cwd,
        home,
        user,
        variables,
        input: { isTerminal: false, read: Effect.succeed(new Uint8Array()) }
      }),
      Effect.provide(NodeContext.layer)
    )
  )

describe("the configuration", () => {
  it("of the project stands over that of the user, key by key; models are put together, and what is allowed is the user's alone", async () => {
    const world = makeWorld({
      ".heddle/config.yaml":
        "model: a/b\nallow: [write_file, 'x_*']\ndatabase: ../kept.db\nmodels: [{ name: fast, provider: offline, model: one }]\n",
      "~/.config/heddle/config.yaml":
        "model: c/d\nagent: clerk\nallow: [write_file, fetch_url]\nmodels: [{ name: fast, provider: offline, model: two }, { name: slow, provider: offline, model: two }]\n"
    })
    const { problems, project } = await located(world)
    const user = path.join(world.home, ".config/heddle/config.yaml")
    expect(problems).toEqual([
      {
        path: ".heddle/config.yaml",
        line: 2,
        column: 8,
        severity: "warning",
        message: `allow: a project does not say what is done unasked, so this does not count: say it in ${user}, or with --allow`
      }
    ])
    expect(project.config).toEqual({
      model: "a/b",
      agent: "clerk",
      allow: ["write_file", "fetch_url"],
      database: path.join(world.project, "kept.db"),
      models: [
        { name: "fast", provider: "offline", model: "one" },
        { name: "slow", provider: "offline", model: "two" }
      ]
    })
    expect(project.saidBy).toMatchObject({ model: ".heddle/config.yaml", agent: user, allow: user })
    expect(project.database).toBe(path.join(world.project, "kept.db"))
  })

  it("is found where variables say that it is, and need not be there", async () => {
    const world = makeWorld({ "elsewhere/heddle/config.yaml": "model: a/b\n" })
    const { problems, project } = await located(world, { XDG_CONFIG_HOME: path.join(world.project, "elsewhere") })
    expect({ problems, config: project.config }).toEqual({ problems: [], config: { model: "a/b" } })
  })

  it("that is broken fails commands with its problems, each at its place", async () => {
    const world = makeWorld({
      ".heddle/config.yaml":
        "modle: x\nallow: write_file\nmodels:\n  - { name: a, provider: offline }\n  - { name: a, provider: offline, model: x, apiKeyFrom: sk-123 }\n",
      "~/.config/heddle/config.yaml": "model: [\n",
      "agents/clerk.md": "Be brief."
    })
    const { err, out, status } = await world.heddle(["run", "clerk", "Hello"])
    expect({ out, status }).toEqual({ out: "", status: 2 })
    const user = path.join(world.home, ".config/heddle/config.yaml")
    expect(err.split("\n").slice(1, -1)).toEqual([
      '.heddle/config.yaml:1:1: error: unknown key "modle": there are "model", "models", "agent", "allow", "database"; is "model" meant?',
      ".heddle/config.yaml:2:8: error: allow: expected a list",
      '.heddle/config.yaml:4:5: error: models[0]: expected the key "model"',
      ".heddle/config.yaml:5:57: error: models[1].apiKeyFrom: expected the name of an environment variable, in capital letters, digits and underscores",
      expect.stringMatching(new RegExp(`^${user}:2:1: error: Flow sequence`))
    ])
  })

  it("says no model twice, holds no secret, and names an agent that is there", async () => {
    const { heddle } = makeWorld({
      ".heddle/config.yaml":
        "agent: clrk\nmodels:\n  - { name: a, provider: offline, model: x }\n  - { name: a, provider: offline, model: x, options: { apiKey: hunter2hunter2 } }\n",
      "agents/clerk.md": "Be brief."
    })
    const { out } = await heddle(["lint"])
    expect(out).not.toContain("hunter2")
    expect(out.split("\n").map((line) => line.replace(/: (error|warning): .*/, " $1"))).toEqual([
      ".heddle/config.yaml:1:8 error",
      ".heddle/config.yaml:4:13 error",
      ".heddle/config.yaml:4:64 warning",
      ""
    ])
  })

  it("may be a folder or no text, which is told", async () => {
    const folder = makeWorld({ ".heddle/config.yaml/x": "" })
    expect((await folder.heddle(["lint"])).out).toBe(".heddle/config.yaml:1:1: error: is a folder\n")
    const bytes = makeWorld()
    bytes.write(".heddle/config.yaml", new Uint8Array([97, 58, 10, 0xff]))
    expect((await bytes.heddle(["lint"])).out).toContain(".heddle/config.yaml:2:1: error: invalid UTF-8")
  })
})

describe("the project", () => {
  it("is the nearest folder upwards that has a .heddle, and paths are read from where one is", async () => {
    const world = makeWorld({ ".heddle/config.yaml": "", "a/b/x.txt": "" })
    const { project } = await located(world, {}, path.join(world.project, "a/b"))
    expect(project.root).toBe(world.project)
    expect(project.shown(path.join(world.project, "agents/c.md"))).toBe("../../agents/c.md")
    expect(project.shown("/elsewhere/c.md")).toBe("/elsewhere/c.md")
  })

  it.skipIf(process.getuid === undefined)(
    "is none of somebody else, and not where everybody can make one",
    async () => {
      const me = process.getuid!()
      const world = makeWorld({ ".heddle/config.yaml": "", "mine/a/x.txt": "" })
      const cwd = path.join(world.project, "mine/a")
      const rootFor = async (user: number) => (await located(world, {}, cwd, user)).project.root
      expect(await rootFor(me)).toBe(world.project)
      chmodSync(world.project, 0o1777)
      expect(await rootFor(me)).toBe(cwd)
      chmodSync(world.project, 0o755)
      // Who may not give files away takes the part of somebody else; what is the system's own is everybody's.
      if (me === 0) {
        expect(await rootFor(4242)).toBe(world.project)
        chownSync(path.join(world.project, ".heddle"), 4242, 4242)
        expect(await rootFor(me)).toBe(cwd)
        chownSync(path.join(world.project, ".heddle"), 0, 0)
        chownSync(world.project, 4242, 4242)
        expect(await rootFor(me)).toBe(cwd)
      } else expect(await rootFor(me + 1)).toBe(cwd)
    }
  )
})

describe("init", () => {
  it("makes a project that has nothing wrong, and whose agents answer", async () => {
    const { heddle } = makeWorld()
    const { err, out, status } = await heddle(["init", "demo"])
    expect(status).toBe(0)
    expect(out.split("\n")).toContain("demo/agents/librarian.md")
    expect(err).toContain("  cd demo\n")
    expect(await heddle(["lint"], { in: "demo" })).toMatchObject({ status: 0, out: "" })
    expect((await heddle(["run", "librarian", "Hello"], { in: "demo" })).status).toBe(0)
    const { out: answer } = await heddle(["run", "clerk", "When does the office open?"], { in: "demo" })
    expect(answer).toContain("The office opens at nine.")
  })

  it("leaves what is there as it is", async () => {
    const world = makeWorld({ "agents/clerk.md": "Mine.", ".heddle/agents/librarian.md": "Mine." })
    const { err, out, status } = await world.heddle(["init"])
    expect(status).toBe(0)
    expect(out.split("\n")).not.toContain("agents/librarian.md")
    expect(err).toContain("agents/clerk.md is left as it is.")
    expect((await world.heddle(["agents", "info", "clerk"])).out).toContain("Mine.")
    expect((await world.heddle(["lint"])).status).toBe(0)
  })

  it("fails where it cannot write", async () => {
    const { heddle } = makeWorld({ "a-file": "" })
    expect(await heddle(["init", "a-file/demo"])).toMatchObject({ status: 1, out: "" })
  })
})

it("schema prints the JSON Schema that is published", async () => {
  const { heddle } = makeWorld()
  const published: unknown = (await import("../agent-file.schema.json", { with: { type: "json" } })).default
  expect(JSON.parse((await heddle(["schema"])).out)).toEqual(published)
})
