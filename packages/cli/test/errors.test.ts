import { Errors } from "@heddle/core"
import { MemoryErrors } from "@heddle/memory"
import { DatabaseError } from "@heddle/sql"
import { expect, it } from "vitest"
import { usage } from "../src/internal/failure.ts"
import { oneLine, problemText } from "../src/internal/problems.ts"
import { told } from "../src/internal/show/errors.ts"

const file = { name: "clerk", path: "agents/clerk.md" }

it("a failure of a model says what can be done, unless it says so itself", () => {
  for (const reason of [
    "RateLimited",
    "Overloaded",
    "Timeout",
    "Network",
    "Authentication",
    "ContextLength"
  ] as const) {
    const { message, status } = told(new Errors.ModelError({ reason, message: "No.\u001b[2J" }), file)
    expect(status).toBe(1)
    expect(message).toMatch(/^No\.\[2J\n[A-Z].*\.$/)
  }
  const unavailable = { _tag: "ModelUnavailable" }
  const error = new Errors.ModelError({ reason: "Authentication", message: "Set X.", cause: unavailable })
  expect(told(error, file).message).toBe("Set X.")
})

it("the file is named that has to be changed", () => {
  const limit = (agent: string) => new Errors.StepLimitReached({ agent, maxSteps: 2, history: [] })
  expect(told(limit("clerk"), file).message).toContain("maxSteps in agents/clerk.md")
  expect(told(limit("other"), file).message).toContain('maxSteps in the file of "other"')
  const invalid = new MemoryErrors.InvalidMemory({ problems: ["contextWindow: no"] })
  expect(told(invalid, file)).toMatchObject({ status: 2, message: expect.stringMatching(/^agents\/clerk.md: /) })
})

it("a database says itself what is wrong with it", () => {
  const cause = new DatabaseError.DatabaseError({
    reason: "Damaged",
    message: "The file x is damaged."
  })
  const error = new MemoryErrors.ConversationsUnavailable({ operation: "read", cause })
  expect(told(error, file)).toMatchObject({ status: 1, message: "The file x is damaged." })
})

it("what else fails is told with the agent, and what is told already as it is", () => {
  expect(told(new Error("Oh."), file).message).toBe('The run of "clerk" failed: Oh.')
  const already = usage("No.")
  expect(told(already, file)).toBe(already)
})

it("a problem stands on one line, however much space it has", () => {
  const problem = { path: "a\n b.md", line: 1, column: 2, severity: "error", message: "one \r\n\n  two\n" } as const
  expect(problemText(problem)).toBe("a b.md:1:2: error: one two")
  expect(oneLine(" as it is  here ")).toBe(" as it is  here ")
  const gap = " ".repeat(1_000_000)
  expect(oneLine(`a${gap}b\nc${gap}\nd`)).toBe(`a${gap}b c d`)
})
