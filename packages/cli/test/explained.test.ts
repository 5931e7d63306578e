import * as NodeContext from "@effect/platform-node/NodeContext"
import { Instructions, Message } from "@heddle/core"
import { Conversations, Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { AgentFile, HandlerRegistry } from "../src/index.ts"
import type { Agents } from "../src/internal/agents/Agents.ts"
import { approvals } from "../src/internal/agents/approval.ts"
import { infoText } from "../src/internal/agents/listing.ts"
import { withAsked } from "../src/internal/agents/build.ts"
import { explained, preview } from "../src/internal/agents/explained.ts"
import { type Options, resolve, type Resolved } from "../src/internal/agents/resolve.ts"
import { models } from "../src/internal/models/choose.ts"
import { Asking, NobodyToAsk } from "../src/internal/Asking.ts"
import { Environment } from "../src/internal/Environment.ts"
import { Project } from "../src/internal/Project.ts"
import { explanationJson, explanationText } from "../src/internal/show/explanation.ts"
import { fleeting, layer, providers } from "../src/internal/services.ts"

const agentsOf = (files: Readonly<Record<string, string>>): Agents => {
  const all = Object.entries(files).map(([path, text]) => AgentFile.parse(text, { path }))
  return {
    all: new Map(all.flatMap(({ agent }) => (agent === undefined ? [] : [[agent.name, agent]]))),
    shadowed: [],
    problems: [],
    broken: new Map(),
    files: [],
    folders: []
  }
}

const optionsOf = (agents: Agents, variables: Readonly<Record<string, string>> = {}): Options => ({
  agents,
  handlers: HandlerRegistry.builtIn,
  models: models({}, providers, { variables }),
  choice: { model: "offline/offline", from: "no other model was found" },
  approvals: approvals([]),
  environment: { variables },
  cwd: "/"
})

const explain = (
  files: Readonly<Record<string, string>>,
  name: string,
  { variables = {}, ...rest }: Partial<Options> & { readonly variables?: Record<string, string> } = {}
) => {
  const agents = agentsOf(files)
  return Effect.runPromise(explained(agents.all.get(name)!, { ...optionsOf(agents, variables), ...rest }))
}

it("each setting says where it came from", async () => {
  const text = "---\nmaxSteps: 3\ncontextMode: summarized\nmemory:\n  historyLimit: 2\n---\nBe brief.\n"
  const { settings } = await explain({ "agents/terse.md": text }, "terse")
  const of = (key: string) => settings.find((setting) => setting.key === key)
  expect(of("model")).toEqual({ key: "model", value: "offline/offline", from: "no other model was found" })
  expect(of("maxSteps")).toEqual({ key: "maxSteps", value: 3, from: "agents/terse.md" })
  expect(of("onStepLimit")).toEqual({ key: "onStepLimit", value: "error", from: "default" })
  expect(of("summarizeAfter")).toEqual({ key: "summarizeAfter", value: 20, from: "default" })
  expect(of("memory.historyLimit")).toEqual({ key: "memory.historyLimit", value: 2, from: "agents/terse.md" })
  expect(of("memory.summaryTrigger")).toEqual({ key: "memory.summaryTrigger", value: 30, from: "default" })
})

it("what does a part of the work does it with the model of the agent, unless its file says another", async () => {
  const of = async (head: string, model?: string) => {
    const { settings } = await explain({ "a.md": `---\n${head}\n---\nHi.` }, "a", model === undefined ? {} : { model })
    const { from, value } = settings.find(({ key }) => key === "memory.summaryModel")!
    return [value, from]
  }
  expect(await of("maxSteps: 1")).toEqual(["offline/offline", "no other model was found"])
  expect(await of("model: ollama/x")).toEqual(["ollama/x", "a.md"])
  expect(await of("model: ollama/x\nmemory: { summaryModel: ollama/y }")).toEqual(["ollama/y", "a.md"])
  expect(await of("model: ollama/x\nmemory: { summaryModel: ollama/y }", "ollama/z")).toEqual(["ollama/z", "--model"])
})

it("the handlers stand in their order, the approval innermost", async () => {
  const text = [
    "---",
    "rag: { topK: 2 }",
    "mcp: { files: { command: serve-files } }",
    "handlers: [{ name: instructions, options: { text: Hello } }]",
    "---",
    "Be brief."
  ].join("\n")
  const { pipeline, servers } = await explain({ "agents/terse.md": text }, "terse")
  expect(pipeline.match(/^\d\. \S+/gm)).toEqual(["1. memory", "2. rag", "3. files", "4. instructions", "5. approval"])
  expect(servers).toEqual([{ name: "files", at: "serve-files", prefix: "files_", variables: [] }])
})

it("all that is wrong is told at once, with the file", async () => {
  const text = [
    "---",
    "model: opnai/gpt-5",
    "memory: { summaryModel: openai/gpt-5 }",
    "agents: [clrk, other]",
    "mcp: { hub: { url: 'http://localhost:1/mcp', headers: { authorization: { from: HUB_TOKEN } } } }",
    "handlers: [instrctions, { name: instructions, options: { txt: Hello } }]",
    "output: { type: nonsense }",
    "---",
    "Be brief."
  ].join("\n")
  const files = {
    "agents/terse.md": text,
    "agents/other.md": "---\nagents: [terse]\n---\nHello.",
    "agents/clerk.md": "Hi"
  }
  const { pipeline, problems } = await explain(files, "terse")
  expect(pipeline).toBe("")
  expect(problems).toEqual([
    expect.stringContaining('has an unknown provider "opnai"'),
    'agents/terse.md: memory.summaryModel: the model "openai/gpt-5" needs an API key: set the environment variable OPENAI_API_KEY',
    "agents/terse.md: mcp.hub.headers.authorization: the environment variable HUB_TOKEN is not set",
    expect.stringContaining('is "clerk" meant?'),
    expect.stringContaining('agents/terse.md: handlers[0]: unknown handler "instrctions"'),
    expect.stringMatching(/^agents\/terse\.md: handlers\[1\]\.options: unknown key "txt": .*is "text" meant\?$/),
    expect.stringContaining("agents/terse.md: output: "),
    "agents/other.md: agents: they ask each other in a circle: terse → other → terse"
  ])
})

it("no value of the environment is told", async () => {
  const text =
    "---\nmcp: { hub: { url: 'http://localhost:1/mcp?key=canary', headers: { a: { from: HUB_TOKEN } } } }\n---\nHi"
  const told = await explain({ "agents/terse.md": text }, "terse", { variables: { HUB_TOKEN: "canary" } })
  expect(JSON.stringify({ ...told, file: undefined })).not.toContain("canary")
  expect(told.servers).toEqual([
    { name: "hub", at: "http://localhost:1/mcp", prefix: "hub_", variables: ["HUB_TOKEN"] }
  ])
})

it("what a server that is a program is started with is not told: it may be secret", async () => {
  const text = "---\nmcp: { hub: { command: serve, args: [--token, canary], env: { A: canary } } }\n---\nHi"
  const agents = agentsOf({ "agents/terse.md": text })
  const file = agents.all.get("terse")!
  const told = await Effect.runPromise(explained(file, optionsOf(agents)))
  expect(told.servers).toEqual([{ name: "hub", at: "serve", prefix: "hub_", variables: [] }])
  const sheet = { write: () => Effect.void, colours: false, isTerminal: false, columns: () => 80 }
  expect(explanationText(told, undefined, sheet)).not.toContain("canary")
  expect(JSON.stringify(explanationJson(told, undefined))).not.toContain("canary")
  expect(infoText(file, sheet)).not.toContain("canary")
})

it("an agent that many ask is gone through once", async () => {
  const layers = 12
  const files = Array.from({ length: layers }, (_, i) =>
    ["a", "b"].map((side) => {
      const asks = i + 1 < layers ? `agents: [a${i + 1}, b${i + 1}]` : "maxSteps: 1"
      return [`agents/${side}${i}.md`, `---\n${asks}\n---\nHi`] as const
    })
  )
  const agents = agentsOf(Object.fromEntries(files.flat()))
  let looks = 0
  const seen = new Map<Resolved, Resolved>()
  const counting = (one: Resolved): Resolved => {
    const before = seen.get(one)
    if (before !== undefined) return before
    const asks = one.asks.map(counting)
    const counted: Resolved = {
      ...one,
      get asks() {
        looks++
        return asks
      }
    }
    seen.set(one, counted)
    return counted
  }
  const all = withAsked(counting(await Effect.runPromise(resolve(agents.all.get("a0")!, optionsOf(agents)))))
  expect(all.map(({ file }) => file.name).toSorted()).toEqual(
    [...agents.all.keys()].filter((name) => name !== "b0").toSorted()
  )
  expect(looks).toBe(2 * layers - 1)
})

it("what a model would be asked is shown, nobody is asked, and nothing is kept", async () => {
  const head = "contextMode: shared\nhandlers: [{ name: instructions, options: { text: Be kind. } }]\nrag: { topK: 1 }"
  const agents = agentsOf({ "agents/terse.md": `---\n${head}\ntools: { allow: [read_file] }\n---\nBe brief.\n` })
  const file = agents.all.get("terse")!
  const options = optionsOf(agents)
  const program = Effect.gen(function* () {
    const conversations = yield* Conversations.Conversations
    const key = Conversations.main("s")
    yield* conversations.append(key, { agent: "other", messages: [Message.user("One"), Message.assistant("Two")] })
    const request = yield* preview(file, options, "Three")
    const { exchanges } = yield* conversations.read(key)
    return { request: request!, exchanges }
  })
  const { exchanges, request } = await Effect.runPromise(
    program.pipe(
      Session.within("s"),
      Effect.provide(
        layer({ stores: fleeting, defaultModel: "offline/offline", providers: [], models: [] }).pipe(
          Layer.merge(NodeContext.layer)
        )
      ),
      Effect.provideService(Project, {
        root: "/",
        agentFolders: [],
        config: {},
        saidBy: {},
        shown: (path) => path,
        configFiles: [],
        dataFolder: "/",
        database: "/x.db"
      }),
      Effect.provideService(Asking, { ask: () => new NobodyToAsk({ message: "nobody" }) }),
      Effect.provideService(Environment, {
        cwd: "/",
        home: "/",
        variables: {},
        input: { isTerminal: true, read: Effect.succeed(new Uint8Array()) }
      })
    )
  )
  expect(Instructions.render(request.instructions)).toMatch(/Be brief\.[^]*Be kind\./)
  expect(request.history.map(Message.text)).toEqual(["One", "Two", "Three"])
  expect(request.tools.names).toEqual(["read_file"])
  expect(exchanges.length).toBe(1)
})
