import type { ModelProvider } from "@heddle/models"
import { DocumentIndex } from "@heddle/rag"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, it, vi } from "vitest"
import { makePerson } from "./person.ts"
import { stored } from "../src/internal/stored.ts"
import { makeWorld } from "./support.ts"

const scripted = (script: ScriptedModel.Script): ModelProvider.ModelProvider => ({
  name: "scripted",
  make: () => Effect.map(ScriptedModel.make(script), ({ service }) => service)
})
const variables = { HEDDLE_MODEL: "scripted/any" }

/** A server of three tools, which says when it begins, and which variables it is given. */
const server = `
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
appendFileSync("begun.txt", (process.env.TOKEN ?? "none") + "," + (process.env.OTHER ?? "none") + "\\n")
const tool = (name, annotations) => ({ name, description: name, inputSchema: { type: "object" }, annotations })
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({
    tools: [tool("look", { readOnlyHint: true }), tool("change"), tool("hide", { readOnlyHint: true })]
  }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: "did " + name }] })
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }))
}
`

const agent = (more = "") =>
  [
    "---",
    `mcp: { box: { command: ${JSON.stringify(process.execPath)}, args: [server.mjs], env: { TOKEN: { from: BOX_TOKEN, prefix: "t-" } }, deny: [hide] } }`,
    more,
    "---",
    "Use the box."
  ].join("\n")

it("an agent has the tools of its servers under their names, which change things unless they say otherwise", async () => {
  const { heddle, project } = makeWorld({ "server.mjs": server, "agents/clerk.md": agent() })
  const script: ScriptedModel.Script = (request, turn) =>
    turn === 0
      ? { calls: [{ tool: "box_look" }, { tool: "box_change" }] }
      : `${request.tools.names.join(" ")} ${JSON.stringify(request.history)}`
  const { out, status } = await heddle(["run", "clerk", "Hi"], {
    providers: [scripted(script)],
    variables: { ...variables, BOX_TOKEN: "canary", OTHER: "other" }
  })
  expect(status).toBe(0)
  expect(out).toMatch(/^box_look box_change /)
  expect(out).toContain("did look")
  expect(out).not.toContain("did change")
  expect(out).not.toContain("canary")
  expect(readFileSync(path.join(project, "begun.txt"), "utf8")).toBe("t-canary,none\n")
})

it("the agent's own rules are for the tools of servers as well", async () => {
  const names = scripted((request) => request.tools.names.join(" "))
  for (const [more, offered] of [
    ["tools: { allow: [box_l*] }", "box_look\n"],
    ["tools: { deny: [BOX_look] }", "box_change\n"],
    ["tools: { allow: [list_files, box_*], deny: [list_*] }", "box_look box_change\n"]
  ] as const) {
    const { heddle } = makeWorld({ "server.mjs": server, "agents/clerk.md": agent(more) })
    const { out } = await heddle(["run", "clerk", "Hi"], {
      providers: [names],
      variables: { ...variables, BOX_TOKEN: "x" }
    })
    expect(out).toBe(offered)
  }
})

it("a chat leaves the servers of what was made of files before they changed, and the last ones at its end", async () => {
  const lasting = server + 'appendFileSync("begun.txt", "left\\n")\n'
  const world = makeWorld({ "server.mjs": lasting, "agents/clerk.md": agent(), "agents/other.md": "Hi.\n" })
  const begun = () => readFileSync(path.join(world.project, "begun.txt"), "utf8")
  const person = makePerson([
    "@clerk one",
    "@clerk two",
    () => {
      expect(begun()).toBe("t-x,none\n")
      world.write("agents/other.md", "Hello.\n")
      return "@clerk three"
    },
    async () => {
      await vi.waitFor(() => expect(begun()).toContain("left"), 3000)
      expect(begun().split("\n").toSorted()).toEqual(["", "left", "t-x,none", "t-x,none"])
      return "@clerk four"
    }
  ])
  const { err, out } = await world.heddle(["chat"], {
    lines: person.service,
    providers: [scripted(({ tools }) => tools.names.join(" "))],
    variables: { ...variables, BOX_TOKEN: "x" }
  })
  expect(err).not.toContain("Error")
  expect(out).toBe("box_look box_change\n".repeat(4))
  await vi.waitFor(() => expect(begun()).toMatch(/left[^]*left/), 3000)
})

it("no server is started where a variable is missing, or where the agent is not run", async () => {
  const { heddle, project } = makeWorld({
    "server.mjs": server,
    "agents/clerk.md": agent(),
    "agents/other.md": "Hi.\n"
  })
  const { err, status } = await heddle(["run", "clerk", "Hi"])
  expect(status).toBe(2)
  expect(err).toContain("agents/clerk.md: mcp.box.env.TOKEN: the environment variable BOX_TOKEN is not set")
  await heddle(["run", "other", "Hi"])
  expect(existsSync(path.join(project, "begun.txt"))).toBe(false)
})

it("what was indexed is found without a session, and where nothing was, it is said how", async () => {
  const { heddle, home, project } = makeWorld({ "agents/clerk.md": "---\nrag: { topK: 1 }\n---\nHelp.\n" })
  const seen = scripted(({ instructions }) =>
    JSON.stringify(instructions).includes("at nine") ? "Found." : "Not found."
  )
  const run = () => heddle(["run", "clerk", "When do you open?"], { providers: [seen], variables })
  const before = await run()
  expect(before).toMatchObject({ status: 0, out: "Not found.\n" })
  expect(before.err).toContain("heddle index FOLDER")
  const file = path.join(home, ".local/share/heddle/heddle.db")
  expect(existsSync(file)).toBe(false)
  await Effect.flatMap(DocumentIndex.DocumentIndex, (index) =>
    index.put(DocumentIndex.collection("docs", project), [
      {
        source: "hours.md",
        hash: "1",
        chunks: [{ id: "1", text: "We open at nine.", context: "Opening hours", metadata: {} }]
      }
    ])
  ).pipe(Effect.provide(stored(file)), Effect.runPromise)
  expect(await run()).toEqual({ status: 0, out: "Found.\n", err: "" })
})

it("documents and conversations of another project are not there", async () => {
  const one = makeWorld({ "agents/clerk.md": "Hi.\n" })
  const two = makeWorld({ "agents/clerk.md": "Hi.\n" })
  const count = scripted(({ history }) => `${history.length}`)
  const run = ({ heddle }: typeof one) =>
    heddle(["run", "clerk", "Hi", "--session", "s", "--db", path.join(one.home, "x.db")], {
      providers: [count],
      variables
    })
  expect((await run(one)).out).toBe("1\n")
  expect((await run(two)).out).toBe("1\n")
  expect((await run(one)).out).toBe("3\n")
})

it("a file that is no database is told of, and left as it is", async () => {
  const { heddle, write } = makeWorld({ "agents/clerk.md": "Hi.\n" })
  const file = write("notes.db", "These are notes, and no database at all. ".repeat(50))
  const { err, out, status } = await heddle(["run", "clerk", "Hi", "--session", "s", "--db", "notes.db"])
  expect({ out, status }).toEqual({ out: "", status: 1 })
  expect(err).toContain("is not a database")
  expect(readFileSync(file, "utf8")).toMatch(/^These are notes/)
})
