import { Errors, Handler } from "@heddle/core"
import type { ModelProvider } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect, it } from "vitest"
import { HandlerRegistry } from "../src/index.ts"
import { makeWorld } from "./support.ts"

const clerk = { "agents/clerk.md": "---\ntitle: Clerk\n---\nThe office opens at nine.\n" }

const scripted = (
  script: ScriptedModel.Script,
  options?: { readonly cut?: ScriptedModel.Cut }
): ModelProvider.ModelProvider => ({
  name: "scripted",
  make: () => Effect.map(ScriptedModel.make(script, options), ({ service }) => service)
})
const model = { HEDDLE_MODEL: "scripted/any" }

it("an agent that is a file answers, offline, and it is said that the offline model does", async () => {
  const { heddle } = makeWorld(clerk)
  const { err, out, status } = await heddle(["run", "clerk", "When does the office open?"])
  expect(status).toBe(0)
  expect(out).toContain("The office opens at nine.")
  expect(err).toContain("The offline model answers")
})

it("nothing is said of the offline model where somebody has asked for it", async () => {
  const { heddle } = makeWorld(clerk)
  for (const asked of [{ args: ["--model", "offline/offline"] }, { variables: { HEDDLE_MODEL: "offline/offline" } }]) {
    const { err } = await heddle(["run", "clerk", "Hello", ...(asked.args ?? [])], { variables: asked.variables ?? {} })
    expect(err).toBe("")
  }
})

it("an agent that is not there is told of with the names that are near", async () => {
  const { heddle } = makeWorld(clerk)
  const { err, out, status } = await heddle(["run", "clrk", "Hello"])
  expect({ out, status }).toEqual({ out: "", status: 2 })
  expect(err).toContain('is "clerk" meant?')
})

it("what is asked is the argument, the file and standard input, in this order", async () => {
  const { heddle, write } = makeWorld(clerk)
  write("question.txt", "two")
  const echo = scripted((request) => JSON.stringify(request.history.at(-1)))
  const options = { providers: [echo], variables: model }
  const { out } = await heddle(["run", "clerk", "one", "--file", "question.txt"], { ...options, input: "three\n" })
  expect(out).toContain("one\\n\\ntwo\\n\\nthree\\n")
  expect((await heddle(["run", "clerk"], { ...options, input: "three" })).out).toContain('"three"')
})

it("a prompt that is empty, not there or not in UTF-8 makes no sense", async () => {
  const { heddle, write } = makeWorld(clerk)
  write("latin1.txt", Uint8Array.of(0x66, 0xfc, 0x72))
  for (const [args, options, message] of [
    [["run", "clerk"], {}, "Nothing is asked"],
    [["run", "clerk", "  "], {}, "Nothing is asked"],
    [["run", "clerk"], { input: "" }, "Nothing is asked"],
    [["run", "clerk"], { input: Uint8Array.of(0xff, 0xfe, 0xff) }, "Standard input is not in UTF-8"],
    [["run", "clerk", "--file", "latin1.txt"], {}, '"latin1.txt" is not in UTF-8'],
    [["run", "clerk", "--file", "nowhere.txt"], {}, 'There is no file "nowhere.txt"'],
    [["run", "clerk", "--file", "agents"], {}, '"agents" cannot be read'],
    [["run", "clerk", "Hi", "--session", " "], {}, "A session needs a name"],
    [["run", "clerk", "Hi", "--stream", "--no-stream"], {}, "the contrary"]
  ] as const) {
    const { err, out, status } = await heddle(args, options)
    expect({ out, status }).toEqual({ out: "", status: 2 })
    expect(err).toContain(message)
  }
})

it("a prompt of five megabytes is asked whole", async () => {
  const { heddle } = makeWorld(clerk)
  const size = scripted((request) => String(JSON.stringify(request.history.at(-1)).length))
  const { out } = await heddle(["run", "clerk"], {
    providers: [size],
    variables: model,
    input: "x".repeat(5_000_000)
  })
  expect(Number(out)).toBeGreaterThan(5_000_000)
})

it("a mode that needs patterns is refused where the file has none, and taken where it has", async () => {
  const { heddle } = makeWorld({ ...clerk, "agents/picky.md": "---\nsharePatterns: ['uses *']\n---\nHello.\n" })
  const refused = await heddle(["run", "clerk", "Hi", "--context-mode", "selective"])
  expect(refused.status).toBe(2)
  expect(refused.err).toContain("agents/clerk.md: sharePatterns: expected one pattern at least")
  expect((await heddle(["run", "picky", "Hi", "--context-mode", "selective"])).status).toBe(0)
})

it("a session is remembered, a run without one is not", async () => {
  const { heddle } = makeWorld(clerk)
  const count = scripted((request) => `${request.history.length} messages`)
  const run = (...args: ReadonlyArray<string>) =>
    heddle(["run", "clerk", "Hi", ...args], { providers: [count], variables: model })
  expect((await run()).out).toBe("1 messages\n")
  expect((await run()).out).toBe("1 messages\n")
  expect((await run("--session", "ada")).out).toBe("1 messages\n")
  expect((await run("--session", "ada")).out).toBe("3 messages\n")
  expect((await run("--session", "bob")).out).toBe("1 messages\n")
})

it("text comes as it is made on a terminal, and once it is there in a pipe", async () => {
  const { heddle } = makeWorld(clerk)
  const failing = scripted([{ text: "I begin", error: new Errors.ModelError({ reason: "Network", message: "Gone." }) }])
  const options = { providers: [failing], variables: model }
  const seen = await heddle(["run", "clerk", "Hi"], { ...options, terminal: { columns: 80 } })
  expect(seen.out).toBe("I begin\n")
  expect(seen).toMatchObject({ status: 1, err: expect.stringContaining("Gone.\nThe provider cannot be reached") })
  expect((await heddle(["run", "clerk", "Hi"], options)).out).toBe("")
  expect((await heddle(["run", "clerk", "Hi", "--stream"], options)).out).toBe("I begin\n")
  const late = await heddle(["run", "clerk", "Hi", "--no-stream"], { ...options, terminal: { columns: 80 } })
  expect(late.out).toBe("")
})

it("text that steers a terminal, and characters in two halves, do it no harm", async () => {
  const { heddle } = makeWorld(clerk)
  const wild = scripted(["\u001b[2J\u202eHi \u{1f600}\u0007!"], { cut: { every: 1 } })
  for (const terminal of [{ columns: 80 }, undefined]) {
    const { out } = await heddle(["run", "clerk", "Hi"], {
      providers: [wild],
      variables: model,
      ...(terminal && { terminal })
    })
    expect(out).toBe("[2JHi \u{1f600}!\n")
  }
})

it("with --json, each line is an event, and a failure is told without its cause", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\ntools: { allow: [ask_user] }\n---\nHi.\n",
    "agents/lead.md": "---\nagents: [clerk]\n---\nAsk.\n"
  })
  const error = new Errors.ModelError({ reason: "Network", message: "Gone.", cause: "secret" })
  const script: ScriptedModel.Script = (_, turn) =>
    turn === 0
      ? { calls: [{ tool: "clerk", arguments: { input: "x" } }] }
      : turn === 1
        ? "The \u001b[31manswer"
        : { text: "So", error }
  const { out, status } = await heddle(["run", "lead", "Hi", "--json"], {
    providers: [scripted(script)],
    variables: model,
    terminal: { columns: 80, colours: true }
  })
  expect(status).toBe(1)
  expect(out).not.toContain("secret")
  const events = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(events[0]).toEqual({ _tag: "RunStarted", agent: "lead" })
  expect(events).toContainEqual(
    expect.objectContaining({ _tag: "ToolProgress", value: { _tag: "Text", step: 1, text: "The \u001b[31manswer" } })
  )
  expect(events.at(-1)).toMatchObject({ _tag: "Failed", error: { _tag: "ModelError", message: "Gone." } })
})

it("tools of an agent that is asked stand under it, with how they ended", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\ntools: { allow: [read_file] }\n---\nHi.\n",
    "agents/lead.md": "---\nagents: [clerk]\n---\nAsk.\n"
  })
  const script: ScriptedModel.Script = (_, turn) =>
    [
      { calls: [{ tool: "clerk", arguments: { input: "Look" } }] },
      { calls: [{ tool: "read_file", arguments: { path: "nowhere.txt" } }] },
      "Nothing.",
      "There is nothing."
    ][turn]!
  const { err, out } = await heddle(["run", "lead", "Hi"], { providers: [scripted(script)], variables: model })
  expect(out).toBe("There is nothing.\n")
  expect(err.split("\n").map((line) => line.replace(/\d\.\ds/, "0.0s"))).toEqual([
    '▸ clerk(input: "Look")',
    expect.stringMatching(/^ {2}✗ read_file\(path: "nowhere.txt"\) 0.0s: .*nowhere.txt/),
    "✓ clerk 0.0s",
    ""
  ])
})

it("no line is longer than a narrow terminal has columns", async () => {
  const { heddle } = makeWorld({ "agents/clerk.md": "---\ntools: { allow: [read_file] }\n---\nHi.\n" })
  const call = { tool: "read_file", arguments: { path: `${"字".repeat(30)}.txt` } }
  const { err } = await heddle(["run", "clerk", "Hi"], {
    providers: [scripted([{ calls: [call] }, "Well."])],
    variables: model,
    terminal: { columns: 20 }
  })
  for (const line of err.split("\n")) {
    const text = line.slice(line.lastIndexOf("\u001b[2K") + 1)
    expect(text.length + text.split("字").length - 1).toBeLessThan(20)
  }
})

it("text that a model has taken back is told of where it was shown", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\nhandlers: [{ name: retry, options: { baseDelay: 1 } }]\n---\nHi.\n"
  })
  const error = new Errors.ModelError({ reason: "Network", message: "Gone." })
  const script: ScriptedModel.Script = (_, turn) => (turn === 0 ? { text: "The an", error } : "The answer.")
  const run = (terminal?: { readonly columns: number }) =>
    heddle(["run", "clerk", "Hi"], { providers: [scripted(script)], variables: model, ...(terminal && { terminal }) })
  const seen = await run({ columns: 80 })
  expect(seen.out).toBe("The an\nThe answer.\n")
  expect(seen.err).toContain("does not count")
  expect(await run()).toEqual({ status: 0, out: "The answer.\n", err: "" })
})

it("the answer of an agent with an output is JSON that fits it, or the run fails", async () => {
  const text = "---\noutput: { type: object, properties: { n: { type: integer } }, required: [n] }\n---\nHi.\n"
  const { heddle } = makeWorld({ "agents/clerk.md": text })
  const run = (answer: string) => heddle(["run", "clerk", "Hi"], { providers: [scripted([answer])], variables: model })
  expect((await run('{"n":1}')).out).toBe('{\n  "n": 1\n}\n')
  const wrong = await run('{"n":"one"}')
  expect({ out: wrong.out, status: wrong.status }).toEqual({ out: "", status: 1 })
  expect(wrong.err).toContain("answer/n must be integer")
})

it("the model is shown the output as the file has it", async () => {
  const text =
    "---\noutput: { type: object, properties: { n: { $ref: '#/$defs/N' } }, $defs: { N: { type: integer } } }\n---\nHi.\n"
  const { heddle } = makeWorld({ "agents/clerk.md": text })
  const echo = scripted((request) => JSON.stringify({ saw: request.output }))
  const { out } = await heddle(["run", "clerk", "Hi"], { providers: [echo], variables: model })
  expect(JSON.parse(out).saw).toMatchObject({
    type: "object",
    properties: { n: { $ref: "#/definitions/N" } },
    definitions: { N: { type: "integer" } }
  })
})

it("a run that comes to its limit of steps says what can be changed", async () => {
  const { heddle } = makeWorld({ "agents/clerk.md": "---\nmaxSteps: 1\n---\nHi.\n" })
  const { err, status } = await heddle(["run", "clerk", "Hi"], {
    providers: [scripted([{ calls: [{ tool: "nothing" }] }])],
    variables: model
  })
  expect(status).toBe(1)
  expect(err).toContain("Set a higher maxSteps in agents/clerk.md")
})

it("--model is for all agents of the command", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\nmodel: openai/gpt-5\n---\nHi.\n",
    "agents/lead.md": "---\nmodel: openai/gpt-5\nagents: [clerk]\n---\nAsk.\n"
  })
  const script: ScriptedModel.Script = (_, turn) =>
    turn === 0 ? { calls: [{ tool: "clerk", arguments: { input: "x" } }] } : "Done."
  const { out, status } = await heddle(["run", "lead", "Hi", "--model", "scripted/any"], {
    providers: [scripted(script)]
  })
  expect({ out, status }).toEqual({ out: "Done.\n", status: 0 })
})

it("a model without a key, and one of a provider that is not there, are told of before anything is asked", async () => {
  const { heddle } = makeWorld(clerk)
  for (const [name, message] of [
    ["openai/gpt-5", '--model: the model "openai/gpt-5" needs an API key: set the environment variable OPENAI_API_KEY'],
    ["opnai/gpt-5", 'is "openai" meant?'],
    ["gpt-5", "A model is named provider/model"]
  ] as const) {
    const { err, out, status } = await heddle(["run", "clerk", "Hi", "--model", name])
    expect({ out, status }).toEqual({ out: "", status: 2 })
    expect(err).toContain(message)
  }
})

it("a handler of one's own is named by its file, with its options", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\nhandlers: [{ name: signed, options: { by: Ada } }]\n---\nHi.\n"
  })
  const signed = HandlerRegistry.define({
    description: "Signs.",
    options: Schema.Struct({ by: Schema.String }),
    make: ({ by }) => Handler.beforeAgent(() => Handler.finish(`Signed by ${by}`), "signed")
  })
  const { out } = await heddle(["run", "clerk", "Hi"], { handlers: { signed } })
  expect(out).toBe("Signed by Ada\n")
})

it("no secret of the environment is told, whatever goes wrong", async () => {
  const canary = "canary-7d1f"
  const { heddle } = makeWorld({
    ...clerk,
    "agents/hub.md": `---\nmcp: { hub: { url: "http://127.0.0.1:9/mcp", headers: { authorization: { from: HUB, prefix: "Bearer " } } } }\n---\nHi.\n`
  })
  const variables = { OPENAI_API_KEY: canary, HUB: canary }
  for (const args of [
    ["run", "hub", "Hi", "--model", "offline/offline"],
    ["run", "hub", "Hi", "--model", "offline/offline", "--json"],
    ["run", "hub", "Hi", "--model", "offline/offline", "--debug"]
  ]) {
    const { err, out } = await heddle(args, { variables })
    expect(err + out).not.toContain(canary)
  }
  const { err, status } = await heddle(["run", "hub", "Hi", "--model", "offline/offline"], { variables })
  expect(status).toBe(0)
  expect(err).toContain("! hub: ")
})
