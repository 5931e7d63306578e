import { describe, expect, it } from "vitest"
import { makeWorld } from "./support.ts"

describe("what makes no sense as it was asked ends with status 2 and says the way out", () => {
  it.each([
    [["rum", "clerk"], 'unknown command "rum"', 'is "run" meant?'],
    [["agents"], "heddle agents needs a command: list, info", "heddle agents --help"],
    [["agents", "lst"], 'unknown command "lst"', 'is "list" meant?'],
    [["run", "clerk", "Hi", "--sesion", "x"], 'unknown option "--sesion"', 'is "--session" meant?'],
    [["run", "clerk", "Hi", "--sesion", "x"], "meant? A text that begins"],
    [["run", "clerk", "Hi", "--file", "."], "heddle: Expected path"],
    [["run", "clerk", "Hi", "--db", "."], "heddle: Expected path"],
    [["run", "clerk", "--nope"], 'unknown option "--nope"', "standard input"],
    [["run", "clerk", "Hi", "--model"], "--model needs a value", "heddle run --help"],
    [["run"], "Missing argument <agent>", "heddle run --help"],
    [["run", "clerk", "Hi", "--context-mode", "sharde"], "shared", "heddle run --help"]
  ] as const)("%j", async (args, ...said) => {
    const { heddle } = makeWorld({ "agents/clerk.md": "The office opens at nine.\n" })
    const { err, out, status } = await heddle(args)
    expect({ out, status }).toEqual({ out: "", status: 2 })
    for (const text of said) expect(err).toContain(text)
  })
})

it("a text may begin with a dash that is none of an option", async () => {
  const { heddle } = makeWorld({ "agents/clerk.md": "The office opens at nine.\n" })
  expect((await heddle(["run", "clerk", "- When does the office open?"])).out).toContain("opens at nine")
  expect((await heddle(["run", "clerk", "--", "--help with when the office opens"])).status).toBe(0)
})

it("help lists each command once, and each option in a line", async () => {
  const { heddle } = makeWorld()
  const { out, status } = await heddle(["--help"])
  expect(status).toBe(0)
  const names = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)
  expect(names).toEqual([...new Set(names)])
  expect(names).toEqual(expect.arrayContaining(["run", "chat", "agents", "doctor"]))
  expect((await heddle(["sessions", "show", "--help"])).out).toContain("--last")
})

it("every argument and option says what it is for", async () => {
  const { heddle } = makeWorld()
  const all = [...(await heddle(["--help"])).out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!)
  for (const name of all) {
    const { out } = await heddle([name, "--help"])
    for (const line of out.split("\n").filter((line) => /^ {2}[-<[a-z]/.test(line))) {
      expect(line.trim(), `heddle ${name}`).toMatch(/\S {2,}\S|^--?\S.{28,}$/)
    }
  }
})
