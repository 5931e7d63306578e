import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { makeWorld } from "./support.ts"

const files = {
  "agents/clerk.md": "---\ntitle: Clerk\ncontextMode: shared\nmaxSteps: 3\n---\nThe office opens at nine.\n",
  "agents/hub.md":
    "---\ntools: { allow: [write_file] }\nagents: [clerk]\nmcp: { files: { command: serve } }\n---\nYou ask others.\n"
}

describe("explain", () => {
  it("tells the settings and where each came from, the handlers, and what a model would be told", async () => {
    const { heddle } = makeWorld(files)
    const { out, status } = await heddle(["explain", "clerk", "--prompt", "When?"])
    expect(status).toBe(0)
    expect(out).toMatch(/^Clerk \(clerk, agents\/clerk\.md\)\n/)
    expect(out).toMatch(/^ {2}maxSteps +3 {2}\(agents\/clerk\.md\)$/m)
    expect(out).toMatch(/^ {2}onStepLimit +error {2}\(default\)$/m)
    expect(out).toMatch(/^ {2}1\. memory/m)
    expect(out).toContain("instructions, from clerk:\n    The office opens at nine.\n")
    expect(out).toContain("user:\n    When?\n")
  })

  it("tells the tools, whether they ask, and the servers, which are not started", async () => {
    const { heddle } = makeWorld(files)
    const { out, status } = await heddle(["explain", "hub"])
    expect(status).toBe(0)
    expect(out).toContain("write_file (built-in, asks first): ")
    expect(out).toContain("files: serve; tools files_*")
  })

  it("another mode is said to come from the command", async () => {
    const { heddle } = makeWorld(files)
    const { out } = await heddle(["explain", "clerk", "--context-mode", "isolated"])
    expect(out).toMatch(/^ {2}contextMode +isolated {2}\(--context-mode\)$/m)
  })

  it("shows the history of a session as it would be, and changes nothing of it", async () => {
    const { heddle } = makeWorld(files)
    const model = Effect.runSync(ScriptedModel.make(() => "At nine."))
    const providers = [{ name: "scripted", make: () => Effect.succeed(model.service) }]
    const options = { providers }
    await heddle(["run", "clerk", "When does it open?", "--session", "s", "--model", "scripted/any"], options)
    const before = await heddle(["sessions", "export", "s", "--format", "json"])
    const { out, status } = await heddle(["explain", "clerk", "--session", "s", "--prompt", "And on Sunday?"])
    expect(status).toBe(0)
    expect(out).toContain("user:\n    When does it open?\n  assistant:\n    At nine.\n  user:\n    And on Sunday?\n")
    expect((await heddle(["sessions", "export", "s", "--format", "json"])).out).toBe(before.out)
    expect(Effect.runSync(model.requests)).toHaveLength(1)
  })

  it("a session that is not there is told of, and no database made for it", async () => {
    const { heddle, project } = makeWorld(files)
    const { err, status } = await heddle(["explain", "clerk", "--session", "s", "--db", "x.db"])
    expect(status).toBe(2)
    expect(err).toContain('unknown session "s"')
    expect(existsSync(path.join(project, "x.db"))).toBe(false)
  })

  it("with --json has all of it as one object", async () => {
    const { heddle } = makeWorld(files)
    const { out } = await heddle(["explain", "clerk", "--json", "--prompt", "When?"])
    expect(JSON.parse(out)).toMatchObject({
      agent: "clerk",
      scope: "project",
      request: { history: [{ role: "user", content: [{ _tag: "Text", text: "When?" }] }] }
    })
  })

  it("an agent that cannot be run is explained as far as it can be, with status 2", async () => {
    const { heddle } = makeWorld({ ...files, "agents/bad.md": "---\nmodel: openai/gpt-5\n---\nYou ask others.\n" })
    const { err, out, status } = await heddle(["explain", "bad"])
    expect(status).toBe(2)
    expect(out).toContain("Settings")
    expect(err).toContain("set the environment variable OPENAI_API_KEY")
  })

  it("an agent that is not there is told of with the names that are near", async () => {
    const { heddle } = makeWorld(files)
    const { err, out, status } = await heddle(["explain", "clrk"])
    expect({ out, status }).toEqual({ out: "", status: 2 })
    expect(err).toContain('is "clerk" meant?')
  })
})
