import type { ModelProvider } from "@heddle/models"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, it } from "vitest"
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
