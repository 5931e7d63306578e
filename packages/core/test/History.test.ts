import { describe, expect, it } from "@effect/vitest"
import { History, Message } from "@heddle/core"
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { FastCheck, Schema } from "effect"

const any = Arbitraries.history
const pending = ScriptedModel.asked({ tool: "search" }, { tool: "read", outcome: Message.succeeded("text") })
const wayward: FastCheck.Arbitrary<History.History> = FastCheck.tuple(any, FastCheck.boolean()).map(
  ([history, open]) => (open ? [...history, pending] : history)
)

describe("history", () => {
  it.prop("its exchanges make it up again, and each but the first begins with a question", [any], ([history]) => {
    const exchanges = History.exchanges(history)
    expect(exchanges.flat()).toEqual(history)
    for (const exchange of exchanges.slice(1)) expect(exchange[0]?.role).toBe("user")
    for (const exchange of exchanges) expect(exchange.slice(1).every((m) => m.role === "assistant")).toBe(true)
  })

  it("messages before the first question are an exchange of their own", () => {
    const history = [Message.assistant("Welcome."), Message.user("Hi"), Message.assistant("Hello.")]
    expect(History.exchanges(history)).toEqual([[history[0]], [history[1], history[2]]])
    expect(History.exchanges([])).toEqual([])
  })

  it.prop("takeLast gives the last exchanges, whole", [any, FastCheck.integer({ min: -1, max: 6 })], ([history, n]) => {
    const last = History.takeLast(history, n)
    expect(last).toEqual(n <= 0 ? [] : History.exchanges(history).slice(-n).flat())
    expect(History.takeLast(n)(history)).toEqual(last)
    expect(History.isPaired(last)).toBe(true)
  })

  it.prop("settle gives every pending call an outcome and touches nothing else", [wayward], ([history]) => {
    const settled = History.settle(history)
    expect(History.isPaired(settled)).toBe(true)
    expect(History.settle(settled)).toBe(settled)
    if (History.isPaired(history)) expect(settled).toBe(history)
    expect(settled.length).toBe(history.length)
  })

  it("settle cancels unless said otherwise", () => {
    const outcomes = (history: History.History) => history.flatMap(Message.toolCalls).map((call) => call.outcome)
    expect(outcomes(History.settle([pending]))).toEqual([Message.cancelled, Message.succeeded("text")])
    expect(outcomes(History.settle([pending], Message.denied("late")))).toEqual([
      Message.denied("late"),
      Message.succeeded("text")
    ])
    expect(History.isPaired([pending])).toBe(false)
  })

  it.prop("any slice of a paired history is paired", [any, FastCheck.nat(8), FastCheck.nat(8)], ([history, a, b]) => {
    expect(History.isPaired(history.slice(Math.min(a, b), Math.max(a, b)))).toBe(true)
  })

  it.prop("a history is what it was after it has been stored as JSON and read back", [any], ([history]) => {
    const stored = JSON.stringify(Schema.encodeSync(History.schema)(history))
    const read = Schema.decodeUnknownSync(History.schema)(JSON.parse(stored))
    expect(read).toEqual(JSON.parse(JSON.stringify(history)))
  })

  it("what is no history is refused when it is read", () => {
    for (const garbage of [
      {},
      [{ role: "system", content: [] }],
      [{ role: "user", content: [{ _tag: "ToolCall" }] }]
    ]) {
      expect(() => Schema.decodeUnknownSync(History.schema)(garbage)).toThrow()
    }
  })

  it("append adds at the end, a string as a question, and changes nothing", () => {
    const before: History.History = Object.freeze([Message.user("a")])
    expect(History.append(before, "b")).toEqual([Message.user("a"), Message.user("b")])
    expect(before.length).toBe(1)
    expect(History.empty).toEqual([])
    expect(History.append(Message.assistant("b"))(before)).toEqual([Message.user("a"), Message.assistant("b")])
  })

  it("answer is the text of the last message of the model", () => {
    expect(History.answer([Message.assistant("one"), Message.assistant("two"), Message.user("three")])).toBe("two")
    expect(History.answer([Message.user("three")])).toBe("")
  })

  it("isHistory knows one by its messages", () => {
    expect([[], [Message.user("a")], [{}], [null], "text", { length: 0 }].map(History.isHistory)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false
    ])
  })

  it.prop("mapToolCalls reaches every call and nothing else", [any], ([history]) => {
    const denied =
      history.length === 0 ? [] : History.mapToolCalls((call) => ({ ...call, outcome: Message.denied("x") }))(history)
    expect(denied.flatMap(Message.toolCalls).every((call) => call.outcome._tag === "Denied")).toBe(true)
    expect(denied.map(Message.text)).toEqual(history.map(Message.text))
  })
})
