import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, Message, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Effect, Schema, Stream } from "effect"
import { echo, events, only, outcomes } from "./support.ts"

const call = <E, R>(tool: Tool.Tool<E, R>, args: unknown = {}) =>
  Tool.run(
    Tool.execute({ id: "the-call", name: tool.name, arguments: args, tool, offered: [tool.name] }) as Tool.ToolRun<E, R>
  )

describe("a tool", () => {
  it("shows the model a JSON Schema of its parameters, made once", () => {
    expect(echo.jsonSchema).toMatchObject({
      type: "object",
      required: ["text"],
      properties: { text: { type: "string" } },
      additionalProperties: false
    })
    expect(echo.jsonSchema).toBe(echo.jsonSchema)
    const bare = Tool.make({ name: "t", description: "t", execute: () => 1 })
    expect(bare.jsonSchema).toMatchObject({ type: "object", properties: {}, additionalProperties: false })
    expect(bare.jsonSchema).not.toHaveProperty("anyOf")
  })

  it.effect("decodes its arguments and encodes its result", () =>
    Effect.gen(function* () {
      const tool = Tool.make({
        name: "t",
        description: "t",
        parameters: Schema.Struct({ day: Schema.Date }),
        success: Schema.Struct({ next: Schema.Date }),
        execute: ({ day }) => ({ next: new Date(day.getTime() + 86_400_000) })
      })
      expect(yield* call(tool, { day: "2024-02-28T00:00:00.000Z" })).toEqual(
        Message.succeeded({ next: "2024-02-29T00:00:00.000Z" })
      )
    })
  )

  it.effect("may answer at once or by an Effect", () =>
    Effect.gen(function* () {
      expect(yield* call(Tool.make({ name: "t", description: "t", execute: () => 1 }))).toEqual(Message.succeeded(1))
      const slow = Tool.make({ name: "t", description: "t", execute: () => Effect.as(Effect.yieldNow(), 1) })
      expect(yield* call(slow)).toEqual(Message.succeeded(1))
    })
  )

  it.effect("is told the id of its call", () =>
    Effect.gen(function* () {
      const tool = Tool.make({ name: "t", description: "t", execute: (_, { callId }) => callId })
      expect(yield* call(tool)).toEqual(Message.succeeded("the-call"))
    })
  )

  it.effect("that interrupts itself gives Cancelled, and the run goes on", () =>
    Effect.gen(function* () {
      const tool = Tool.make({ name: "t", description: "t", execute: () => Effect.interrupt })
      expect(yield* call(tool)).toEqual(Message.cancelled)
    })
  )

  it("has all annotations false unless said", () => {
    expect(echo.annotations).toEqual({ readOnly: false, destructive: false, idempotent: false })
    expect(echo.returnDirectly).toBe(false)
    const tool = Tool.make({ name: "t", description: "t", annotations: { destructive: true }, execute: () => 1 })
    expect(tool.annotations).toEqual({ readOnly: false, destructive: true, idempotent: false })
    expect(Tool.isTool(tool)).toBe(true)
    expect(Tool.isTool({ ...tool })).toBe(false)
    expect(tool.pipe((self) => Tool.update(self, { name: "u" })).name).toBe("u")
  })

  it.effect("update changes what it says, and leaves the tool as it was", () =>
    Effect.gen(function* () {
      const other = Tool.update(echo, {
        name: "repeat",
        description: "Repeats.",
        annotations: { readOnly: true },
        returnDirectly: true
      })
      expect(other).toMatchObject({ name: "repeat", description: "Repeats.", returnDirectly: true })
      expect(other.annotations).toEqual({ readOnly: true, destructive: false, idempotent: false })
      expect(yield* call(other, { text: "x" })).toEqual(Message.succeeded("x"))
      expect(echo).toMatchObject({ name: "echo", returnDirectly: false })
      expect(Tool.update(other, {})).toMatchObject({ name: "repeat", description: "Repeats.", returnDirectly: true })
    })
  )
})

describe("progress and streams", () => {
  const script = [{ calls: [{ tool: "t" }] }, "done"]

  it.effect("progress is told to who watches, and is no part of the result", () =>
    Effect.gen(function* () {
      const tool = Tool.make({
        name: "t",
        description: "t",
        execute: (_, { progress }) =>
          Effect.zipRight(Effect.zipRight(progress("half"), progress("whole")), Effect.succeed("r"))
      })
      const agent = Agent.make({ name: "a", tools: Tools.make(tool) })
      const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(script))
      expect(only(all, "ToolProgress").map((event) => event.value)).toEqual(["half", "whole"])
      expect(only(all, "ToolFinished").map((event) => event.outcome)).toEqual([Message.succeeded("r")])
      const result = yield* Effect.provide(Agent.run(agent, "go"), ScriptedModel.layer(script))
      expect(outcomes(result.history)).toEqual([Message.succeeded("r")])
    })
  )

  it.effect("the pieces of a stream arrive one by one, and make up the result", () =>
    Effect.gen(function* () {
      const tool = Tool.stream({ name: "t", description: "t", execute: () => Stream.make("a", "b", "c") })
      const agent = Agent.make({ name: "a", tools: Tools.make(tool) })
      const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(script))
      expect(only(all, "ToolText").map((event) => event.text)).toEqual(["a", "b", "c"])
      expect(only(all, "ToolFinished").map((event) => event.outcome)).toEqual([Message.succeeded("abc")])
      expect(yield* call(tool)).toEqual(Message.succeeded("abc"))
    })
  )

  it.effect("a stream without a piece is the empty text", () =>
    Effect.gen(function* () {
      const tool = Tool.stream({ name: "t", description: "t", execute: () => Stream.empty })
      expect(yield* call(tool)).toEqual(Message.succeeded(""))
    })
  )

  it.effect("fromCall makes a tool of any call", () =>
    Effect.gen(function* () {
      const tool = Tool.fromCall({
        name: "t",
        description: "t",
        parameters: Schema.Struct({ word: Schema.String }),
        execute: ({ word }) =>
          Call.fromIterable([
            { _tag: "Text", text: word },
            { _tag: "Text", text: "!" }
          ] as const)
      })
      expect(yield* call(tool, { word: "hi" })).toEqual(Message.succeeded("hi!"))
      const denied = Tool.fromCall({ name: "t", description: "t", execute: () => Call.succeed(Message.denied("no")) })
      expect(yield* call(denied)).toEqual(Message.denied("no"))
    })
  )
})
