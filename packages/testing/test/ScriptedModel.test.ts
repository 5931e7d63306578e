import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Errors, Message } from "@heddle/core"
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { Cause, Effect, Exit, FastCheck, Fiber, TestClock } from "effect"

const parts = (model: ScriptedModel.ScriptedModel) =>
  Effect.map(Call.collect(model.service.call(ChatModel.request({})), ChatModel.fold), ({ parts }) => parts)
const texts = (all: ReadonlyArray<ChatModel.ModelPart | Call.Reset>) =>
  all.flatMap((part) => (part._tag === "Text" ? [part.text] : []))

const cut: FastCheck.Arbitrary<ScriptedModel.Cut> = FastCheck.oneof(
  FastCheck.constant<ScriptedModel.Cut>("whole"),
  FastCheck.integer({ min: -1, max: 9 }).map((every): ScriptedModel.Cut => ({ every })),
  FastCheck.array(FastCheck.integer({ min: -2, max: 30 })).map((at): ScriptedModel.Cut => ({ at })),
  FastCheck.integer().map((seed): ScriptedModel.Cut => ({ seed }))
)

describe("cuts", () => {
  it.prop("the pieces make up the text again, and none is empty", [Arbitraries.text, cut], ([text, cut]) => {
    const pieces = ScriptedModel.pieces(text, cut)
    expect(pieces.join("")).toBe(text)
    expect(pieces.every((piece) => piece !== "")).toBe(true)
    expect(ScriptedModel.pieces(text, cut)).toEqual(pieces)
  })

  it("are where they are asked for", () => {
    expect(ScriptedModel.pieces("abcdef", "whole")).toEqual(["abcdef"])
    expect(ScriptedModel.pieces("abcdef", { at: [4, 1, 4, 99] })).toEqual(["a", "bcd", "ef"])
    expect(ScriptedModel.pieces("abcdef", { every: 4 })).toEqual(["abcd", "ef"])
    expect(ScriptedModel.pieces("", { every: 1 })).toEqual([])
  })

  it.effect("are those of the reply, or else of the model", () =>
    Effect.gen(function* () {
      const script = ["abcd", { text: "abcd", reasoning: "hm", cut: { at: [1] } }]
      const model = yield* ScriptedModel.make(script, { cut: { every: 2 } })
      expect(texts(yield* parts(model))).toEqual(["ab", "cd"])
      const second = yield* parts(model)
      expect(texts(second)).toEqual(["a", "bcd"])
      expect(second.map((part) => part._tag)).toEqual(["Reasoning", "Reasoning", "Text", "Text", "Finish"])
    })
  )
})

describe("a script", () => {
  it.effect("that is a list is answered in turn, and ends with a failure", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["one", "two"])
      const ask = ChatModel.run(model.service.call(ChatModel.request({})))
      expect(Message.text(Message.assistant((yield* ask).content))).toBe("one")
      expect(Message.text(Message.assistant((yield* ask).content))).toBe("two")
      const error = yield* Effect.flip(ask)
      expect(error).toMatchObject({ reason: "BadRequest" })
      expect(error.message).toBe("The script has 2 replies and was asked for one more.")
    })
  )

  it.effect("that is a function sees request and turn", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make((request, turn) => `${request.purpose} ${turn}`)
      expect(texts(yield* parts(model))).toEqual(["agent 0"])
      expect(texts(yield* parts(model))).toEqual(["agent 1"])
    })
  )

  it.effect("numbers its tool calls, unless it names them", () =>
    Effect.gen(function* () {
      const calls = [{ tool: "t" }, { tool: "t", id: "mine", arguments: { a: 1 } }]
      const model = yield* ScriptedModel.make([
        { calls: [{ tool: "t" }] },
        { calls, usage: { inputTokens: 1, outputTokens: 2 } }
      ])
      expect(yield* parts(model)).toEqual([
        { _tag: "ToolCall", id: "call-1", name: "t", arguments: {} },
        { _tag: "Finish", reason: "tool-calls" }
      ])
      expect(yield* parts(model)).toEqual([
        { _tag: "ToolCall", id: "call-2-1", name: "t", arguments: {} },
        { _tag: "ToolCall", id: "mine", name: "t", arguments: { a: 1 } },
        { _tag: "Finish", reason: "tool-calls", usage: { inputTokens: 1, outputTokens: 2 } }
      ])
    })
  )

  it.effect("fails or dies after its text, by the very error", () =>
    Effect.gen(function* () {
      const error = new Errors.ModelError({ reason: "Overloaded", message: "busy" })
      const defect = new Error("a bug")
      const model = yield* ScriptedModel.make([error, { text: "half", error }, { text: "half", defect }])
      const told: Array<string> = []
      const ask = Effect.exit(
        ChatModel.run(Call.tap(model.service.call(ChatModel.request({})), (part) => void told.push(part._tag)))
      )
      const exits = [yield* ask, yield* ask, yield* ask]
      expect(exits.map((exit) => Exit.isFailure(exit) && Cause.squash(exit.cause))).toEqual([error, error, defect])
      expect(told).toEqual(["Text", "Text"])
    })
  )

  it.effect("waits on the clock before it answers", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make([{ text: "late", delay: "1 minute" }])
      const fiber = yield* Effect.fork(parts(model))
      yield* TestClock.adjust("59 seconds")
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("1 second")
      expect(texts(yield* Fiber.join(fiber))).toEqual(["late"])
    })
  )
})

describe("requests", () => {
  it.effect("are kept in the order in which their calls began, each model its own", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["a", "b"])
      const other = yield* ScriptedModel.make(["c"])
      expect(yield* model.requests).toEqual([])
      const agent = Agent.make({ name: "a" })
      yield* Effect.provide(Agent.run(agent, "first"), model.layer)
      yield* Effect.provide(Agent.run(agent, "second"), model.layer)
      yield* Effect.provide(Agent.run(agent, "elsewhere"), other.layer)
      expect((yield* model.requests).map(ChatModel.question)).toEqual(["first", "second"])
      expect((yield* other.requests).map(ChatModel.question)).toEqual(["elsewhere"])
    })
  )

  it.effect("a call that is made and never run is none", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["a"])
      model.service.call(ChatModel.request({}))
      expect(yield* model.requests).toEqual([])
    })
  )
})

it("asked writes a message with calls and their outcomes", () => {
  expect(ScriptedModel.asked({ tool: "a" }, { tool: "b", id: "x", arguments: 1, outcome: Message.cancelled })).toEqual(
    Message.assistant([Message.toolCall("call-1", "a", {}), Message.toolCall("x", "b", 1, Message.cancelled)])
  )
})
