import { describe, expect, it } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
  Call,
  ChatModel,
  Errors,
  Handler,
  History,
  Instructions,
  Message,
  Pipeline,
  Tool,
  Tools
} from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Schema, TestClock } from "effect"
import { echo, events, Oops, only, outcomes } from "./support.ts"

const named = (name: string, result: unknown = name) =>
  Tool.make({ name, description: name, execute: () => Effect.succeed(result) })

/** Runs an agent against a script, for its result and what the model was asked. */
const scripted = <O, E>(
  agent: Agent.Agent<O, E, ChatModel.ChatModel>,
  script: ScriptedModel.Script,
  options?: Agent.CallOptions
) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(script)
    const result = yield* Effect.provide(Agent.run(agent, "go", options), model.layer)
    return { result, requests: yield* model.requests }
  })

describe("a run", () => {
  it.effect("gives the answer, everything that was said, and what it took", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", instructions: "Base.", tools: Tools.make(echo) })
      const { requests, result } = yield* scripted(agent, [
        { text: "wait", calls: [{ tool: "echo", arguments: { text: "hi" } }] },
        "done"
      ])
      expect(result).toMatchObject({ output: "done", text: "done", steps: 2, end: "answer", usage: ChatModel.noUsage })
      expect(result.history).toEqual([
        Message.user("go"),
        Message.assistant([
          { _tag: "Text", text: "wait" },
          Message.toolCall("call-1", "echo", { text: "hi" }, Message.succeeded("hi"))
        ]),
        Message.assistant("done")
      ])
      expect(requests.map((request) => Instructions.render(request.instructions))).toEqual(["Base.", "Base."])
      expect(requests[1]!.history).toEqual(result.history.slice(0, 2))
    })
  )

  it.effect("begins with the history that it is given, and takes a message for input", () =>
    Effect.gen(function* () {
      const history = [Message.user("before"), Message.assistant("said")]
      const input = Message.user([{ _tag: "File", mediaType: "image/png", data: "AAAA" }])
      const model = yield* ScriptedModel.make(["ok"])
      const agent = Agent.make({ name: "a" })
      const result = yield* Effect.provide(Agent.run(agent, input, { history }), model.layer)
      expect(result.history).toEqual([...history, input, Message.assistant("ok")])
    })
  )

  it.effect("tells its events in order, and the last one is the result", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(echo) })
      const script = [{ reasoning: "hm", calls: [{ tool: "echo", arguments: { text: "hi" } }] }, "done"]
      const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(script))
      expect(all.map((event) => event._tag)).toEqual([
        "RunStarted",
        "StepStarted",
        "Reasoning",
        "ToolCall",
        "StepFinished",
        "ToolStarted",
        "ToolFinished",
        "StepStarted",
        "Text",
        "StepFinished",
        "Completed"
      ])
      const { result } = yield* scripted(agent, script)
      expect(only(all, "Completed").map((event) => event.result)).toEqual([result])
    })
  )

  it("isAgent knows agents", () => {
    expect([Agent.make({ name: "a" }), { name: "a" }, null].map(Agent.isAgent)).toEqual([true, false, false])
    expect(Agent.make({ name: "a" }).pipe((agent) => agent.name)).toBe("a")
  })
})

describe("options", () => {
  it.effect("those of the run go over those of the agent, and a set zero or empty is a value", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const agent = Agent.make({
        name: "a",
        maxSteps: 7,
        toolConcurrency: 3,
        metadata: { tenant: "x" },
        model: { temperature: 0.7, model: "big" },
        handlers: Handler.beforeAgent((run) => {
          seen.push(run.options)
          return run
        })
      })
      const given = { maxSteps: 1, metadata: {}, model: { temperature: 0, model: "" } }
      const { requests } = yield* scripted(agent, ["ok"], given)
      yield* scripted(agent, ["ok"])
      expect(seen).toEqual([
        { ...given, onStepLimit: "error", toolConcurrency: 3, toolChoice: "auto" },
        {
          maxSteps: 7,
          onStepLimit: "error",
          toolConcurrency: 3,
          toolChoice: "auto",
          metadata: { tenant: "x" },
          model: { temperature: 0.7, model: "big" }
        }
      ])
      expect(requests[0]!.options).toEqual({ temperature: 0, model: "" })
    })
  )

  for (const toolChoice of ["required", { tool: "echo" }] as const) {
    it.effect(`toolChoice ${JSON.stringify(toolChoice)} holds until a tool has run`, () =>
      Effect.gen(function* () {
        const agent = Agent.make({ name: "a", tools: Tools.make(echo), toolChoice })
        const { requests, result } = yield* scripted(agent, (request) =>
          request.toolChoice === "auto" ? "done" : { calls: [{ tool: "echo", arguments: { text: "x" } }] }
        )
        expect(requests.map((request) => request.toolChoice)).toEqual([toolChoice, "auto"])
        expect(result.text).toBe("done")
      })
    )
  }
})

describe("options of several", () => {
  it("are one, the later over the earlier, with the metadata of all", () => {
    expect(
      Agent.options(
        { maxSteps: 3, metadata: { a: 1, b: 1 } },
        { metadata: { b: 2 } },
        { maxSteps: 0, toolChoice: "none" }
      )
    ).toEqual({ maxSteps: 0, toolChoice: "none", metadata: { a: 1, b: 2 } })
    expect(Agent.options()).toEqual({})
  })

  it("keep what two say under one key of the metadata, and what is not said", () => {
    expect(Agent.options({ metadata: { a: { one: 1, two: 2 } } }, { metadata: { a: { two: 0 } } })).toEqual({
      metadata: { a: { one: 1, two: 0 } }
    })
    const silent = { maxSteps: undefined } as unknown as Agent.CallOptions
    expect(Agent.options({ maxSteps: 3 }, silent)).toEqual({ maxSteps: 3 })
  })
})

describe("structured output", () => {
  const output = Schema.Struct({ city: Schema.String, founded: Schema.Date })
  const agent = Agent.make({ name: "a", output })

  it.effect("is decoded by the schema, which the model is shown", () =>
    Effect.gen(function* () {
      const text = '{"city":"Rome","founded":"2000-01-01T00:00:00.000Z"}'
      const { requests, result } = yield* scripted(agent, [text])
      expect(result.output).toEqual({ city: "Rome", founded: new Date("2000-01-01T00:00:00.000Z") })
      expect(result.text).toBe(text)
      expect(requests[0]!.output).toMatchObject({ type: "object", required: ["city", "founded"] })
      const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer([text]))
      expect(all.at(-1)).toMatchObject({ _tag: "Completed", result: { output: result.output } })
    })
  )

  for (const text of ["no JSON", '{"city":"Rome"}', "null", ""]) {
    it.effect(`${JSON.stringify(text)} that does not fit fails with InvalidOutput`, () =>
      Effect.gen(function* () {
        const model = ScriptedModel.layer(() => text)
        const error = yield* Effect.flip(Effect.provide(Agent.run(agent, "go"), model))
        if (!(error instanceof Errors.InvalidOutput)) throw error
        expect(error).toMatchObject({ agent: "a", text })
        expect(error.message).toContain('The answer of agent "a" does not fit its output schema')
        const { events: all, exit } = yield* Effect.provide(events(agent), model)
        expect(all.at(-1)).toMatchObject({ _tag: "Failed", steps: 1, error: { _tag: "InvalidOutput" } })
        expect(only(all, "Completed")).toEqual([])
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBeInstanceOf(Errors.InvalidOutput)
      })
    )
  }

  it.effect("a schema that throws refuses the answer", () =>
    Effect.gen(function* () {
      const output = Schema.transform(Schema.String, Schema.String, {
        decode: (): string => {
          throw new Error("no")
        },
        encode: (text) => text
      })
      const throwing = Agent.make({ name: "a", output })
      const error = yield* Effect.flip(Effect.provide(Agent.run(throwing, "go"), ScriptedModel.layer(['"x"'])))
      expect(error).toMatchObject({ _tag: "InvalidOutput", agent: "a", text: '"x"' })
    })
  )
})

describe("tools of one reply", () => {
  it.effect("run at most so many at a time, and their results stand in call order", () =>
    Effect.gen(function* () {
      let now = 0
      let most = 0
      const tool = Tool.make({
        name: "wait",
        description: "Waits.",
        parameters: Schema.Struct({ seconds: Schema.Number }),
        execute: ({ seconds }) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              now++
              most = Math.max(most, now)
            }),
            () => Effect.as(Effect.sleep(`${seconds} seconds`), seconds),
            () => Effect.sync(() => now--)
          )
      })
      const calls = [5, 4, 3, 2, 1].map((seconds) => ({ tool: "wait", arguments: { seconds } }))
      for (const toolConcurrency of [1, 2, 8]) {
        most = 0
        const agent = Agent.make({ name: "a", tools: Tools.make(tool), toolConcurrency })
        const fiber = yield* Effect.fork(scripted(agent, [{ calls }, "done"]))
        yield* TestClock.adjust("1 minute")
        const { result } = yield* Fiber.join(fiber)
        expect(most).toBe(Math.min(toolConcurrency, 5))
        expect(outcomes(result.history)).toEqual([5, 4, 3, 2, 1].map(Message.succeeded))
      }
    })
  )
})

describe("a tool that returns directly", () => {
  const direct = (name: string, result: unknown = name) => Tool.update(named(name, result), { returnDirectly: true })

  it.effect("ends the run with its result, without another model call", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(direct("t", { n: 1 })) })
      const { requests, result } = yield* scripted(agent, [{ calls: [{ tool: "t" }] }])
      expect(result).toMatchObject({ text: '{"n":1}', end: "tool", steps: 1 })
      expect(requests.length).toBe(1)
      expect(outcomes(result.history)).toEqual([Message.succeeded({ n: 1 })])
    })
  )

  it.effect("among several: the first in call order answers, and all have run", () =>
    Effect.gen(function* () {
      const slow = Tool.make({
        name: "slow",
        description: "slow",
        returnDirectly: true,
        execute: () => Effect.as(Effect.yieldNow(), "slow")
      })
      const agent = Agent.make({ name: "a", tools: Tools.make(slow, direct("quick"), named("plain")) })
      const calls = [{ tool: "plain" }, { tool: "slow" }, { tool: "quick" }]
      const { result } = yield* scripted(agent, [{ calls }])
      expect(result.text).toBe("slow")
      expect(outcomes(result.history).map((outcome) => outcome._tag)).toEqual(["Succeeded", "Succeeded", "Succeeded"])
    })
  )

  it.effect("that fails goes back to the model", () =>
    Effect.gen(function* () {
      const failing = Tool.make({
        name: "t",
        description: "t",
        returnDirectly: true,
        failure: Schema.String,
        execute: () => Effect.fail("no")
      })
      const agent = Agent.make({ name: "a", tools: Tools.make(failing) })
      const { result } = yield* scripted(agent, [{ calls: [{ tool: "t" }] }, "sorry"])
      expect(result).toMatchObject({ text: "sorry", end: "answer", steps: 2 })
    })
  )

  it.effect("that is denied goes back to the model", () =>
    Effect.gen(function* () {
      const denying = Handler.wrapToolCall(() => Call.succeed(Message.denied("no")))
      const agent = Agent.make({ name: "a", tools: Tools.make(direct("t")), handlers: denying })
      const { result } = yield* scripted(agent, [{ calls: [{ tool: "t" }] }, "sorry"])
      expect(result).toMatchObject({ text: "sorry", end: "answer" })
    })
  )
})

describe("after-model hooks", () => {
  const asking = [{ calls: [{ tool: "t" }, { tool: "t" }] }, "done"]
  const counted = () => {
    const count = { calls: 0 }
    const tool = Tool.make({ name: "t", description: "t", execute: () => ++count.calls })
    return { count, tools: Tools.make(tool) }
  }

  it.effect("calls that they settle do not run, and go back to the model as settled", () =>
    Effect.gen(function* () {
      const { count, tools } = counted()
      const handlers = Handler.afterModel((history) => History.settle(history, Message.denied("ask first")))
      const { requests, result } = yield* scripted(Agent.make({ name: "a", tools, handlers }), asking)
      expect(count.calls).toBe(0)
      expect(requests.length).toBe(2)
      expect(outcomes(requests[1]!.history)).toEqual([Message.denied("ask first"), Message.denied("ask first")])
      expect(result.text).toBe("done")
    })
  )

  it.effect("calls that they leave open run", () =>
    Effect.gen(function* () {
      const { count, tools } = counted()
      const handlers = Handler.afterModel(
        History.mapToolCalls((call) => (call.id.endsWith("-1") ? { ...call, outcome: Message.denied("no") } : call))
      )
      const { result } = yield* scripted(Agent.make({ name: "a", tools, handlers }), asking)
      expect(count.calls).toBe(1)
      expect(outcomes(result.history)).toEqual([Message.denied("no"), Message.succeeded(1)])
    })
  )

  it.effect("that append a question make the model go on", () =>
    Effect.gen(function* () {
      const handlers = Handler.afterModel((history) =>
        history.length < 3 ? History.append(history, "Are you sure?") : history
      )
      const { requests, result } = yield* scripted(Agent.make({ name: "a", handlers }), ["yes", "quite sure"])
      expect(result).toMatchObject({ text: "quite sure", steps: 2 })
      expect(requests[1]!.history.map(Message.text)).toEqual(["go", "yes", "Are you sure?"])
    })
  )

  it.effect("that append a question while calls are open leave none open", () =>
    Effect.gen(function* () {
      const { tools } = counted()
      const handlers = Handler.afterModel((history) =>
        history.length < 3 ? History.append(history, "Stop.") : history
      )
      const { requests, result } = yield* scripted(Agent.make({ name: "a", tools, handlers }), asking)
      expect(requests.map((request) => History.isPaired(request.history))).toEqual([true, true])
      expect(History.isPaired(result.history)).toBe(true)
    })
  )

  it.effect("that drop the reply make the model try again", () =>
    Effect.gen(function* () {
      let first = true
      const handlers = Handler.afterModel((history) => {
        const dropped = first ? history.slice(0, -1) : history
        first = false
        return dropped
      })
      const { result } = yield* scripted(Agent.make({ name: "a", handlers }), ["rude", "polite"])
      expect(result.text).toBe("polite")
      expect(result.history.map(Message.text)).toEqual(["go", "polite"])
    })
  )
})

describe("calls that the provider has run itself", () => {
  const searched = Message.toolCall("1", "web_search", {}, Message.succeeded("found"))
  const content = [searched, { _tag: "Text" as const, text: "It is so." }]
  const replying = (finishReason: ChatModel.FinishReason) => {
    let turns = 0
    const layer = ChatModel.layer(() =>
      ++turns === 1
        ? Call.succeed({ content, finishReason, usage: ChatModel.noUsage })
        : ChatModel.reply("It is still so.")
    )
    return Agent.run(Agent.make({ name: "searcher" }), "Is it so?").pipe(Effect.provide(layer))
  }

  it.effect("stand in the answer, if the model has come to an end", () =>
    Effect.gen(function* () {
      const result = yield* replying("stop")
      expect(result).toMatchObject({ text: "It is so.", steps: 1, end: "answer" })
      expect(Message.toolCalls(result.history.at(-1)!)).toHaveLength(1)
    })
  )

  it.effect("go back to the model, if it has not", () =>
    Effect.gen(function* () {
      expect(yield* replying("tool-calls")).toMatchObject({ text: "It is still so.", steps: 2 })
    })
  )
})

describe("a reply that is not over", () => {
  const partly = (reply: Partial<ChatModel.ModelReply>) => {
    const requests: Array<ChatModel.ModelRequest> = []
    const layer = ChatModel.layer((request) =>
      requests.push(request) === 1
        ? Call.succeed({ content: [], finishReason: "stop", usage: ChatModel.noUsage, ...reply })
        : ChatModel.reply("Done.")
    )
    return { layer, requests }
  }

  it.effect("since it was cut off: none of its calls run, and the model is told", () =>
    Effect.gen(function* () {
      let runs = 0
      const remove = Tool.make({ name: "remove", description: "Removes all.", execute: () => ++runs })
      const agent = Agent.make({ name: "cleaner", tools: Tools.make(remove) })
      const pending = [Message.toolCall("1", "remove", {}), Message.toolCall("2", "remove", "")]
      for (const ask of [Effect.asVoid(Agent.run(agent, "go")), Effect.asVoid(events(agent))]) {
        const { layer, requests } = partly({ content: pending, finishReason: "length" })
        yield* Effect.provide(ask, layer)
        const failed = Message.failed("The reply was cut off before this call was complete; nothing was done.")
        expect(Message.toolCalls(requests[1]!.history.at(-1)!).map(({ outcome }) => outcome)).toEqual([failed, failed])
      }
      expect(runs).toBe(0)
    })
  )

  it.effect("since it was cut off: what it says without a call is the answer", () =>
    Effect.gen(function* () {
      const { layer } = partly({ content: [{ _tag: "Text", text: "Half an ans" }], finishReason: "length" })
      const result = yield* Effect.provide(Agent.run(Agent.make({ name: "helper" }), "go"), layer)
      expect(result).toMatchObject({ text: "Half an ans", steps: 1 })
    })
  )

  it.effect("has not made the call that must be made", () =>
    Effect.gen(function* () {
      const tools = Tools.make(named("look"))
      const agent = Agent.make({ name: "looker", tools, toolChoice: "required" })
      for (const finishReason of ["length", "pause"] as const) {
        const calls = finishReason === "length" ? [Message.toolCall("1", "look", {})] : []
        const { layer, requests } = partly({ content: calls, finishReason })
        yield* Effect.provide(Agent.run(agent, "go"), layer)
        expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", "required"])
      }
    })
  )

  it.effect("since the provider pauses: the model is asked to go on, with calls or without", () =>
    Effect.gen(function* () {
      const searched = Message.toolCall("1", "web_search", {}, Message.succeeded("found"))
      for (const content of [[searched], [], [{ _tag: "Text" as const, text: "Let me" }]]) {
        const { layer, requests } = partly({ content, finishReason: "pause" })
        const result = yield* Effect.provide(Agent.run(Agent.make({ name: "helper" }), "go"), layer)
        expect(result).toMatchObject({ text: "Done.", steps: 2, end: "answer" })
        expect(requests[1]?.history.at(-1)).toEqual(Message.assistant(content))
      }
    })
  )
})

describe("only the tools that a call was offered run", () => {
  it.effect("a tool hidden for this call is refused as unknown", () =>
    Effect.gen(function* () {
      const hiding = Handler.wrapModelCall((request, next) =>
        next({ ...request, tools: Tools.remove(request.tools, "hidden") })
      )
      const agent = Agent.make({ name: "a", tools: Tools.make(named("hidden"), named("shown")), handlers: hiding })
      const { result } = yield* scripted(agent, [{ calls: [{ tool: "hidden" }] }, "done"])
      expect(outcomes(result.history)).toEqual([
        Message.failed('There is no tool named "hidden". The tools are: shown.')
      ])
    })
  )

  it.effect("a tool added for this call runs, and is known for this call only", () =>
    Effect.gen(function* () {
      const adding = Handler.wrapModelCall((request, next) =>
        request.history.length === 1 ? next({ ...request, tools: Tools.make(named("extra")) }) : next(request)
      )
      const agent = Agent.make({ name: "a", handlers: adding })
      const calls = [{ tool: "extra" }]
      const { result } = yield* scripted(agent, [{ calls }, { calls }, "done"])
      expect(outcomes(result.history).map((outcome) => outcome._tag)).toEqual(["Succeeded", "Failed"])
    })
  )

  it.effect("also when the reply is judged, replaced or tried again on its way", () =>
    Effect.gen(function* () {
      for (const over of [
        Handler.wrapModelCall((request, next) => Call.gate(next(request), (reply) => reply)),
        Handler.wrapModelCall((request, next) => Call.gate(next(request), (reply) => ({ ...reply }))),
        Handler.wrapModelCall((request, next) => Call.retry(next(request), { times: 1 })),
        Handler.wrapModelCall((request, next) => Call.map(next(request), (part) => part))
      ]) {
        const hiding = Handler.wrapModelCall((request, next) => next({ ...request, tools: Tools.empty }))
        const agent = Agent.make({
          name: "a",
          tools: Tools.make(named("hidden")),
          handlers: Pipeline.make(over, hiding)
        })
        const script = [{ calls: [{ tool: "hidden" }] }, "done"]
        const { result } = yield* scripted(agent, script)
        expect(outcomes(result.history).map((outcome) => outcome._tag)).toEqual(["Failed"])
        const { events: all } = yield* Effect.provide(events(agent), ScriptedModel.layer(script))
        expect(only(all, "ToolFinished").map((event) => event.outcome._tag)).toEqual(["Failed"])
      }
    })
  )
})

describe("an agent as a tool", () => {
  const inner = Agent.make({ name: "inner", description: "Knows.", instructions: "inner" })
  const script: ScriptedModel.Script = (request) =>
    Instructions.render(request.instructions) === "inner"
      ? { text: `about ${ChatModel.question(request)}`, cut: { every: 4 } }
      : request.history.length > 1
        ? "done"
        : { calls: [{ tool: "inner", arguments: { input: "birds" } }] }

  it.effect("is asked one text and answers with its output", () =>
    Effect.gen(function* () {
      const outer = Agent.make({ name: "outer", tools: Tools.make(Agent.asTool(inner)) })
      const { requests, result } = yield* scripted(outer, script)
      expect(outcomes(result.history)).toEqual([Message.succeeded("about birds")])
      expect(requests.length).toBe(3)
      expect(requests[1]!.history).toEqual([Message.user("birds")])
      expect(result.steps).toBe(2)
    })
  )

  it.effect("tells its events as progress, but for the last", () =>
    Effect.gen(function* () {
      const outer = Agent.make({ name: "outer", tools: Tools.make(Agent.asTool(inner)) })
      const { events: all } = yield* Effect.provide(events(outer), ScriptedModel.layer(script))
      const progress = only(all, "ToolProgress").map((event) => event.value as AgentEvent.AgentEvent)
      expect(progress.map((event) => event._tag)).toEqual([
        "RunStarted",
        "StepStarted",
        "Text",
        "Text",
        "Text",
        "StepFinished"
      ])
      expect(only(all, "Completed").length).toBe(1)
    })
  )

  it.effect("that fails fails the run with that very error, and gives its own last event as progress", () =>
    Effect.gen(function* () {
      const error = new Oops({ from: "inner" })
      const failing = Agent.make({ name: "inner", handlers: Handler.beforeAgent(() => Effect.fail(error), "culprit") })
      const outer = Agent.make({ name: "outer", tools: Tools.make(Agent.asTool(failing)) })
      const model = ScriptedModel.layer(() => ({ calls: [{ tool: "inner", arguments: { input: "x" } }] }))
      expect(yield* Effect.flip(Effect.provide(Agent.run(outer, "go"), model))).toBe(error)
      const { events: all } = yield* Effect.provide(events(outer), model)
      expect(only(all, "ToolProgress").at(-1)?.value).toMatchObject({ _tag: "Failed", error, handler: "culprit" })
      const last = all.at(-1)
      expect(last?._tag === "Failed" && last.error).toBe(error)
    })
  )

  it.effect("takes another name, description, options and structured output", () =>
    Effect.gen(function* () {
      const counting = Agent.make({ name: "counter", output: Schema.Struct({ n: Schema.Number }) })
      const tool = Agent.asTool(counting, {
        name: "count",
        description: "Counts.",
        annotations: { readOnly: true },
        returnDirectly: true,
        run: { history: [Message.user("earlier")] }
      })
      expect(tool).toMatchObject({ name: "count", description: "Counts.", returnDirectly: true })
      expect(tool.annotations.readOnly).toBe(true)
      expect(Agent.asTool(inner)).toMatchObject({ name: "inner", description: "Knows.", returnDirectly: false })
      const outer = Agent.make({ name: "outer", tools: Tools.make(tool) })
      const { requests, result } = yield* scripted(outer, [
        { calls: [{ tool: "count", arguments: { input: "x" } }] },
        '{"n":3}'
      ])
      expect(outcomes(result.history)).toEqual([Message.succeeded('{"n":3}')])
      expect(result.text).toBe('{"n":3}')
      expect(requests[1]!.history).toEqual([Message.user("earlier"), Message.user("x")])
    })
  )
})

describe("one agent shared by many runs", () => {
  it.effect("each run has its own history, instructions and result", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(echo), handlers: Handler.instructions("Be brief.") })
      const ready = yield* Deferred.make<void>()
      const model = ChatModel.layer((request) =>
        request.history.length > 1
          ? ChatModel.reply(`for ${Message.text(request.history[0]!)}`)
          : Call.around(
              ChatModel.reply([Message.toolCall("1", "echo", { text: ChatModel.question(request) })]),
              (effect) => Effect.zipRight(Deferred.await(ready), effect)
            )
      )
      const inputs = Array.from({ length: 200 }, (_, i) => `user ${i}`)
      const fiber = yield* Effect.fork(
        Effect.forEach(inputs, (input) => Agent.run(agent, input), { concurrency: "unbounded" })
      ).pipe(Effect.provide(model))
      yield* Deferred.succeed(ready, undefined)
      const results = yield* Fiber.join(fiber)
      expect(results.map((result) => result.text)).toEqual(inputs.map((input) => `for ${input}`))
      expect(results.map((result) => outcomes(result.history))).toEqual(inputs.map((i) => [Message.succeeded(i)]))
    })
  )
})
