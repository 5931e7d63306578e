import { describe, expect, it } from "@effect/vitest"
import { Message } from "@heddle/core"
import { Arbitraries } from "@heddle/testing"

describe("message", () => {
  it("is made of text or of content", () => {
    expect(Message.user("hi")).toEqual({ role: "user", content: [{ _tag: "Text", text: "hi" }] })
    expect(Message.assistant("hi")).toEqual({ role: "assistant", content: [{ _tag: "Text", text: "hi" }] })
    const file = { _tag: "File", mediaType: "image/png", data: "https://example.org/a.png" } as const
    expect(Message.user([file]).content).toEqual([file])
  })

  it("text leaves out thoughts, files and calls", () => {
    const message = Message.assistant([
      { _tag: "Reasoning", text: "hm" },
      { _tag: "Text", text: "a" },
      Message.toolCall("1", "t", {}),
      { _tag: "Text", text: "b" }
    ])
    expect(Message.text(message)).toBe("ab")
    expect(Message.toolCalls(message).map((call) => call.id)).toEqual(["1"])
    expect(Message.text(Message.user([{ _tag: "File", mediaType: "text/plain", data: "", name: "a" }]))).toBe("")
    expect(Message.toolCalls(Message.user("a"))).toEqual([])
  })

  it("a tool call is pending until it has an outcome", () => {
    expect(Message.toolCall("1", "t", {}).outcome).toEqual(Message.pending)
    expect(Message.toolCall("1", "t", {}, Message.cancelled).outcome).toEqual(Message.cancelled)
  })

  it("every outcome has words for the model", () => {
    const { cancelled, denied, failed, pending, renderOutcome, succeeded } = Message
    expect(renderOutcome(succeeded("text"))).toBe("text")
    expect(renderOutcome(succeeded({ a: [1] }))).toBe('{"a":[1]}')
    expect(renderOutcome(succeeded(undefined))).toBe("")
    expect(renderOutcome(failed("No disk."))).toBe("No disk.")
    expect(renderOutcome(failed("No disk.", { code: 1 }))).toBe('No disk. {"code":1}')
    expect(renderOutcome(denied("ask first"))).toBe("The call was not allowed: ask first")
    expect(renderOutcome(cancelled)).toBe("The call was cancelled.")
    expect(renderOutcome(pending)).toBe("The call has not been answered yet.")
  })

  it("a failure without an error has no such field", () => {
    expect(Message.failed("why")).not.toHaveProperty("error")
  })

  it.prop("any outcome is rendered as text", [Arbitraries.outcome], ([outcome]) => {
    expect(typeof Message.renderOutcome(outcome)).toBe("string")
  })

  it("isMessage looks at role and content", () => {
    const yes = [Message.user("a"), Message.assistant([])]
    const no = [
      null,
      undefined,
      "a",
      {},
      { role: "system", content: [] },
      { role: "user", content: "a" },
      { role: "user" }
    ]
    expect(yes.every(Message.isMessage)).toBe(true)
    expect(no.some(Message.isMessage)).toBe(false)
  })
})
