import { describe, expect, it } from "@effect/vitest"
import { AgentEvent, Call, Errors, Message } from "@heddle/core"
import { Cause } from "effect"
import { Oops } from "./support.ts"

const failed = (cause: Cause.Cause<unknown>): AgentEvent.AgentEvent => ({
  _tag: "Failed",
  error: Cause.squash(cause),
  cause,
  handler: "guard",
  hook: "beforeModel",
  history: [Message.user("go")],
  steps: 1,
  usage: { inputTokens: 1, outputTokens: 2 }
})
const rest = {
  _tag: "Failed",
  handler: "guard",
  hook: "beforeModel",
  history: [Message.user("go")],
  steps: 1,
  usage: { inputTokens: 1, outputTokens: 2 }
}

describe("an event as JSON", () => {
  it("is the event, where it is plain data", () => {
    const events: ReadonlyArray<AgentEvent.AgentEvent | Call.Reset> = [
      { _tag: "RunStarted", agent: "a" },
      { _tag: "Text", step: 1, text: "hi" },
      Call.Reset,
      { _tag: "Cancelled", history: [], steps: 0, usage: { inputTokens: 0, outputTokens: 0 } }
    ]
    expect(events.map(AgentEvent.toJson)).toEqual(events)
  })

  it("tells a failure by tag and message", () => {
    const error = new Errors.ModelError({ reason: "Network", message: "the line broke" })
    expect(AgentEvent.toJson(failed(Cause.fail(error)))).toEqual({
      ...rest,
      error: { _tag: "ModelError", message: "the line broke" }
    })
    expect(AgentEvent.toJson(failed(Cause.fail(new Oops({ from: "x" }))))["error"]).toEqual({
      _tag: "Oops",
      message: ""
    })
    expect(AgentEvent.toJson(failed(Cause.fail(new TypeError("odd"))))["error"]).toEqual({
      _tag: "TypeError",
      message: "odd"
    })
    expect(AgentEvent.toJson(failed(Cause.fail("plain")))["error"]).toEqual({ _tag: "Error", message: "plain" })
    expect(AgentEvent.toJson(failed(Cause.fail(null)))["error"]).toEqual({ _tag: "Error", message: "null" })
    expect(AgentEvent.toJson(failed(Cause.fail({})))["error"]).toEqual({ _tag: "Error", message: "" })
  })

  it("tells nothing of a defect but that there was one", () => {
    const json = AgentEvent.toJson(failed(Cause.die(new Error("password 1234"))))
    expect(json).toEqual({ ...rest, error: { _tag: "Defect" } })
    expect(JSON.stringify(json)).not.toContain("1234")
  })
})
