import { describe, expect, it } from "@effect/vitest"
import { isStopWord, stem, stems, terms, words } from "../src/words.ts"

describe("words", () => {
  it("are cut at white space, at camel case and between letters and digits", () => {
    expect(words("wrapToolCall runs HTTPServer v2")).toEqual([
      "wrap",
      "tool",
      "call",
      "runs",
      "http",
      "server",
      "v",
      "2"
    ])
  })

  it("of scripts without spaces are pairs of characters", () => {
    expect(words("短期记忆")).toEqual(["短期", "期记", "记忆"])
  })

  it("have stems", () => {
    expect(["handlers", "stories", "running", "classes", "stopped"].map(stem)).toEqual([
      "handler",
      "story",
      "run",
      "class",
      "stop"
    ])
  })

  it("without a meaning of their own are left out, unless there are no others", () => {
    expect(isStopWord("the")).toBe(true)
    expect(stems("the order of the handlers, the order")).toEqual(["order", "handler", "order"])
    expect(terms("the order of the handlers, the order")).toEqual(["order", "handler"])
    expect(terms("who is it")).toEqual(["who", "is", "it"])
  })
})
