import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { Environment } from "../src/internal/Environment.ts"
import { models } from "../src/internal/models/choose.ts"
import { lookEverywhere, ollamaAddress } from "../src/internal/models/detect.ts"
import { providers } from "../src/internal/services.ts"
import { makeWorld } from "./support.ts"

const clerk = { "agents/clerk.md": "Hello.\n" }

/** Something that answers as Ollama does when it is asked for its models, or else as it is told. */
const ollama = async (answer: unknown): Promise<string> => {
  const server: Server = createServer((request, response) => {
    if (request.url === "/api/tags")
      return void response.end(typeof answer === "string" ? answer : JSON.stringify(answer))
    response.writeHead(200, { "content-type": "text/event-stream" })
    const say = (delta: object, more = {}) =>
      response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, ...more }] })}\n\n`)
    say({ role: "assistant", content: "I am here." })
    say({}, { finish_reason: "stop" })
    response.end("data: [DONE]\n\n")
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const tags = {
  models: [{ name: "nomic-embed-text:latest", details: { family: "nomic-bert" } }, { name: "llama3.2:latest" }]
}

it("the closest one who names a model is heard", async () => {
  const { heddle, write } = makeWorld({
    "agents/clerk.md": "Hi.\n",
    "agents/own.md": "---\nmodel: one/file\n---\nHi.\n"
  })
  // None of the providers is there, so the message says which model was asked.
  const key = { ANTHROPIC_API_KEY: "canary" }
  const of = async (agent: string, variables: Record<string, string>, ...args: ReadonlyArray<string>) =>
    (await heddle(["run", agent, "Hi", ...args], { variables })).err
  expect(await of("own", { ...key, HEDDLE_MODEL: "two/variable" }, "--model", "three/option")).toContain("three/option")
  expect(await of("own", { ...key, HEDDLE_MODEL: "two/variable" })).toContain("one/file")
  expect(await of("clerk", { ...key, HEDDLE_MODEL: "two/variable" })).toContain("HEDDLE_MODEL: ")
  write("~/.config/heddle/config.yaml", "model: five/user\n")
  expect(await of("clerk", key)).toContain("five/user")
  write(".heddle/config.yaml", "model: four/project\n")
  expect(await of("clerk", key)).toContain(
    '.heddle/config.yaml: the model "four/project" has an unknown provider "four"'
  )
})

it("a local Ollama answers where there is no key, with the first model that is no embedding", async () => {
  const { heddle } = makeWorld(clerk)
  const { err, out } = await heddle(["run", "clerk", "Hi"], { variables: { OLLAMA_HOST: await ollama(tags) } })
  expect({ err, out }).toEqual({ err: "", out: "I am here.\n" })
})

it("an Ollama without models, or that is none, is passed over", async () => {
  const { heddle } = makeWorld(clerk)
  for (const answer of [{ models: [] }, { other: 1 }, "no JSON"]) {
    const { err, status } = await heddle(["run", "clerk", "Hi"], { variables: { OLLAMA_HOST: await ollama(answer) } })
    expect(status).toBe(0)
    expect(err).toContain("The offline model answers")
  }
})

it("all that was looked at is told, with what can be done, and no key", async () => {
  const look = (variables: Record<string, string>) =>
    Effect.runPromise(
      Effect.provideService(lookEverywhere, Environment, {
        cwd: "/",
        home: "/",
        variables,
        input: { isTerminal: true, read: Effect.succeed(new Uint8Array()) }
      })
    )
  const nothing = await look({ OLLAMA_HOST: "127.0.0.1:9" })
  expect(nothing.map(({ model, what }) => [what, model])).toEqual([
    ["ANTHROPIC_API_KEY", undefined],
    ["OPENAI_API_KEY", undefined],
    ["GOOGLE_GENERATIVE_AI_API_KEY", undefined],
    ["Ollama at http://127.0.0.1:9", undefined]
  ])
  for (const { remedy } of nothing) expect(remedy).toMatch(/^(Set|Install)/)
  const some = await look({ OPENAI_API_KEY: "canary", OLLAMA_HOST: await ollama(tags) })
  expect(some[1]).toEqual({ what: "OPENAI_API_KEY", found: "set", model: "openai/gpt-5-mini" })
  expect(some[3]).toMatchObject({ found: "has llama3.2:latest", model: "ollama/llama3.2:latest" })
  const hidden = await look({ OLLAMA_HOST: "http://user:canary@127.0.0.1:9" })
  expect(JSON.stringify([some, hidden])).not.toContain("canary")
})

it("OLLAMA_HOST is read as Ollama does", () => {
  for (const [said, origin] of [
    ["", "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    [":8080", "http://127.0.0.1:8080"],
    ["box", "http://box:11434"],
    ["box:8080", "http://box:8080"],
    ["https://box.example", "https://box.example"],
    ["http://box:8080/", "http://box:8080"]
  ] as const) {
    expect(Either.getOrThrow(ollamaAddress({ variables: { OLLAMA_HOST: said } })).origin).toBe(origin)
  }
  expect(Either.isLeft(ollamaAddress({ variables: { OLLAMA_HOST: "a b:c" } }))).toBe(true)
})

it("a name of the configuration stands for its model, and its key has to be there", () => {
  const config = {
    models: [
      { name: "fast", provider: "openai", model: "gpt-5-nano", apiKeyFrom: "MY_KEY" },
      { name: "local", provider: "openai-compatible", model: "x", baseUrl: "http://localhost:1/v1" }
    ]
  }
  const { entries, entry } = models(config, providers, { variables: {} })
  expect(Either.getLeft(entry("fast"))).toMatchObject({ value: expect.stringContaining("variable MY_KEY") })
  expect(Either.isRight(entry("local"))).toBe(true)
  expect(Either.getLeft(entry("fasst"))).toMatchObject({ value: expect.stringContaining('is "fast" meant?') })
  expect(Either.getOrThrow(models(config, providers, { variables: { MY_KEY: "x" } }).entry("fast"))).toBe(
    config.models[0]
  )
  expect(entries(["offline/offline", "nonsense", "openai/gpt-5"]).map(({ name }) => name)).toEqual([
    "fast",
    "local",
    "offline/offline",
    "openai/gpt-5"
  ])
})

it("a model of the configuration that makes no sense is told of where it is asked for, and nowhere else", async () => {
  const { heddle } = makeWorld({
    ...clerk,
    "agents/own.md": "---\nmodel: fast\n---\nHi.\n",
    ".heddle/config.yaml": "models: [{ name: fast, provider: offlin, model: x }]\n"
  })
  expect(await heddle(["run", "clerk", "Hi"])).toMatchObject({ status: 0 })
  const { err, status } = await heddle(["run", "own", "Hi"])
  expect(status).toBe(2)
  expect(err).toContain('agents/own.md: model: the model "fast" of the configuration has an unknown provider "offlin"')
  expect(err).not.toContain("ModelRegistry")
  expect((await heddle(["run", "clerk", "Hi", "--model", "fats"])).err).toContain('is "fast" meant? A model is named')
})
