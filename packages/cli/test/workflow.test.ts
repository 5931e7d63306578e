import { ScriptedModel } from "@heddle/testing"
import type { ModelProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeWorld } from "./support.ts"

const writer = "---\ndescription: Writes.\n---\nYou write.\n"

const article = `name: article
node:
  type: sequence
  nodes:
    - { type: agent, name: draft, agent: writer, prompt: "'Write about ' + string(value)" }
    - { type: condition, name: long, if: "size(value) > 1000", then: { type: agent, name: shorten, agent: editor } }
`

const files = { "agents/writer.md": writer, "agents/editor.md": writer, "article.yaml": article }

/** A model that answers as a script says, and the requests that it was given. */
const scripted = (script: ScriptedModel.Script) => {
  const model = Effect.runSync(ScriptedModel.make(script))
  const provider: ModelProvider.ModelProvider = { name: "scripted", make: () => Effect.succeed(model.service) }
  const questions = () =>
    Effect.runSync(model.requests).map(({ history }) =>
      history.map(({ content }) => content.map((part) => (part._tag === "Text" ? part.text : "")).join("")).join(" | ")
    )
  return { providers: [provider], questions }
}

const withModel = ["--model", "scripted/any"]

describe("workflow run", () => {
  it("writes what comes of it to standard output, and its progress to standard error", async () => {
    const { heddle } = makeWorld(files)
    const { providers, questions } = scripted(["A loom weaves."])
    const { err, out, status } = await heddle(["workflow", "run", "article.yaml", "looms", ...withModel], { providers })
    expect({ out, status }).toEqual({ out: "A loom weaves.\n", status: 0 })
    expect(questions()).toEqual(["Write about looms"])
    expect(err.replace(/\d+\.\d s/g, "… s")).toBe(
      "draft: running\ndraft: done, … s\nlong: running\nlong: running → false\nlong: done, … s\n"
    )
  })

  it.each([
    ["JSON", '{"topic": "looms"}', "looms"],
    ["a number", "7", "7"],
    ["a text", "{looms", "{looms"]
  ])("is given %s", async (_, input, told) => {
    const { heddle } = makeWorld({
      ...files,
      "w.yaml": `name: w
node: { type: agent, name: draft, agent: writer, prompt: "type(value) == map ? value.topic : string(value)" }
`
    })
    const { providers, questions } = scripted(() => "Done.")
    await heddle(["workflow", "run", "w.yaml", input, ...withModel], { providers })
    await heddle(["workflow", "run", "w.yaml", ...withModel], { providers, input: `${input}\n` })
    expect(questions()).toEqual([told, told])
  })

  it("is given null where there is no input, which is said", async () => {
    const { heddle } = makeWorld({
      ...files,
      "w.yaml":
        "name: w\nnode: { type: agent, name: draft, agent: writer, prompt: \"value == null ? 'null' : 'other'\" }\n"
    })
    const { providers, questions } = scripted(() => "Done.")
    for (const input of [{}, { input: "" }, { input: "\n" }]) {
      const { err, status } = await heddle(["workflow", "run", "w.yaml", ...withModel], { providers, ...input })
      expect(status).toBe(0)
      expect(err).toContain("The workflow is given no input: its input is null.\n")
    }
    expect(questions()).toEqual(["null", "null", "null"])
  })

  it("is given a file, and not two things at once", async () => {
    const { heddle, write } = makeWorld(files)
    write("topic.txt", "looms")
    const { providers, questions } = scripted(["Done."])
    const run = ["workflow", "run", "article.yaml", "--input-file", "topic.txt", ...withModel]
    expect(await heddle(run, { providers })).toMatchObject({ status: 0 })
    expect(questions()).toEqual(["Write about looms"])
    const both = await heddle(["workflow", "run", "article.yaml", "heddles", "--input-file", "topic.txt"])
    expect(both).toMatchObject({ status: 2, out: "" })
    expect(both.err).toContain("give one of them")
  })

  it("what is no text is refused", async () => {
    const { heddle } = makeWorld(files)
    const { err, status } = await heddle(["workflow", "run", "article.yaml"], { input: new Uint8Array([0xff, 0xfe]) })
    expect({ err, status }).toEqual({
      err: "heddle: Standard input is not in UTF-8. Convert it, with iconv for example.\n",
      status: 2
    })
  })

  it("tells everything that is wrong with a definition at once, with lines and columns, and runs nothing", async () => {
    const { heddle } = makeWorld({
      ...files,
      "bad.yaml": `name: bad
node:
  type: sequence
  nodes:
    - { type: agent, name: draft, agent: writr }
    - type: loop
      name: again
      body: { type: step, name: cut, function: cut }
      while: "size(value >"
      max: 0
`
    })
    const { err, out, status } = await heddle(["workflow", "run", "bad.yaml", "x"])
    expect({ out, status }).toEqual({ out: "", status: 2 })
    expect(err).toContain('bad.yaml:5:35: error: node.nodes[0].agent: unknown agent "writr"')
    expect(err).toContain('is "writer" meant?')
    expect(err).toContain("bad.yaml:8:38: error: node.nodes[1].body.function: unknown function")
    expect(err).toContain("bad.yaml:9:7: error: node.nodes[1].while: ")
    expect(err).toContain("bad.yaml:10:7: error: node.nodes[1].max: ")
  })

  it("tells where a file is not YAML", async () => {
    const { heddle } = makeWorld({ "bad.yaml": "name: bad\nnode: [1, 2\nother: }\n" })
    const { err, status } = await heddle(["workflow", "run", "bad.yaml"])
    expect(status).toBe(2)
    expect(err).toMatch(/bad\.yaml:[23]:\d+: error: /)
  })

  it("a file that is not there is told of", async () => {
    const { heddle } = makeWorld(files)
    const { err, status } = await heddle(["workflow", "run", "artcle.yaml"])
    expect({ err, status }).toEqual({ err: 'heddle: There is no file "artcle.yaml".\n', status: 2 })
  })

  it("has status 1 when the run fails, and shows where", async () => {
    const { heddle } = makeWorld(files)
    const { providers } = scripted([])
    const { err, out, status } = await heddle(["workflow", "run", "article.yaml", "x", ...withModel], { providers })
    expect({ out, status }).toEqual({ out: "", status: 1 })
    expect(err).toMatch(/^draft: failed, .*The script has 0 replies/m)
    expect(err).toMatch(/^heddle: The script has 0 replies/m)
  })

  it("with --json writes one event per line, to its end also when it fails", async () => {
    const { heddle } = makeWorld(files)
    const { providers } = scripted(["A loom weaves."])
    const run = ["workflow", "run", "article.yaml", "looms", "--json", ...withModel]
    const tagsOf = (out: string) =>
      out
        .trim()
        .split("\n")
        .map((text) => JSON.parse(text) as { readonly _tag: string })
    const good = tagsOf((await heddle(run, { providers })).out)
    expect(good[0]).toMatchObject({ _tag: "RunStarted", workflow: "article" })
    expect(good.at(-1)).toMatchObject({ _tag: "Completed", result: { output: "A loom weaves." } })
    const bad = await heddle(run, { providers })
    expect(bad.status).toBe(1)
    expect(tagsOf(bad.out).at(-1)).toMatchObject({ _tag: "Failed", error: { _tag: "ModelError" } })
  })

  it("keeps the runs of a session, which later ones see, and those of no session nowhere", async () => {
    const { heddle, write } = makeWorld(files)
    write("article.yaml", `history: { mode: on, runs: 5 }\n${article}`)
    const model = Effect.runSync(ScriptedModel.make(() => "A loom weaves."))
    const providers = [{ name: "scripted", make: () => Effect.succeed(model.service) }]
    const run = (...args: ReadonlyArray<string>) =>
      heddle(["workflow", "run", "article.yaml", ...args, ...withModel], { providers })
    await run("alone")
    await run("first", "--session", "s")
    await run("second", "--session", "s")
    await run("third", "--session", "s", "--db", "other.db")
    const sections = Effect.runSync(model.requests).map(
      ({ instructions }) => instructions.sections.find(({ source }) => source === "workflow-history")?.text ?? ""
    )
    expect(sections.map((text) => text.includes("input: first"))).toEqual([false, false, true, false])
    expect(sections.some((text) => text.includes("input: alone"))).toBe(false)
  })

  it("draws a tree in its place on a terminal, which is never wider", async () => {
    const { heddle } = makeWorld(files)
    const { providers } = scripted([{ text: "A loom weaves.", delay: 250 }])
    const run = ["workflow", "run", "article.yaml", "looms", ...withModel]
    const { err } = await heddle(run, { providers, terminal: { columns: 20, rows: 10 } })
    // oxlint-disable-next-line no-control-regex -- what steers a terminal begins with one
    const drawn = err.split(/\u001b\[\?7l/).map((text) => text.replace(/\u001b\[\??\d*[A-Za-z]|\r/g, ""))
    expect(drawn.length).toBeGreaterThan(2)
    expect(drawn.at(-1)!.replace(/\d+\.\d s/g, "… s")).toBe("✓ draft  … s\n✓ long → fal…  … s\n")
    for (const line of drawn.flatMap((text) => text.split("\n"))) expect(line.length).toBeLessThanOrEqual(20)
  })

  it("shows the calls of tools, and asks before one that changes something, unless it is allowed", async () => {
    const { heddle, write } = makeWorld({
      "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nYou write.\n",
      "w.yaml": "name: w\nnode: { type: agent, name: note, agent: clerk }\n"
    })
    const script: ScriptedModel.Script = ({ history }) =>
      history.some(({ role }) => role === "assistant")
        ? "Done."
        : { calls: [{ tool: "write_file", arguments: { path: "note.txt", content: "A loom." } }], delay: 150 }
    const run = (args: ReadonlyArray<string>, options: Parameters<typeof heddle>[1] = {}) =>
      heddle(["workflow", "run", "w.yaml", "x", ...args, ...withModel], { ...scripted(script), ...options })
    const calls = (err: string) => err.split("\n").filter((line) => line.includes("write_file("))
    write("note.txt", "before")
    expect(calls((await run([])).err)).toEqual([expect.stringMatching(/^note: denied write_file\(/)])
    expect(calls((await run(["--allow", "write_*"])).err)).toEqual([
      expect.stringMatching(/^note: succeeded write_file\(/)
    ])
    const { err } = await run([], { answers: ["yes"], terminal: { columns: 60 } })
    expect(err).toContain("write_file(")
    expect(err).toContain("succeeded")
  })

  it("what is no text is written as JSON", async () => {
    const { heddle } = makeWorld({
      ...files,
      "w.yaml":
        "name: w\nnode: { type: parallel, name: both, branches: { a: { type: agent, name: a, agent: writer } } }\n"
    })
    const { out } = await heddle(
      ["workflow", "run", "w.yaml", "x", ...withModel],
      scripted(() => "\u001b[31mred")
    )
    expect(JSON.parse(out)).toEqual({ a: "\u001b[31mred" })
    expect(out).not.toContain("\u001b")
  })

  it("an agent with errors is told of, with what is wrong with it", async () => {
    const { heddle } = makeWorld({ ...files, "agents/writer.md": "---\ncontextMode: isolatd\n---\nYou write.\n" })
    const { err, status } = await heddle(["workflow", "run", "article.yaml", "x"])
    expect(status).toBe(2)
    expect(err).toMatch(/^agents\/writer\.md:2:14: error: .*contextMode/m)
    expect(err).not.toContain("unknown agent")
  })
})

describe("workflow check", () => {
  it("names the workflow and its agents", async () => {
    const { heddle } = makeWorld(files)
    const { out, status } = await heddle(["workflow", "check", "article.yaml"])
    expect({ out, status }).toEqual({ out: "article.yaml: the workflow article, with editor, writer\n", status: 0 })
  })

  it("has status 1 where there are mistakes, and tells all of them", async () => {
    const { heddle } = makeWorld({ ...files, "bad.yaml": "name: bad\nnode: { type: stp }\nnotes: 1\n" })
    const { err, status } = await heddle(["workflow", "check", "bad.yaml"])
    expect(status).toBe(1)
    expect(err.match(/error:/g)!.length).toBeGreaterThan(1)
  })
})

it("workflow graph draws it for Mermaid", async () => {
  const { heddle } = makeWorld(files)
  const { out, status } = await heddle(["workflow", "graph", "article.yaml"])
  expect(status).toBe(0)
  expect(out).toMatch(/^flowchart TD\n/)
  expect(out).toContain("draft")
})
