import * as FastCheck from "effect/FastCheck"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { circles } from "../src/internal/agents/circles.ts"
import { makeWorld, type World } from "./support.ts"

const lines = (text: string) => text.split("\n").filter((line) => line !== "")

/** What `lint` tells. */
const linted = async ({ heddle }: World, ...args: ReadonlyArray<string>) => {
  const { err, out, status } = await heddle(["lint", ...args])
  return { status, told: lines(out), err }
}
const asking = (...agents: ReadonlyArray<string>) => `---\nagents: [${agents.join(", ")}]\n---\nBe brief.\n`

describe("files and names", () => {
  it("an agent of the project counts over that of the user, which is a warning", async () => {
    const world = makeWorld({
      "agents/clerk.md": "Of the project.",
      "~/.config/heddle/agents/clerk.md": "Of the user.",
      "~/.config/heddle/agents/own.md": "Of the user."
    })
    const user = path.join(world.home, ".config/heddle/agents/clerk.md")
    expect(await linted(world)).toMatchObject({
      status: 0,
      told: [`${user}:1:1: warning: does not count: the project has an agent "clerk" in agents/clerk.md`]
    })
    const { out } = await world.heddle(["agents", "list", "--json"])
    const listed = lines(out).map((line): unknown => JSON.parse(line))
    expect(listed).toMatchObject([
      { name: "assistant", scope: "built-in" },
      { name: "clerk", scope: "project", path: "agents/clerk.md" },
      { name: "own", scope: "user" }
    ])
  })

  it("two agents of one name in one scope are an error in both files, and neither is run", async () => {
    const world = makeWorld({
      ".heddle/agents/clerk.md": "Be brief.",
      "agents/other.md": "---\ntitle: Other\nname: clerk\n---\nBe long."
    })
    expect(await linted(world)).toMatchObject({
      status: 1,
      told: [
        '.heddle/agents/clerk.md:1:1: error: two agents have the name "clerk": the other one is in agents/other.md',
        'agents/other.md:3:7: error: two agents have the name "clerk": the other one is in .heddle/agents/clerk.md'
      ]
    })
    const { err, status } = await world.heddle(["run", "clerk", "Hello"])
    expect(status).toBe(2)
    expect(err).toContain("agents/other.md")
  })

  it("where there are no files at all, it is said how one is made", async () => {
    const { err, status } = await makeWorld().heddle(["run", "clerk", "Hello"])
    expect(status).toBe(2)
    expect(err).toContain("heddle agents create")
  })

  it("an agent whose file is broken is not that of the user", async () => {
    const world = makeWorld({
      "agents/clerk.md": "---\nmaxSteps: 0\n---\nBe brief.",
      "~/.config/heddle/agents/clerk.md": "Of the user."
    })
    const { err, status } = await world.heddle(["run", "clerk", "Hello"])
    expect(status).toBe(2)
    expect(err).toContain("agents/clerk.md:2:11: error: maxSteps: expected a whole number from 1")
  })

  it("only *.md are agents, and a README without front matter is none", async () => {
    const world = makeWorld({
      "agents/README.md": "# Our agents",
      "agents/notes.txt": "no agent",
      "agents/.hidden.md": "",
      "agents/below/deep.md": "",
      "agents/folder.md/x.txt": "",
      "agents/clerk.md": "Be brief."
    })
    expect(await linted(world)).toMatchObject({ status: 0, err: "heddle: 1 file, nothing wrong.\n" })
    world.write("agents/README.md", "---\ntitle: Reader\n---\nYou read.")
    expect(await linted(world)).toMatchObject({ err: "heddle: 2 files, nothing wrong.\n" })
  })

  it("a file that cannot be read, and bytes that are no UTF-8, are told of with the line", async () => {
    const world = makeWorld({ "agents/good.md": "Be brief." })
    world.write(
      "agents/bytes.md",
      Buffer.concat([Buffer.from("---\ntitle: ü"), Buffer.from([0xff]), Buffer.from("\n---\nx")])
    )
    world.write("agents/large.md", "x".repeat(1_000_001))
    symlinkSync("nowhere.md", path.join(world.project, "agents/link.md"))
    expect(await linted(world)).toMatchObject({
      status: 1,
      told: [
        "agents/bytes.md:2:9: error: invalid UTF-8 here: save the file as UTF-8",
        "agents/large.md:1:1: error: too large: more than 1000000 bytes",
        "agents/link.md:1:1: error: cannot be read: it is not there"
      ]
    })
    expect((await world.heddle(["run", "good", "Hello"])).status).toBe(0)
  })

  it("a folder that cannot be read is told of, also where an agent is not found", async () => {
    const world = makeWorld({ agents: "a file" })
    const { status, told } = await linted(world)
    expect(status).toBe(1)
    expect(told).toEqual([expect.stringMatching(/^agents:1:1: error: the folder cannot be read: /)])
    expect((await world.heddle(["run", "clerk", "Hello"])).err).toContain("the folder cannot be read")
  })

  it.skipIf(process.getuid?.() === 0)("a folder without permission is told of", async () => {
    const world = makeWorld({ "agents/clerk.md": "Be brief." })
    chmodSync(path.join(world.project, "agents"), 0)
    const { told } = await linted(world)
    chmodSync(path.join(world.project, "agents"), 0o755)
    expect(told).toEqual(["agents:1:1: error: the folder cannot be read: permission denied"])
  })

  it("paths are those from the folder on in which one is", async () => {
    const { heddle, write } = makeWorld({ "agents/clerk.md": "" })
    write(".heddle/config.yaml", "")
    mkdirSync(path.dirname(write("src/deep/x.txt", "")), { recursive: true })
    const { out } = await heddle(["lint"], { in: "src/deep" })
    expect(out).toMatch(/^\.\.\/\.\.\/agents\/clerk\.md:1:1: error: /)
  })
})

describe("who asks whom", () => {
  it("an agent that is not there is an error, with the name that is near", async () => {
    const world = makeWorld({ "agents/a.md": asking("clerk", "clrk"), "agents/clerk.md": "Be brief." })
    expect((await linted(world)).told).toEqual([
      'agents/a.md:2:17: error: agents[1]: unknown agent "clrk": there are "assistant", "a", "clerk"; is "clerk" meant?'
    ])
  })

  it("agents that ask each other in a circle are an error at each of them", async () => {
    const world = makeWorld({
      "agents/a.md": asking("c", "b"),
      "agents/b.md": asking("a"),
      "agents/c.md": "Be brief.",
      "agents/d.md": asking("a"),
      "agents/self.md": asking("self")
    })
    expect((await linted(world)).told).toEqual([
      "agents/a.md:2:13: error: agents[1]: agents ask each other in a circle: a → b → a",
      "agents/b.md:2:10: error: agents[0]: agents ask each other in a circle: b → a → b",
      "agents/self.md:2:10: error: agents[0]: agents ask each other in a circle: self → self"
    ])
  })

  it("each one in a circle is found, with a circle that begins with it and that there is", () => {
    const names = ["a", "b", "c", "d", "e"]
    const graphs = FastCheck.array(FastCheck.subarray(names), { minLength: 5, maxLength: 5 })
    FastCheck.assert(
      FastCheck.property(graphs, (edges) => {
        const graph = new Map(names.map((name, i) => [name, edges[i]!]))
        const reach = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
          for (const next of graph.get(from)!) if (!seen.has(next)) reach(next, seen.add(next))
          return seen
        }
        const found = circles(graph)
        expect(found.map(([first]) => first)).toEqual(names.filter((name) => reach(name).has(name)))
        for (const circle of found) {
          for (const [i, name] of circle.entries()) {
            expect(graph.get(name)).toContain(circle[(i + 1) % circle.length])
          }
        }
      })
    )
  })
})

describe("lint", () => {
  it("tells errors and warnings of all files in order, and how many they are", async () => {
    const world = makeWorld({
      "agents/b.md": "---\nmodel: none\nmaxSteps: 0\ntitle: ''\n---\nx",
      "agents/a.md": "---\ntools: { allow: [nothing] }\n---\nx",
      ".heddle/config.yaml": "modle: x\nagent: clrk\n"
    })
    const { err, status, told } = await linted(world)
    expect(status).toBe(1)
    expect(told.map((line) => line.replace(/: (error|warning): .*/, " $1"))).toEqual([
      ".heddle/config.yaml:1:1 error",
      ".heddle/config.yaml:2:8 error",
      "agents/a.md:2:18 warning",
      "agents/b.md:3:11 error",
      "agents/b.md:4:8 error"
    ])
    expect(err).toBe("heddle: 4 errors and 1 warning in 3 of 3 files.\n")
  })

  it("writes a problem per line as JSON", async () => {
    const { heddle } = makeWorld({ "agents/a.md": "---\nmaxSteps: 0\n---\nx" })
    const { out } = await heddle(["lint", "--json"])
    expect(lines(out).map((line): unknown => JSON.parse(line))).toEqual([
      {
        path: "agents/a.md",
        line: 2,
        column: 11,
        severity: "error",
        message: "maxSteps: expected a whole number from 1"
      }
    ])
  })

  it("looks at given files and folders, in the project and elsewhere", async () => {
    const world = makeWorld({
      "agents/a.md": "",
      "agents/b.md": "",
      "examples/one.md": asking("two"),
      "examples/two.md": asking("three"),
      "examples/config.yaml": "model: 5\n"
    })
    expect((await linted(world, "agents/b.md")).told).toHaveLength(1)
    expect((await linted(world, ".")).told).toHaveLength(2)
    expect((await linted(world, "agents", "agents/a.md")).told).toHaveLength(2)
    expect(await linted(world, "examples/one.md")).toMatchObject({ status: 0, told: [] })
    expect((await linted(world, "examples")).told).toEqual([
      'examples/two.md:2:10: error: agents[0]: unknown agent "three": there are "assistant", "one", "two"'
    ])
    expect((await linted(world, "examples/config.yaml")).told).toHaveLength(1)
    const { err, out, status } = await world.heddle(["lint", "nowhere", "agents/a.md", "x.txt"])
    expect({ out, status }).toEqual({ out: "", status: 2 })
    expect(err).toContain("nowhere cannot be read: it is not there")
  })

  it("looks into a JSON Schema of the answer", async () => {
    const world = makeWorld({
      "agents/a.md": "---\noutput:\n  type: object\n  properties:\n    size: { type: nubmer }\n---\nx",
      "agents/b.md": "---\noutput: { $ref: '#/definitions/none' }\n---\nx",
      "agents/c.md": "---\noutput: { type: object, properties: { size: { type: number } } }\n---\nx"
    })
    const { told } = await linted(world)
    expect(told[0]).toMatch(/^agents\/a\.md:5:19: error: output\.properties\.size\.type: is no JSON Schema: /)
    expect(told.at(-1)).toMatch(/^agents\/b\.md:2:9: error: output: is no JSON Schema: /)
    expect(told.some((line) => line.startsWith("agents/c.md"))).toBe(false)
  })

  it("tells of one mistake in a JSON Schema once, with what may be meant", async () => {
    const world = makeWorld({
      "agents/a.md": "---\noutput:\n  type: array\n  items: { type: strng }\n  minItems: few\n---\nx",
      "agents/b.md": "---\noutput: { type: 5 }\n---\nx"
    })
    const { told } = await linted(world)
    expect(told.map((line) => line.replace(/there are .*;/, "…"))).toEqual([
      'agents/a.md:4:18: error: output.items.type: is no JSON Schema: unknown type "strng": … is "string" meant?',
      "agents/a.md:5:13: error: output.minItems: is no JSON Schema: must be integer",
      expect.stringMatching(
        /^agents\/b\.md:2:17: error: output\.type: is no JSON Schema: expected one of array, boolean,/
      )
    ])
  })

  it("tells of models that nobody has, which no run could use", async () => {
    const world = makeWorld({
      ".heddle/config.yaml": "model: quick\nmodels: [{ name: fast, provider: offlin, model: x }]\n",
      "agents/a.md": "---\nmodel: fast\n---\nx",
      "agents/b.md": "---\nmodel: offline/offline\n---\nx",
      "agents/c.md": "---\nmodel: anthropc/claude\nmemory: { summaryModel: fats }\n---\nx"
    })
    const { status, told } = await linted(world)
    expect(status).toBe(1)
    expect(told.map((line) => line.replace(/there are .*;/, "…"))).toEqual([
      '.heddle/config.yaml:1:8: error: unknown model "quick": there are "fast" (or provider/model)',
      '.heddle/config.yaml:2:34: error: unknown provider "offlin": … is "offline" meant?',
      'agents/c.md:2:8: error: unknown provider "anthropc": … is "anthropic" meant?',
      'agents/c.md:3:25: error: unknown model "fats": … is "fast" meant? (or provider/model)'
    ])
  })

  it("lets no file steer the terminal, and colours nothing but on one", async () => {
    const world = makeWorld({ "agents/a.md": '---\n"\\e[31mx\\ny": 1\n---\nx' })
    const { told } = await linted(world)
    expect(told).toHaveLength(1)
    expect(told[0]).not.toContain("\u001b")
    const { out } = await world.heddle(["lint"], { terminal: { columns: 20, colours: true } })
    expect(out).toContain("\u001b[31merror:\u001b[0m")
  })
})

describe("agents …", () => {
  const clerk =
    "---\ntitle: Clerk\ndescription: Knows when the office is open.\nmcp: { web: { url: 'https://x.y/?key=hunter2' } }\n---\nThe office opens at nine.\n"

  it("list fits any terminal", async () => {
    const { heddle } = makeWorld({ "agents/clerk.md": clerk, "agents/bad.md": "" })
    const wide = await heddle(["agents", "list"])
    expect(wide.out).toBe(
      [
        "assistant  Answers in a chat what is said to nobody else. (built-in)",
        "bad        has errors: `heddle agents validate` tells which",
        "clerk      Knows when the office is open.",
        ""
      ].join("\n")
    )
    const narrow = await heddle(["agents", "list"], { terminal: { columns: 20 } })
    for (const line of lines(narrow.out)) expect(line.length).toBeLessThanOrEqual(20)
  })

  it("info shows what a file says, and no secret", async () => {
    const { heddle } = makeWorld({ "agents/clerk.md": clerk })
    const { out } = await heddle(["agents", "info", "clerk"])
    expect(out).toContain("context: isolated: it sees what was said to it")
    expect(out).toContain("The office opens at nine.")
    expect(out).not.toContain("hunter2")
    expect(await heddle(["agents", "info", "clrk"])).toMatchObject({ status: 2, out: "" })
  })

  it("create makes a file of what is said, which can be run", async () => {
    const { heddle, project } = makeWorld()
    const made = await heddle(
      [
        "agents",
        "create",
        "clerk",
        "--title",
        "A: B",
        "--context-mode",
        "selective",
        "--tools",
        "read_file,list_files",
        "--body",
        "-"
      ],
      { input: "The office opens at nine.\n" }
    )
    expect(made).toMatchObject({ status: 0, out: "agents/clerk.md\n" })
    expect(readFileSync(path.join(project, "agents/clerk.md"), "utf8")).toBe(
      '---\ntitle: "A: B"\ncontextMode: selective\nsharePatterns:\n  - "*"\ntools:\n  allow:\n    - read_file\n    - list_files\n---\nThe office opens at nine.\n'
    )
    expect(await heddle(["lint"])).toMatchObject({ status: 0, out: "" })
    expect((await heddle(["run", "clerk", "When does the office open?"])).status).toBe(0)
  })

  it("create asks for what is missing, until it makes sense", async () => {
    const { heddle, project } = makeWorld({ ".heddle/agents/other.md": "---\nname: taken\n---\nx" })
    const answers = [
      "a b",
      "taken",
      "clerk",
      "Clerk",
      "Knows all.",
      "",
      "isolatd",
      "shared",
      "read_file, nothing_*",
      ""
    ]
    const { err, out, status } = await heddle(["agents", "create"], { answers })
    expect({ out, status }).toEqual({ out: ".heddle/agents/clerk.md\n", status: 0 })
    expect(err).toContain('unknown tool "nothing_*"')
    const text = readFileSync(path.join(project, ".heddle/agents/clerk.md"), "utf8")
    expect(text).toContain("contextMode: shared")
    expect(text).toContain("You are Clerk. Knows all.")
  })

  it("create explains the context modes when it asks, and asks for the patterns that one needs", async () => {
    const { heddle, home } = makeWorld()
    const asked: Array<string> = []
    const answers = ["clerk", "", "", "", "selective", "uses * | stack: *", "", "Be brief."]
    const { status } = await heddle(["agents", "create", "--scope", "user"], { answers, asked })
    expect(status).toBe(0)
    expect(asked.join("\n")).toContain("isolated: it sees what was said to it and by it alone")
    const text = readFileSync(path.join(home, ".config/heddle/agents/clerk.md"), "utf8")
    expect(text).toBe('---\ncontextMode: selective\nsharePatterns:\n  - uses *\n  - "stack: *"\n---\nBe brief.\n')
  })

  it("create makes nothing where nobody can be asked, and never overwrites", async () => {
    const { heddle, project } = makeWorld({ "agents/clerk.md": "Be brief." })
    for (const args of [
      [],
      ["new"],
      ["--body", "x"],
      ["clerk", "--body", "x"],
      ["../up", "--body", "x"],
      ["new", "--body", " "]
    ]) {
      const { err, out, status } = await heddle(["agents", "create", ...args])
      expect({ args, out, status }).toEqual({ args, out: "", status: 2 })
      expect(err).not.toBe("")
    }
    expect((await heddle(["agents", "create", "half"], { answers: ["Title"] })).status).toBe(2)
    expect(existsSync(path.join(project, "agents/half.md"))).toBe(false)
    expect(readFileSync(path.join(project, "agents/clerk.md"), "utf8")).toBe("Be brief.")
  })

  it("create makes an agent of the user, for all projects", async () => {
    const { heddle, home } = makeWorld()
    expect((await heddle(["agents", "create", "mine", "--scope", "user", "--body", "x"])).status).toBe(0)
    expect(existsSync(path.join(home, ".config/heddle/agents/mine.md"))).toBe(true)
  })

  it("validate looks at one agent alone", async () => {
    const { heddle } = makeWorld({ "agents/good.md": asking("bad"), "agents/bad.md": "" })
    expect(await heddle(["agents", "validate", "good"])).toMatchObject({ status: 0, out: "" })
    expect((await heddle(["agents", "validate", "bad"])).status).toBe(1)
    expect((await heddle(["agents", "validate"])).status).toBe(1)
    expect((await heddle(["agents", "validate", "god"])).err).toContain('is "good" meant?')
  })

  it("delete asks first, and deletes nothing where nobody can be asked", async () => {
    const { heddle, project } = makeWorld({ "agents/a.md": asking("b"), "agents/b.md": "x", "agents/c.md": "" })
    const isThere = (name: string) => existsSync(path.join(project, `agents/${name}.md`))
    expect((await heddle(["agents", "delete", "b"])).status).toBe(2)
    expect((await heddle(["agents", "delete", "b"], { answers: ["n"] })).err).toBe("heddle: Nothing was deleted.\n")
    expect(isThere("b")).toBe(true)
    expect((await heddle(["agents", "delete", "b"], { answers: ["y"] })).status).toBe(0)
    expect(isThere("b")).toBe(false)
    expect((await heddle(["agents", "delete", "c", "--yes"])).status).toBe(0)
    expect(isThere("c")).toBe(false)
    expect((await heddle(["agents", "delete", "assistant", "--yes"])).err).toContain("comes with the command")
    expect((await heddle(["agents", "delete", "nobody", "--yes"])).status).toBe(2)
  })

  it("delete takes the agent of the project before that of the user, and none of two in one scope", async () => {
    const { heddle, home, write } = makeWorld({ "agents/a.md": "x", "~/.config/heddle/agents/a.md": "x" })
    expect((await heddle(["agents", "delete", "a", "--yes"])).err).toBe("heddle: Deleted agents/a.md.\n")
    expect(existsSync(path.join(home, ".config/heddle/agents/a.md"))).toBe(true)
    write("agents/b.md", "x")
    write("agents/c.md", "---\nname: b\n---\nx")
    const { err, status } = await heddle(["agents", "delete", "b", "--yes"])
    expect(status).toBe(2)
    expect(err).toContain("agents/b.md, agents/c.md")
  })
})
