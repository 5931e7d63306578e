import { expect, it } from "vitest"
import { makeWorld } from "./support.ts"

it("an agent that is a file answers, offline", async () => {
  const { heddle } = makeWorld({ "agents/clerk.md": "---\ntitle: Clerk\n---\nThe office opens at nine.\n" })
  const { out, status } = await heddle(["run", "clerk", "When does the office open?"])
  expect(status).toBe(0)
  expect(out).toContain("The office opens at nine.")
})

it("an agent that is not there is told of with the names that are near", async () => {
  const { heddle } = makeWorld({ "agents/clerk.md": "The office opens at nine.\n" })
  const { err, out, status } = await heddle(["run", "clrk", "Hello"])
  expect({ out, status }).toEqual({ out: "", status: 2 })
  expect(err).toContain('is "clerk" meant?')
})
