import { describe, expect, it } from "@effect/vitest"
import { Agent, AgentEvent, type AgentRun, Call, Handler, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Cause, Effect, Exit, Schema, Stream } from "effect"
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

  it.effect("fromJsonSchema shows the schema as it is, and takes any object for arguments", () =>
    Effect.gen(function* () {
      const jsonSchema = { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } }
      const tool = Tool.fromJsonSchema({
        name: "t",
        description: "t",
        jsonSchema,
        annotations: { readOnly: true },
        execute: (args, { callId }) => Call.succeed(Message.succeeded([args, callId]))
      })
      expect(tool.jsonSchema).toBe(jsonSchema)
      const renamed = Tool.update(tool, { name: "u" })
      expect(renamed).toMatchObject({ name: "u", annotations: { readOnly: true } })
      expect(renamed.jsonSchema).toBe(jsonSchema)
      const args = { a: 1 }
      expect(yield* call(tool, args)).toEqual(Message.succeeded([args, "the-call"]))
      for (const none of [null, "text", 1, [args]]) {
        expect(yield* call(tool, none)).toMatchObject({ _tag: "Failed", reason: expect.stringContaining("an object") })
      }
      const failing = Tool.fromJsonSchema({
        name: "t",
        description: "t",
        jsonSchema,
        execute: () => Call.fail("no" as const)
      })
      expect(yield* Effect.flip(call(failing))).toBe("no")
    })
  )
})

describe("a reader that breaks is not taken for the tool", () => {
  const bug = new Error("a bug in the reader")
  const options = { name: "t", description: "t" }
  const text: Tool.ToolPart = { _tag: "Text", text: "a" }
  const tools: Record<string, Tool.Tool> = {
    "answers in one piece": Tool.make({ ...options, execute: () => "a" }),
    "tells of its progress": Tool.make({ ...options, execute: (_, { progress }) => Effect.as(progress("half"), "a") }),
    "streams text": Tool.stream({ ...options, execute: () => Stream.make("a", "b") }),
    "is a call": Tool.fromCall({ ...options, execute: () => Call.fromIterable([text]) }),
    "refuses its arguments": Tool.make({
      ...options,
      parameters: Schema.Struct({ n: Schema.Number }),
      execute: () => "a"
    })
  }
  const readers: Record<string, () => Call.Wait> = {
    "by throwing": () => {
      throw bug
    },
    "where the part has to wait for it": () => Effect.die(bug)
  }
  const squashed = <A, E>(exit: Exit.Exit<A, E>) => Exit.isFailure(exit) && Cause.squash(exit.cause)
  const model = ScriptedModel.layer(() => ({ calls: [{ tool: "t" }] }))
  const forward = Handler.make("forward", { wrapToolCall: (request, next) => Call.map(next(request), (part) => part) })

  for (const [does, tool] of Object.entries(tools)) {
    for (const [how, read] of Object.entries(readers)) {
      it.effect(`that ${does}, ${how}: outside of a run`, () =>
        Effect.gen(function* () {
          const call = Tool.execute({ id: "c", name: "t", arguments: {}, tool, offered: ["t"] })
          const sink = Call.sink<Tool.ToolPart, Message.ToolOutcome>(Tool.fold, "live", read)
          const exit = yield* Effect.exit(Effect.suspend(() => Call.into(call, sink) as Effect.Effect<void, unknown>))
          expect(squashed(exit)).toBe(bug)
        })
      )

      it.effect(`that ${does}, ${how}: as a handler around the call, whose fault it is`, () =>
        Effect.gen(function* () {
          const culprit = Handler.make("culprit", {
            wrapToolCall: (request, next) =>
              Call.fromSink<Tool.ToolPart, Message.ToolOutcome, Handler.Upstream, never>((sink) =>
                Call.into(next(request), Call.sink<Tool.ToolPart, Message.ToolOutcome>(sink.fold, "live", read))
              )
          })
          for (const handlers of [culprit, Pipeline.make(forward, culprit), Pipeline.make(culprit, forward)]) {
            const { events: all } = yield* events(Agent.make({ name: "a", tools: Tools.make(tool), handlers }))
            const last = all.at(-1)
            expect(last).toMatchObject({ _tag: "Failed", handler: "culprit", hook: "wrapToolCall" })
            expect(last?._tag === "Failed" && last.error).toBe(bug)
          }
        }).pipe(Effect.provide(model))
      )

      it.effect(`that ${does}, ${how}: as the reader of the run, and no handler is to blame`, () =>
        Effect.gen(function* () {
          let last: AgentEvent.AgentEvent | Call.Reset | undefined
          const sink = Call.sink<AgentEvent.AgentEvent, AgentRun.AgentResult>(AgentEvent.fold(), "live", (event) => {
            last = event
            if (["ToolText", "ToolProgress", "ToolFinished"].includes(event._tag)) return read()
          })
          const agent = Agent.make({ name: "a", tools: Tools.make(tool), handlers: forward })
          const exit = yield* Effect.exit(Call.into(Agent.call(agent, "go"), sink))
          expect(squashed(exit)).toBe(bug)
          expect(last).toMatchObject({ _tag: "Failed", error: bug })
          expect(last).not.toHaveProperty("handler")
        }).pipe(Effect.provide(model))
      )
    }
  }

  it.effect("and a tool that breaks is not taken for a handler around it", () =>
    Effect.gen(function* () {
      const broken = Tool.make({ ...options, execute: () => Effect.die(bug) })
      const { events: all } = yield* events(
        Agent.make({ name: "a", tools: Tools.make(broken), handlers: Pipeline.make(forward, forward) })
      )
      expect(all.at(-1)).toMatchObject({ _tag: "Failed", error: { _tag: "ToolError", cause: bug } })
      expect(all.at(-1)).not.toHaveProperty("handler")
    }).pipe(Effect.provide(model))
  )
})
