import { Handler, Tool } from "@heddle/core"
import type { ModelProvider } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { HandlerRegistry } from "../src/index.ts"
import { makeWorld } from "./support.ts"

const scripted = (script: ScriptedModel.Script): ModelProvider.ModelProvider => ({
  name: "scripted",
  make: () => Effect.map(ScriptedModel.make(script), ({ service }) => service)
})

const write = (content: string, file = "a.txt") => ({ tool: "write_file", arguments: { path: file, content } })

/** An agent that writes twice, one after the other, and then says what became of it. */
const writing = (
  options: Parameters<ReturnType<typeof makeWorld>["heddle"]>[1] = {},
  ...args: ReadonlyArray<string>
) => {
  const world = makeWorld({ "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nWrite.\n" })
  const script: ScriptedModel.Script = ({ history }, turn) =>
    turn < 2 ? { calls: [write(String(turn))] } : JSON.stringify(history)
  const ran = world.heddle(["run", "clerk", "Hi", ...args], {
    ...options,
    providers: [scripted(script)],
    variables: { HEDDLE_MODEL: "scripted/any" }
  })
  const file = path.join(world.project, "a.txt")
  return ran.then((result) => ({ ...result, written: existsSync(file) ? readFileSync(file, "utf8") : undefined }))
}

it("what changes things is asked about each time, and a no is told to the model", async () => {
  expect((await writing({ answers: ["y", "yes"] })).written).toBe("1")
  expect((await writing({ answers: ["YES", ""] })).written).toBe("0")
  const { err, out, written } = await writing({ answers: ["n", "no"] })
  expect(written).toBeUndefined()
  expect(out).toContain("The user said no.")
  expect(err).toContain("not allowed: The user said no.")
})

it("an answer that is none is asked for again", async () => {
  expect((await writing({ answers: ["perhaps", "y", "n"] })).written).toBe("0")
})

it("always holds for the rest of the command", async () => {
  expect((await writing({ answers: ["always"] })).written).toBe("1")
})

it("where nobody can be asked it is denied, and the way out is told", async () => {
  const { out, status, written } = await writing()
  expect({ status, written }).toEqual({ status: 0, written: undefined })
  expect(out).toContain("--allow write_file")
})

it("what a rule allows is not asked about", async () => {
  expect((await writing({}, "--allow", "write_*")).written).toBe("1")
  expect((await writing({}, "--allow", "read_*")).written).toBeUndefined()
})

it("a rule of the user's configuration is as good as one of the command; a project does not allow itself anything", async () => {
  const ran = async (config: string) => {
    const world = makeWorld({
      [config]: "allow: ['*']\n",
      "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nWrite.\n"
    })
    const script: ScriptedModel.Script = (_, turn) => (turn === 0 ? { calls: [write("1")] } : "Done.")
    const { err } = await world.heddle(["run", "clerk", "Hi"], {
      providers: [scripted(script)],
      variables: { HEDDLE_MODEL: "scripted/any" }
    })
    return err
  }
  expect(await ran("~/.config/heddle/config.yaml")).toContain("✓ write_file")
  expect(await ran(".heddle/config.yaml")).toContain("not allowed: There is nobody to ask.")
})

it("a tool that is denied is not there, also where it is allowed", async () => {
  const { heddle } = makeWorld({
    "agents/clerk.md": "---\ntools: { allow: ['*'], deny: [write_*, FETCH_url] }\n---\nWrite.\n",
    "agents/plain.md": "Hello.\n"
  })
  const tools = scripted((request) => request.tools.names.join(" "))
  const run = (name: string) =>
    heddle(["run", name, "Hi"], { providers: [tools], variables: { HEDDLE_MODEL: "scripted/any" } })
  expect((await run("clerk")).out).toBe("read_file list_files search_files ask_user\n")
  expect(await run("plain")).toEqual({ status: 0, out: "", err: "The model said nothing.\n" })
})

it("two calls at once are asked about one after the other, and an always answers the second", async () => {
  const world = makeWorld({ "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nWrite.\n" })
  const script: ScriptedModel.Script = (_, turn) =>
    turn === 0 ? { calls: [write("1", "a.txt"), write("2", "b.txt")] } : "Done."
  await world.heddle(["run", "clerk", "Hi"], {
    answers: ["a"],
    providers: [scripted(script)],
    variables: { HEDDLE_MODEL: "scripted/any" }
  })
  expect(existsSync(path.join(world.project, "a.txt")) && existsSync(path.join(world.project, "b.txt"))).toBe(true)
})

describe("the question", () => {
  /** What the person is asked about a call with these arguments. */
  const question = async (args: Readonly<Record<string, unknown>>): Promise<string> => {
    const asked: Array<string> = []
    const { heddle } = makeWorld({ "agents/clerk.md": "---\nhandlers: [changing]\n---\nChange.\n" })
    const changing = HandlerRegistry.define({
      description: "Adds a tool that changes things.",
      options: Schema.Struct({}),
      make: () =>
        Handler.tools(
          Tool.make({
            name: "change",
            description: "Changes.",
            parameters: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
            annotations: { destructive: true },
            execute: () => Effect.succeed("Changed.")
          })
        )
    })
    await heddle(["run", "clerk", "Hi"], {
      asked,
      answers: ["n"],
      handlers: { changing },
      providers: [scripted((_, turn) => (turn === 0 ? { calls: [{ tool: "change", arguments: args }] } : "Done."))],
      variables: { HEDDLE_MODEL: "scripted/any" }
    })
    expect(asked).toHaveLength(1)
    return asked[0]!
  }

  it("cannot be forged by names or values: names are of one line, lines of values are marked", async () => {
    const forged = "x\nAllow it? [y]es, [n]o, [a]lways: n\n\nclerk wants to use look"
    const asked = await question({ [forged]: 1, text: `one\n${forged}`, row: `a${" ".repeat(300)}Allow it?` })
    expect(asked.split("\n")).toEqual([
      "clerk wants to use change, which changes things:",
      expect.stringMatching(/^    x Allow it\? .*: 1$/),
      "    text: ",
      "      | one",
      "      | x",
      "      | Allow it? [y]es, [n]o, [a]lways: n",
      "      | ",
      "      | clerk wants to use look",
      "    row: a…(300 spaces)…Allow it?",
      "Allow it? [y]es, [n]o, [a]lways: "
    ])
  })

  it("shows the beginning and the end of what is long, and one line each of what is much", async () => {
    const long = await question({
      command: `echo ${"a".repeat(5000)}; rm -rf /`,
      lines: `first\n${"\n".repeat(500)}last`
    })
    expect(long).toContain("command: echo aaa")
    expect(long).toContain("a…(5015 characters)…a")
    expect(long).toContain("a; rm -rf /\n")
    expect(long).toContain("      | first\n")
    expect(long).toContain("      | last\n")
    expect(long.split("\n").length).toBeLessThan(30)
    const much = await question(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, "x\n".repeat(500)])))
    expect(much.split("\n")).toHaveLength(22)
  })
})
