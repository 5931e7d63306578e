import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Handler, Instructions, Message, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Effect } from "effect"

const folded = (parts: ReadonlyArray<ChatModel.ModelPart>) => ChatModel.run(Call.fromIterable(parts))

describe("the fold of a reply", () => {
  it.effect("adjacent pieces of text are one text, and empty ones are none", () =>
    Effect.gen(function* () {
      const reply = yield* folded([
        { _tag: "Text", text: "" },
        { _tag: "Text", text: "a" },
        { _tag: "Text", text: "b" },
        { _tag: "Reasoning", text: "hm" },
        { _tag: "Reasoning", text: "...", metadata: { signature: "s" } },
        { _tag: "Reasoning", text: "next" },
        { _tag: "Reasoning", text: "" },
        { _tag: "Text", text: "c" }
      ])
      expect(reply.content).toEqual([
        { _tag: "Text", text: "ab" },
        { _tag: "Reasoning", text: "hm...", metadata: { signature: "s" } },
        { _tag: "Reasoning", text: "next" },
        { _tag: "Text", text: "c" }
      ])
    })
  )

  it.effect("a tool call is pending, and tells the reason where the model does not", () =>
    Effect.gen(function* () {
      const reply = yield* folded([{ _tag: "ToolCall", id: "1", name: "t", arguments: {}, metadata: { m: 1 } }])
      expect(reply).toEqual({
        content: [{ ...Message.toolCall("1", "t", {}), metadata: { m: 1 } }],
        finishReason: "tool-calls",
        usage: ChatModel.noUsage
      })
      expect((yield* folded([])).finishReason).toBe("stop")
      expect((yield* folded([{ _tag: "Finish", reason: "length" }])).finishReason).toBe("length")
    })
  )

  it.effect("text with metadata ends there, and keeps it also when it is empty", () =>
    Effect.gen(function* () {
      const content: ChatModel.ModelReply["content"] = [
        { _tag: "Text", text: "ab", metadata: { id: 1 } },
        { _tag: "Text", text: "c" },
        { _tag: "Reasoning", text: "hm" },
        { _tag: "Text", text: "", metadata: { id: 2 } }
      ]
      const pieces: ReadonlyArray<ChatModel.ModelPart> = [
        { _tag: "Text", text: "a" },
        { _tag: "Text", text: "b" },
        { _tag: "Text", text: "", metadata: { id: 1 } },
        ...content.slice(1).map((part) => part as ChatModel.ModelPart)
      ]
      expect((yield* folded(pieces)).content).toEqual(content)
      expect((yield* ChatModel.run(ChatModel.reply(content))).content).toEqual(content)
    })
  )

  it.effect("the end of the reply brings usage, metadata and the tools that were offered", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 3, outputTokens: 4 }
      const end = { _tag: "Finish", reason: "stop", usage, metadata: { id: 1 }, offered: Tools.empty } as const
      const reply = yield* folded([end])
      expect(reply).toEqual({ content: [], finishReason: "stop", usage, metadata: { id: 1 }, offered: Tools.empty })
      expect(ChatModel.fold.whole(reply)).toEqual([end])
      expect(ChatModel.addUsage(usage, usage)).toEqual({ inputTokens: 6, outputTokens: 8 })
    })
  )
})

describe("helpers", () => {
  it.effect("reply answers with text or content", () =>
    Effect.gen(function* () {
      expect(yield* ChatModel.run(ChatModel.reply("hi"))).toEqual(ChatModel.replyValue("hi"))
      expect(ChatModel.replyValue([Message.toolCall("1", "t", {})]).finishReason).toBe("tool-calls")
      expect(ChatModel.replyValue("").finishReason).toBe("stop")
    })
  )

  it("request leaves what is not said at its default", () => {
    expect(ChatModel.request({ purpose: "summary" })).toEqual({
      instructions: Instructions.empty,
      history: [],
      tools: Tools.empty,
      toolChoice: "auto",
      output: undefined,
      options: {},
      purpose: "summary"
    })
  })

  it("question is the last message of the user", () => {
    const history = [Message.user("one"), Message.user("two"), Message.assistant("three")]
    expect(ChatModel.question(ChatModel.request({ history }))).toBe("two")
    expect(ChatModel.question(ChatModel.request({}))).toBe("")
  })

  it.effect("layer makes a model of a function", () =>
    Effect.gen(function* () {
      const parrot = ChatModel.layer((request) => ChatModel.reply(ChatModel.question(request)))
      expect((yield* Effect.provide(Agent.run(Agent.make({ name: "a" }), "hello"), parrot)).text).toBe("hello")
    })
  )
})

describe("a model at work in an agent", () => {
  it.effect("that forgets to say that it has finished is taken to have finished", () =>
    Effect.gen(function* () {
      const model = ChatModel.layer(() => Call.fromIterable([{ _tag: "Text", text: "hi" }]))
      expect((yield* Effect.provide(Agent.run(Agent.make({ name: "a" }), "go"), model)).text).toBe("hi")
    })
  )

  it.effect("is asked with the options of the run, and its usage is added up", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 10, outputTokens: 1 }
      const model = yield* ScriptedModel.make([
        { calls: [{ tool: "nothing" }], usage },
        { text: "x", usage }
      ])
      const agent = Agent.make({
        name: "a",
        model: { temperature: 0, seed: 1 },
        handlers: Handler.wrapModelCall((r, next) => next(r))
      })
      const options = { model: { seed: 0, stopSequences: [] } }
      const result = yield* Effect.provide(Agent.run(agent, "go", options), model.layer)
      expect(result.usage).toEqual({ inputTokens: 20, outputTokens: 2 })
      expect((yield* model.requests)[0]).toMatchObject({
        purpose: "agent",
        options: { temperature: 0, seed: 0, stopSequences: [] }
      })
    })
  )
})
