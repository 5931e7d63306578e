import { spawn, spawnSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { makeWorld } from "./support.ts"

// Inside of the package, so that what stays outside of the bundle is found.
const outdir = fileURLToPath(new URL("../dist/test-bin", import.meta.url))
beforeAll(async () => {
  // It is JavaScript that no project of types has in it.
  const { bundle } = (await import(new URL("../bundle.mjs", import.meta.url).href)) as {
    readonly bundle: (outdir: string) => Promise<unknown>
  }
  await bundle(outdir)
})
afterAll(() => rmSync(outdir, { recursive: true, force: true }))

/** Runs the bundle in a world, as a program of its own. */
const heddle = ({ home, project }: ReturnType<typeof makeWorld>, ...args: ReadonlyArray<string>) =>
  new Promise<{ readonly status: number | null; readonly out: string; readonly err: string }>((resolve) => {
    const program = spawn(process.execPath, [path.join(outdir, "heddle.mjs"), ...args], {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: home, OLLAMA_HOST: "127.0.0.1:9" },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    program.stdout.on("data", (piece: Buffer) => (out += piece.toString()))
    program.stderr.on("data", (piece: Buffer) => (err += piece.toString()))
    program.on("close", (status) => resolve({ status, out, err }))
  })

it("an output is checked, in either draft of JSON Schema", async () => {
  const text = (schema: string) =>
    `---\noutput: { ${schema} type: object, properties: { n: { type: integer } }, required: [n] }\n---\nThere are 7 rooms.\n`
  const world = makeWorld({
    "agents/old.md": text(""),
    "agents/new.md": text('$schema: "https://json-schema.org/draft/2020-12/schema",')
  })
  for (const name of ["old", "new"]) {
    const { out, status } = await heddle(world, "run", name, "How many rooms are there?")
    expect(status).toBe(0)
    expect(JSON.parse(out)).toEqual({ n: expect.any(Number) })
  }
})

it("a session is kept, and an index is looked for", async () => {
  const world = makeWorld({ "agents/clerk.md": "---\nrag: { topK: 1 }\n---\nWe open at nine.\n" })
  for (const _ of [1, 2]) {
    const { out, status } = await heddle(world, "run", "clerk", "When do you open?", "--session", "s")
    expect({ out, status }).toEqual({ status: 0, out: expect.stringContaining("at nine") })
  }
  expect((await heddle(world, "run", "clerk", "When do you open?")).err).toBe(
    "The offline model answers, since no other model was found: it quotes what it finds. See heddle doctor.\n"
  )
})

it("a page is fetched and read, and a server of tools is spoken to", async () => {
  const page = createServer((_, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<p>The tower has 300 steps.</p>")
  )
  await new Promise<void>((done) => page.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`
  const server = `
import { createInterface } from "node:readline"
const tools = [{ name: "rooms", description: "How many rooms there are.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }]
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "There are 12 rooms." }] })
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }))
}
`
  const world = makeWorld({
    "server.mjs": server,
    "agents/reader.md": "---\ntools: { allow: [fetch_url] }\n---\nRead.\n",
    "agents/porter.md": `---\nmcp: { house: { command: ${JSON.stringify(process.execPath)}, args: [server.mjs] } }\n---\nHelp.\n`
  })
  const read = await heddle(world, "run", "reader", `Fetch ${url} and say how many steps the tower has.`)
  const asked = await heddle(world, "run", "porter", "How many rooms are there?")
  page.close()
  expect(read.out).toContain("300 steps")
  expect(asked.out).toContain("12 rooms")
})

it("what is wrong with a workflow is told, with where it stands", async () => {
  const world = makeWorld({ "wrong.yaml": "name: w\nnode: { type: agent, name: ask, agent: nobody }\n" })
  for (const command of ["check", "run"]) {
    const { err, status } = await heddle(world, "workflow", command, "wrong.yaml")
    expect(err).toContain("wrong.yaml:2:33: error: node.agent: ")
    expect(status).toBe(command === "check" ? 1 : 2)
  }
})

/** Runs the bundle with its output where a shell puts it. */
const inShell = ({ home, project }: ReturnType<typeof makeWorld>, line: string) =>
  spawnSync("bash", ["-c", line], {
    cwd: project,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      HEDDLE_MODEL: "offline/offline",
      heddle: `${process.execPath} ${path.join(outdir, "heddle.mjs")}`
    },
    input: "",
    encoding: "utf8",
    timeout: 60_000
  })

it("a reader that goes away ends the command with 141, and nothing is said", () => {
  const world = makeWorld({ "agents/clerk.md": "We open at nine.\n" })
  const { stderr, stdout } = inShell(
    world,
    '$heddle run clerk "When do you open?" --json | head -n 1; echo "${PIPESTATUS[0]}"'
  )
  expect({ stderr, last: stdout.trim().split("\n").at(-1) }).toEqual({
    stderr: "",
    last: expect.stringMatching(/^(141|0)$/)
  })
})

// Where there is no such device, a disk cannot be full by asking for it.
it.runIf(existsSync("/dev/full"))("output that cannot be written is told of, and ends the command", () => {
  const world = makeWorld({ "agents/clerk.md": "We open at nine.\n" })
  for (const args of ["agents list", 'run clerk "When do you open?"', "run clerk Hi --json", "--version"]) {
    const { signal, status, stderr } = inShell(world, `$heddle ${args} > /dev/full`)
    expect({ args, signal, status }).toEqual({ args, signal: null, status: 1 })
    expect(stderr).toContain("The output cannot be written: ENOSPC")
  }
})

it("a run that is cancelled says so in its last line of JSON", async () => {
  // It never answers.
  const server = createServer(() => {})
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const world = makeWorld({
    ".heddle/config.yaml": `models: [{ name: slow, provider: openai-compatible, model: x, baseUrl: "${baseUrl}" }]\n`
  })
  const args = ["run", "assistant", "Hello", "--model", "slow", "--json"]
  const program = spawn(process.execPath, [path.join(outdir, "heddle.mjs"), ...args], {
    cwd: world.project,
    env: { PATH: process.env["PATH"], HOME: world.home },
    stdio: ["ignore", "pipe", "ignore"]
  })
  let out = ""
  program.stdout.on("data", (piece: Buffer) => {
    if (out === "") program.kill("SIGINT")
    out += piece.toString()
  })
  const status = await new Promise((ended) => program.once("close", ended))
  server.closeAllConnections()
  server.close()
  const tags = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly _tag: string })._tag)
  expect({ status, first: tags[0], last: tags.at(-1) }).toEqual({ status: 130, first: "RunStarted", last: "Cancelled" })
  expect(tags.filter((tag) => tag === "Cancelled")).toHaveLength(1)
})

it("a second signal ends a command that does not end by itself", async () => {
  const world = makeWorld()
  const program = spawn(process.execPath, [path.join(outdir, "heddle.mjs"), "run", "assistant"], {
    cwd: world.project,
    env: { PATH: process.env["PATH"], HOME: world.home, HEDDLE_MODEL: "offline/offline" },
    // What it waits for never comes.
    stdio: ["pipe", "ignore", "pipe"]
  })
  await new Promise((begun) => program.stderr.once("data", begun))
  program.kill("SIGTERM")
  const status = await new Promise((ended) => program.once("exit", ended))
  expect(status).toBe(143)
})
