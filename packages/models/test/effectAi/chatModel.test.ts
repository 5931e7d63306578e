import { describe, expect, it } from "@effect/vitest"
import * as AiError from "@effect/ai/AiError"
import * as AiTool from "@effect/ai/Tool"
import type * as Response from "@effect/ai/Response"
import { Agent, AgentRun, Call, ChatModel, Errors, Instructions, Message, Tool, Tools } from "@heddle/core"
import * as EffectAi from "@heddle/models/effectAi"
import { Arbitraries } from "@heddle/testing"
import { Chunk, Context, Effect, Exit, FastCheck as fc, Fiber, Layer, Option, Schema, Stream, TestClock } from "effect"
import { bothWays, called, finish, provider, saying, streamed, text, theirMetadata } from "./support.ts"

const weather = Tool.make({
  name: "weather",
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String }),
  execute: ({ city }) => `${city} is sunny.`
})
const tools = Tools.make(weather)
const layerOf = (model: ChatModel.Service) => Layer.succeed(ChatModel.ChatModel, model)
const signed: Response.ReasoningPartEncoded = {
  type: "reasoning",
  text: "Hm.",
  metadata: { anthropic: { type: "thinking", signature: "s1" } }
}

describe("a reply", () => {
  it.effect("has text, thoughts, calls, usage and reason, streamed as well as not", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(
        signed,
        text("Let me see."),
        called("weather", { city: "Oslo" }),
        finish("tool-calls")
      )
      const { run, streamed } = yield* bothWays(EffectAi.fromLanguageModel(model), { tools })
      expect(run).toEqual({
        content: [
          { _tag: "Reasoning", text: "Hm.", metadata: { anthropic: { type: "thinking", signature: "s1" } } },
          { _tag: "Text", text: "Let me see." },
          Message.toolCall("call-1", "weather", { city: "Oslo" })
        ],
        finishReason: "tool-calls",
        usage: { inputTokens: 3, outputTokens: 5 }
      })
      expect(streamed).toEqual(run)
    })
  )

  it.effect("comes bit by bit when it is wanted live", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(text("abc"), finish())
      const { parts } = yield* bothWays(EffectAi.fromLanguageModel(model), {})
      expect(parts.map((part) => (part._tag === "Text" ? part.text : part._tag))).toEqual(["a", "b", "c", "Finish"])
    })
  )

  it.effect("keeps in its metadata what it has no place for", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(
        { type: "response-metadata", id: "r1", modelId: "m", timestamp: "2026-01-02T03:04:05.000Z" },
        { type: "source", sourceType: "url", id: "s1", url: "https://example.com/a", title: "A" },
        { type: "source", sourceType: "document", id: "s2", mediaType: "text/plain", title: "B", fileName: "b.txt" },
        { type: "file", mediaType: "image/png", data: "AAAA" },
        { ...finish("unknown", { cachedInputTokens: 2 }), metadata: { anthropic: { stopSequence: "END" } } }
      )
      const { run, streamed } = yield* bothWays(EffectAi.fromLanguageModel(model), {})
      expect(run.finishReason).toBe("other")
      expect(run.metadata).toEqual({
        anthropic: { stopSequence: "END" },
        effectAi: {
          reason: "unknown",
          usage: { cachedInputTokens: 2 },
          response: { id: "r1", modelId: "m", timestamp: "2026-01-02T03:04:05.000Z" },
          sources: [
            { sourceType: "url", id: "s1", title: "A", url: "https://example.com/a" },
            { sourceType: "document", id: "s2", title: "B", mediaType: "text/plain", fileName: "b.txt" }
          ],
          files: [{ mediaType: "image/png", data: "AAAA" }]
        }
      })
      expect(streamed).toEqual(run)
    })
  )

  it.effect("that never comes is given up after five minutes", () =>
    Effect.gen(function* () {
      const { model } = yield* provider(() => Effect.never)
      const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
      const asked = [ChatModel.run(call), Effect.asVoid(Call.collect(call, ChatModel.fold))]
      const fibers = yield* Effect.forEach(asked, (ask) => Effect.fork(Effect.flip(ask)))
      yield* TestClock.adjust("4 minutes")
      for (const fiber of fibers) expect(yield* Fiber.poll(fiber)).toEqual(Option.none())
      yield* TestClock.adjust("2 minutes")
      for (const fiber of fibers) expect((yield* Fiber.join(fiber)).reason).toBe("Timeout")
    })
  )

  it.effect("that pauses is not over", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(text("Let me"), finish("pause"))
      const { run, streamed } = yield* bothWays(EffectAi.fromLanguageModel(model), {})
      expect([run.finishReason, streamed.finishReason]).toEqual(["pause", "pause"])
    })
  )

  it.effect("with a stream that ends without an end fails with Network", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(text("Half an ans"))
      const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
      const error = yield* Effect.flip(Call.collect(call, ChatModel.fold))
      expect(error.reason).toBe("Network")
    })
  )

  const block: fc.Arbitrary<Response.PartEncoded> = fc.oneof(
    fc
      .tuple(Arbitraries.text, fc.option(theirMetadata, { nil: undefined }))
      .map(([said, metadata]): Response.PartEncoded => ({ ...text(said), ...(metadata && { metadata }) })),
    fc
      .tuple(Arbitraries.text, fc.option(theirMetadata, { nil: undefined }))
      .map(([text, metadata]): Response.PartEncoded => ({ type: "reasoning", text, ...(metadata && { metadata }) })),
    fc.tuple(Arbitraries.json, fc.uuid()).map(([args, id]) => called("weather", args, id))
  )
  /** Thoughts that stand together begin before the first of them has ended, as some providers have it. */
  const overlapped = (parts: ReadonlyArray<Response.PartEncoded>, chunk: number) => {
    const flat: Array<Response.StreamPartEncoded> = []
    let ends: Array<Response.StreamPartEncoded> = []
    for (const part of parts) {
      if (part.type !== "reasoning") flat.push(...ends.splice(0))
      const pieces = streamed(part)
      if (part.type === "reasoning") {
        flat.push(...pieces.slice(0, -1))
        ends.push(...pieces.slice(-1))
      } else flat.push(...pieces)
    }
    flat.push(...ends)
    return Chunk.toReadonlyArray(Chunk.chunksOf(Chunk.fromIterable(flat), chunk)).map(Chunk.toReadonlyArray)
  }
  it.effect.prop(
    "is the same however it is cut",
    [fc.array(block, { maxLength: 6 }), fc.integer({ min: 1, max: 7 })],
    ([parts, chunk]) =>
      Effect.gen(function* () {
        const all = [...parts, finish()]
        const { model } = yield* provider(
          () => Effect.succeed(all),
          () => overlapped(all, chunk)
        )
        const { run, streamed } = yield* bothWays(EffectAi.fromLanguageModel(model), { tools })
        expect(streamed).toEqual(run)
        const said = (type: "text" | "reasoning") =>
          all.map((part) => (part.type === type && "text" in part ? part.text : "")).join("")
        const kept = (tag: "Text" | "Reasoning") =>
          run.content.map((content) => (content._tag === tag ? content.text : "")).join("")
        expect(kept("Text")).toBe(said("text"))
        expect(kept("Reasoning")).toBe(said("reasoning"))
        // What is to be sent back with a text ends it; what stands before without any is one text with it.
        const marks = all.flatMap((part) =>
          part.type === "text" && part.metadata !== undefined ? [part.metadata] : []
        )
        expect(
          run.content.flatMap((content) =>
            content._tag === "Text" && content.metadata !== undefined ? [content.metadata] : []
          )
        ).toEqual(marks)
        // A signature stays with the thought that it signs, and with no other.
        const signatures = all.flatMap((part) =>
          part.type === "reasoning" && part.metadata !== undefined ? [[part.text, part.metadata]] : []
        )
        const keptSignatures = run.content.flatMap((content) =>
          content._tag === "Reasoning" && Object.keys(content.metadata ?? {}).length > 0
            ? [[content.text, content.metadata]]
            : []
        )
        expect(keptSignatures).toEqual(signatures)
      })
  )
})

describe("a call of a tool", () => {
  const agent = Agent.make({ name: "helper", tools })
  const answer = (first: ReadonlyArray<Response.PartEncoded>) =>
    provider((turn) => Effect.succeed(turn === 0 ? [...first] : [text("Done."), finish()]))
  const outcomes = (result: AgentRun.AgentResult) =>
    result.history.flatMap(Message.toolCalls).map((call) => call.outcome)

  it.effect("is run by the agent, and the model gets its result", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* answer([called("weather", { city: "Oslo" }), finish("tool-calls")])
      const result = yield* Agent.run(agent, "Oslo?").pipe(Effect.provide(layerOf(EffectAi.fromLanguageModel(model))))
      expect(result.text).toBe("Done.")
      expect(asked[1]?.prompt.content.at(-1)).toMatchObject({
        role: "tool",
        content: [{ type: "tool-result", id: "call-1", name: "weather", isFailure: false, result: "Oslo is sunny." }]
      })
      expect(asked[0]?.tools.map((tool) => [tool.name, tool.description])).toEqual([
        ["weather", "The weather in a city."]
      ])
      expect(AiTool.getJsonSchema(asked[0]!.tools[0] as never)).toEqual(weather.jsonSchema)
    })
  )

  for (const how of ["run", "stream"] as const) {
    const go = (model: ChatModel.Service) =>
      (how === "run"
        ? Agent.run(agent, "Oslo?")
        : Effect.map(Stream.runLast(Agent.stream(agent, "Oslo?")), (last) => {
            const event = Option.getOrThrow(last)
            if (event._tag !== "Completed") throw new Error(event._tag)
            return event.result
          })
      ).pipe(Effect.provide(layerOf(model)))

    it.effect(`with bad arguments goes back to the model (${how})`, () =>
      Effect.gen(function* () {
        const { model } = yield* answer([called("weather", { town: 1 }), called("weather", "Oslo", "call-2"), finish()])
        const result = yield* go(EffectAi.fromLanguageModel(model))
        expect(result.text).toBe("Done.")
        expect(outcomes(result).map((outcome) => outcome._tag)).toEqual(["Failed", "Failed"])
      })
    )

    it.effect(`with an unknown name goes back to the model (${how})`, () =>
      Effect.gen(function* () {
        const { asked, model } = yield* answer([
          signed,
          text("Well,"),
          called("weather", { city: "Oslo" }),
          called("forecast", { city: "Oslo" }, "call-2"),
          finish("tool-calls")
        ])
        const result = yield* go(EffectAi.fromLanguageModel(model))
        expect(result.text).toBe("Done.")
        expect(outcomes(result)).toEqual([
          Message.succeeded("Oslo is sunny."),
          Message.failed('There is no tool named "forecast". The tools are: weather.')
        ])
        // A stream of theirs is over with the call that it refuses, and what it cost is not known.
        expect(result.usage.inputTokens).toBe(how === "run" ? 6 : 3)
        expect(asked[1]?.prompt.content.map((message) => message.role)).toEqual(["user", "assistant", "tool"])
      })
    )
  }

  it.effect("that the provider runs has its outcome, and is sent back as the provider's", () =>
    Effect.gen(function* () {
      const search = AiTool.providerDefined({
        id: "anthropic.web_search",
        toolkitName: "Search",
        providerName: "web_search",
        args: {},
        parameters: { query: Schema.String },
        success: Schema.Unknown,
        failure: Schema.Unknown
      })({})
      const { asked, model } = yield* saying(
        { ...called("Search", { query: "heddle" }), providerExecuted: true, providerName: "web_search" },
        {
          type: "tool-result",
          id: "call-1",
          name: "Search",
          isFailure: false,
          result: ["found"],
          providerExecuted: true
        },
        { ...called("Search", { query: "none" }, "call-2"), providerExecuted: true },
        text("Found."),
        finish()
      )
      const adapted = EffectAi.fromLanguageModel(model, { providerTools: [search] })
      const { run, streamed } = yield* bothWays(adapted, {})
      expect(streamed).toEqual(run)
      expect(Message.toolCalls(Message.assistant(run.content)).map((call) => [call.arguments, call.outcome])).toEqual([
        [{ query: "heddle" }, Message.succeeded(["found"])],
        [{ query: "none" }, Message.failed("The provider gave no result.")]
      ])
      yield* ChatModel.run(adapted.call(ChatModel.request({ history: [Message.assistant(run.content)] })))
      expect(asked.at(-1)?.prompt.content.map((message) => message.role)).toEqual(["assistant"])
      expect(asked.at(-1)?.prompt.content[0]?.content).toMatchObject([
        { type: "tool-call", name: "Search", providerExecuted: true },
        { type: "tool-result", name: "Search", providerExecuted: true, result: ["found"] },
        { type: "text" },
        { type: "tool-call" },
        { type: "tool-result" }
      ])
    })
  )
})

describe("a prompt", () => {
  it.effect("has one system message, files, and thoughts with their signatures", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(text("Ok."), finish())
      const history = [
        Message.user([
          { _tag: "Text", text: "Look:" },
          { _tag: "File", mediaType: "image/png", data: "https://example.com/a.png", name: "a.png" },
          { _tag: "File", mediaType: "image/png", data: "data:image/png;base64,AAAA" },
          { _tag: "File", mediaType: "image/png", data: "BBBB" }
        ]),
        Message.assistant([{ _tag: "Reasoning", text: "Hm.", metadata: { anthropic: { signature: "s1" } } }])
      ]
      const instructions = Instructions.make("Be brief.").pipe(Instructions.append("Be kind."))
      yield* ChatModel.run(EffectAi.fromLanguageModel(model).call(ChatModel.request({ instructions, history })))
      expect(asked[0]?.prompt.content).toMatchObject([
        { role: "system", content: "Be brief.\n\nBe kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "Look:" },
            { type: "file", data: new URL("https://example.com/a.png"), fileName: "a.png" },
            { type: "file", data: "AAAA" },
            { type: "file", data: "BBBB" }
          ]
        },
        {
          role: "assistant",
          content: [{ type: "reasoning", text: "Hm.", options: { anthropic: { signature: "s1" } } }]
        }
      ])
    })
  )

  it.effect.prop("of any history has a result for every call, right after it", [Arbitraries.history], ([history]) =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(text("Ok."), finish())
      yield* ChatModel.run(EffectAi.fromLanguageModel(model).call(ChatModel.request({ history })))
      const messages = asked[0]!.prompt.content
      const idsOf = (type: string) => (message: (typeof messages)[number] | undefined) =>
        message === undefined || typeof message.content === "string"
          ? []
          : message.content.flatMap((part) => (part.type === type && "id" in part ? [part.id] : []))
      messages.forEach((message, i) => {
        if (message.role === "assistant") {
          const next = messages[i + 1]
          expect(idsOf("tool-result")(next?.role === "tool" ? next : undefined)).toEqual(idsOf("tool-call")(message))
        } else if (message.role === "tool") expect(messages[i - 1]?.role).toBe("assistant")
      })
      expect(messages.flatMap(idsOf("tool-call"))).toEqual(history.flatMap(Message.toolCalls).map((call) => call.id))
    })
  )

  it.effect("says what each outcome was", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(text("Ok."), finish())
      const outcomes = [
        Message.succeeded({ celsius: 4 }),
        Message.succeeded(undefined),
        Message.failed("No.", { code: 1 }),
        Message.denied("Not today."),
        Message.cancelled
      ]
      const history = [
        Message.assistant(outcomes.map((outcome, i) => Message.toolCall(`${i}`, "weather", {}, outcome)))
      ]
      yield* ChatModel.run(EffectAi.fromLanguageModel(model).call(ChatModel.request({ history })))
      const results = asked[0]!.prompt.content[1]
      expect(results?.role === "tool" && results.content.map((part) => [part.isFailure, part.result])).toEqual([
        [false, { celsius: 4 }],
        [false, null],
        [true, 'No. {"code":1}'],
        [true, "The call was not allowed: Not today."],
        [true, "The call was cancelled."]
      ])
    })
  )
})

describe("a request", () => {
  class Temperature extends Context.Tag("Temperature")<Temperature, number | undefined>() {}

  it.effect("says its options through the provider's own services, streamed as well as not", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const { model } = yield* provider(() =>
        Effect.map(Effect.serviceOption(Temperature), (temperature) => {
          seen.push(Option.getOrUndefined(temperature))
          return [text("Ok."), finish()]
        })
      )
      const adapted = EffectAi.fromLanguageModel(model, {
        config: ({ temperature }) => Context.make(Temperature, temperature)
      })
      yield* bothWays(adapted, { options: { temperature: 0.5 } })
      expect(seen).toEqual([0.5, 0.5])
    })
  )

  it.effect("forces or forbids calls as it is told", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(text("Ok."), finish())
      const adapted = EffectAi.fromLanguageModel(model)
      for (const toolChoice of ["none", "required", { tool: "weather" }] as const) {
        yield* ChatModel.run(adapted.call(ChatModel.request({ tools, toolChoice })))
      }
      expect(asked.map((options) => options.toolChoice)).toEqual(["none", "required", { tool: "weather" }])
    })
  )

  it.effect("offers tools of unpleasant names", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(called("__proto__", { a: 1 }), finish("tool-calls"))
      const odd = Tools.make(...["__proto__", "constructor"].map((name) => Tool.update(weather, { name })))
      const { run } = yield* bothWays(EffectAi.fromLanguageModel(model), { tools: odd })
      expect(asked[0]?.tools.map((tool) => tool.name)).toEqual(["__proto__", "constructor"])
      expect(run.content).toEqual([Message.toolCall("call-1", "__proto__", { a: 1 })])
    })
  )

  const Answer = Schema.Struct({ celsius: Schema.Number })
  const agent = Agent.make({ name: "helper", output: Answer })

  it.effect("for structured output is made with the schema", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* saying(text('{"celsius":4}'), finish())
      const adapted = layerOf(EffectAi.fromLanguageModel(model))
      const result = yield* Agent.run(agent, "?").pipe(Effect.provide(adapted))
      expect(result.output).toEqual({ celsius: 4 })
      expect(result.usage).toEqual({ inputTokens: 3, outputTokens: 5 })
      const last = yield* Stream.runLast(Agent.stream(agent, "?")).pipe(Effect.provide(adapted))
      expect(Option.getOrThrow(last)).toMatchObject({ _tag: "Completed", result: { output: { celsius: 4 } } })
      const format = asked[1]!.responseFormat
      expect(format.type === "json" && AiTool.getJsonSchemaFromSchemaAst(format.schema.ast)).toMatchObject({
        properties: { celsius: { type: "number" } }
      })
    })
  )

  it.effect("for structured output that is answered in words fails with the answer, as elsewhere", () =>
    Effect.gen(function* () {
      const { model } = yield* saying(text("Four."), finish())
      const error = yield* Effect.flip(
        Agent.run(agent, "?").pipe(Effect.provide(layerOf(EffectAi.fromLanguageModel(model))))
      )
      expect(error).toMatchObject({ _tag: "InvalidOutput", text: "Four." })
    })
  )

  it.effect("for structured output that may call tools says the schema in the instructions", () =>
    Effect.gen(function* () {
      const { asked, model } = yield* provider((turn) =>
        Effect.succeed(
          turn === 0 ? [called("weather", { city: "Oslo" }), finish("tool-calls")] : [text('{"celsius":4}'), finish()]
        )
      )
      const withTools = Agent.make({ name: "helper", output: Answer, tools })
      const result = yield* Agent.run(withTools, "?").pipe(Effect.provide(layerOf(EffectAi.fromLanguageModel(model))))
      expect(result.output).toEqual({ celsius: 4 })
      expect(asked.map((options) => options.responseFormat.type)).toEqual(["text", "text"])
      expect(asked[0]?.prompt.content[0]?.content).toContain('"celsius"')
    })
  )
})

describe("an error", () => {
  const request = { method: "POST", url: "http://x/", urlParams: [], hash: Option.none(), headers: {} } as const
  const http = (status: number, body = "", headers: Record<string, string> = {}) =>
    new AiError.HttpResponseError({
      module: "M",
      method: "m",
      request,
      response: { status, headers },
      body,
      reason: "StatusCode"
    })
  const cases: ReadonlyArray<readonly [AiError.AiError, Errors.ModelErrorReason]> = [
    [http(429), "RateLimited"],
    [http(500), "Overloaded"],
    [http(529), "Overloaded"],
    [http(504), "Timeout"],
    [http(401), "Authentication"],
    [http(403), "Authentication"],
    [http(404), "BadRequest"],
    [http(400, "maximum context length is 10"), "ContextLength"],
    [http(413), "ContextLength"],
    [http(400, "blocked by content_filter"), "ContentFilter"],
    [new AiError.HttpRequestError({ module: "M", method: "m", reason: "Transport", request }), "Network"],
    [new AiError.HttpRequestError({ module: "M", method: "m", reason: "InvalidUrl", request }), "BadRequest"],
    [new AiError.MalformedInput({ module: "M", method: "m" }), "BadRequest"],
    [new AiError.MalformedOutput({ module: "M", method: "m" }), "InvalidResponse"],
    [new AiError.UnknownError({ module: "M", method: "m" }), "Unknown"]
  ]
  for (const [error, reason] of cases) {
    it.effect(`${error._tag} ${error._tag === "HttpResponseError" ? error.response.status : ""} is ${reason}`, () =>
      Effect.gen(function* () {
        const { model } = yield* provider(() => Effect.fail(error))
        const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
        const run = yield* Effect.flip(ChatModel.run(call))
        const streamed = yield* Effect.flip(Call.collect(call, ChatModel.fold))
        expect([run.reason, streamed.reason]).toEqual([reason, reason])
        expect(run.cause).toMatchObject({ _tag: error._tag })
        expect(run.message).not.toBe("")
      })
    )
  }

  it.effect("says how long to wait: seconds, milliseconds or a date", () =>
    Effect.gen(function* () {
      const waits: Array<number | undefined> = []
      const headers = [
        { "retry-after": "2" },
        { "retry-after-ms": "150", "retry-after": "1" },
        { "retry-after": "Thu, 01 Jan 1970 00:00:05 GMT" },
        { "retry-after": "soon" },
        {}
      ]
      for (const header of headers) {
        const { model } = yield* provider(() => Effect.fail(http(429, "", header)))
        const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
        waits.push((yield* Effect.flip(ChatModel.run(call))).retryAfter)
      }
      expect(waits).toEqual([2000, 150, 5000, undefined, undefined])
    })
  )

  const names = [
    [{ type: "overloaded_error", message: "Overloaded" }, "Overloaded"],
    [{ type: "rate_limit_error", message: "slow" }, "RateLimited"],
    [{ type: "authentication_error", message: "no" }, "Authentication"],
    [{ type: "invalid_request_error", message: "prompt is too long" }, "ContextLength"],
    [{ type: "invalid_request_error", message: "no" }, "BadRequest"],
    [new Error("odd"), "Unknown"]
  ] as const
  for (const [error, reason] of names) {
    it.effect(`in the middle of a stream is ${reason}: ${String(error instanceof Error ? error : error.type)}`, () =>
      Effect.gen(function* () {
        const { model } = yield* provider(
          () => Effect.succeed([]),
          () => [[...streamed(text("Half"))], [{ type: "error", error }]]
        )
        const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
        const failed = yield* Effect.flip(Call.collect(call, ChatModel.fold))
        expect(failed.reason).toBe(reason)
      })
    )
  }

  it.effect("of a response that makes no sense is InvalidResponse, not an answer", () =>
    Effect.gen(function* () {
      const { model } = yield* provider(() => Effect.succeed([{ type: "nonsense" } as unknown as Response.PartEncoded]))
      const call = EffectAi.fromLanguageModel(model).call(ChatModel.request({}))
      const error = yield* Effect.flip(ChatModel.run(call))
      expect(error.reason).toBe("InvalidResponse")
      const exit = yield* Effect.exit(Call.collect(call, ChatModel.fold))
      expect(Exit.isFailure(exit)).toBe(true)
    })
  )
})
