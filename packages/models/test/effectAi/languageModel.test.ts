import { describe, expect, it } from "@effect/vitest"
import * as AiError from "@effect/ai/AiError"
import * as Chat from "@effect/ai/Chat"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as AiTool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Call, ChatModel, Errors, Instructions, Message } from "@heddle/core"
import * as EffectAi from "@heddle/models/effectAi"
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { Chunk, Effect, FastCheck as fc, Layer, Schema, Stream } from "effect"
import { bothWays, theirMetadata } from "./support.ts"

const Weather = Toolkit.make(
  AiTool.make("weather", {
    description: "The weather in a city.",
    parameters: { city: Schema.String },
    success: Schema.Struct({ celsius: Schema.NumberFromString })
  })
)
const WeatherLive = Weather.toLayer({ weather: () => Effect.succeed({ celsius: 4 }) })

/** A program of @effect/ai on a scripted model of ours. */
const on = <A, E, R>(script: ScriptedModel.Script, program: Effect.Effect<A, E, LanguageModel.LanguageModel | R>) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(script, { cut: { every: 2 } })
    const live = EffectAi.layerLanguageModel().pipe(Layer.provide(model.layer))
    const result = yield* Effect.either(Effect.provide(program, live))
    return { result, requests: yield* model.requests }
  })

const replying = (reply: ChatModel.ModelReply): ChatModel.Service => ({ call: () => Call.succeed(reply) })

describe("a model of ours under @effect/ai", () => {
  it.effect("answers with text, usage and reason", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* on(
        [{ text: "Hello!", usage: { inputTokens: 2, outputTokens: 1 } }],
        LanguageModel.generateText({
          prompt: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "Hi" }
          ]
        })
      )
      expect(result).toMatchObject({
        right: { text: "Hello!", finishReason: "stop", usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 } }
      })
      expect(Instructions.render(requests[0]!.instructions)).toBe("Be brief.")
      expect(requests[0]?.history).toEqual([Message.user("Hi")])
      expect(requests[0]?.tools.names).toEqual([])
    })
  )

  it.effect("has its tool calls run there", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* on(
        [{ calls: [{ tool: "weather", arguments: { city: "Oslo" } }] }],
        LanguageModel.generateText({ prompt: "Oslo?", toolkit: Weather }).pipe(Effect.provide(WeatherLive))
      )
      expect(result).toMatchObject({ right: { toolResults: [{ name: "weather", encodedResult: { celsius: "4" } }] } })
      const [tool] = requests[0]!.tools
      expect(tool).toMatchObject({
        name: "weather",
        description: "The weather in a city.",
        jsonSchema: { properties: { city: { type: "string" } }, required: ["city"] }
      })
    })
  )

  it.effect("streams, each text with a beginning and an end", () =>
    Effect.gen(function* () {
      const { result } = yield* on(
        [{ reasoning: "Hm.", text: "abcd", calls: [{ tool: "weather", arguments: { city: "Oslo" } }] }],
        Stream.runCollect(LanguageModel.streamText({ prompt: "Oslo?", toolkit: Weather })).pipe(
          Effect.map((parts) => Chunk.toReadonlyArray(parts).map((part) => part.type)),
          Effect.provide(WeatherLive)
        )
      )
      expect(result).toMatchObject({
        right: expect.arrayContaining([
          "reasoning-start",
          "reasoning-delta",
          "reasoning-end",
          "text-start",
          "text-delta",
          "text-delta",
          "text-end",
          "tool-call",
          "finish",
          "tool-result"
        ])
      })
    })
  )

  it.effect("gives structured output", () =>
    Effect.gen(function* () {
      const schema = Schema.Struct({ celsius: Schema.Number })
      const { requests, result } = yield* on(
        ['{"celsius":4}'],
        LanguageModel.generateObject({ prompt: "Oslo?", schema })
      )
      expect(result).toMatchObject({ right: { value: { celsius: 4 } } })
      expect(requests[0]?.output).toMatchObject({ properties: { celsius: { type: "number" } } })
    })
  )

  it.effect("is told the whole of a chat, results with their calls", () =>
    Effect.gen(function* () {
      const { requests, result } = yield* on(
        [{ text: "Look:", calls: [{ tool: "weather", arguments: { city: "Oslo" } }] }, "Four."],
        Effect.gen(function* () {
          const chat = yield* Chat.fromPrompt("Oslo?")
          yield* chat.generateText({ prompt: [], toolkit: Weather })
          return yield* chat.generateText({ prompt: "So?", toolkit: Weather })
        }).pipe(Effect.provide(WeatherLive))
      )
      expect(result).toMatchObject({ right: { text: "Four." } })
      expect(requests[1]?.history).toEqual([
        Message.user("Oslo?"),
        Message.assistant([
          { _tag: "Text", text: "Look:" },
          Message.toolCall("call-1", "weather", { city: "Oslo" }, Message.succeeded({ celsius: "4" }))
        ]),
        Message.user("So?")
      ])
    })
  )

  it.effect("is told of files, failures, thoughts, and of calls that were never answered", () =>
    Effect.gen(function* () {
      const call = (id: string) => ({ type: "tool-call", id, name: "weather", params: {} }) as const
      const result = (id: string, result: unknown) =>
        ({ type: "tool-result", id, name: "weather", isFailure: true, result, providerExecuted: false }) as const
      const { requests } = yield* on(
        ["Ok."],
        LanguageModel.generateText({
          prompt: [
            {
              role: "user",
              content: [
                { type: "file", mediaType: "image/png", data: new Uint8Array([0, 0, 0]), fileName: "a.png" },
                { type: "file", mediaType: "image/png", data: new URL("https://example.com/b.png") }
              ],
              options: { openai: { detail: "low" } }
            },
            {
              role: "assistant",
              content: [
                { type: "reasoning", text: "Hm.", options: { anthropic: { type: "thinking", signature: "s" } } },
                call("1"),
                call("2"),
                call("3"),
                { ...result("3", "no"), isFailure: false }
              ]
            },
            { role: "tool", content: [result("1", "No."), result("9", "whose?")] },
            { role: "assistant", content: [call("1")] },
            { role: "tool", content: [result("1", { code: 1 })] }
          ]
        })
      )
      expect(requests[0]?.history).toEqual([
        {
          role: "user",
          content: [
            { _tag: "File", mediaType: "image/png", data: "AAAA", name: "a.png" },
            { _tag: "File", mediaType: "image/png", data: "https://example.com/b.png" }
          ],
          metadata: { openai: { detail: "low" } }
        },
        Message.assistant([
          { _tag: "Reasoning", text: "Hm.", metadata: { anthropic: { type: "thinking", signature: "s" } } },
          Message.toolCall("1", "weather", {}, Message.failed("No.")),
          Message.toolCall("2", "weather", {}, Message.cancelled),
          Message.toolCall("3", "weather", {}, Message.succeeded("no"))
        ]),
        Message.assistant([Message.toolCall("1", "weather", {}, Message.failed('Tool "weather" failed.', { code: 1 }))])
      ])
    })
  )

  it.effect("is offered only the tools that it may choose from", () =>
    Effect.gen(function* () {
      const Two = Toolkit.merge(Weather, Toolkit.make(AiTool.make("time")))
      const live = Two.toLayer({ weather: () => Effect.succeed({ celsius: 4 }), time: () => Effect.void })
      const { requests } = yield* on(
        ["Ok."],
        LanguageModel.generateText({
          prompt: "?",
          toolkit: Two,
          toolChoice: { mode: "required", oneOf: ["time"] }
        }).pipe(Effect.provide(live))
      )
      expect(requests[0]?.tools.names).toEqual(["time"])
      expect(requests[0]?.toolChoice).toBe("required")
      expect([...requests[0]!.tools][0]?.jsonSchema).toMatchObject({
        type: "object",
        properties: {},
        additionalProperties: false
      })
    })
  )

  it.effect("fails with an error that holds its own, and gives it back on the way through", () =>
    Effect.gen(function* () {
      const failure = new Errors.ModelError({ reason: "RateLimited", message: "slow down", retryAfter: 9 })
      const failing: ChatModel.Service = { call: () => Call.fail(failure) }
      const theirs = yield* EffectAi.toLanguageModel(failing)
      const error = yield* Effect.flip(theirs.generateText({ prompt: "?" }))
      expect(AiError.isAiError(error) && "cause" in error && error.cause).toBe(failure)
      const call = EffectAi.fromLanguageModel(theirs).call(ChatModel.request({}))
      expect(yield* Effect.flip(ChatModel.run(call))).toBe(failure)
      expect(yield* Effect.flip(Call.collect(call, ChatModel.fold))).toBe(failure)
      const reasons = ["BadRequest", "ContextLength", "InvalidResponse", "Timeout"] as const
      for (const reason of reasons) {
        const other = new Errors.ModelError({ reason, message: "no" })
        const model = yield* EffectAi.toLanguageModel({ call: () => Call.fail(other) })
        const back = yield* Effect.flip(ChatModel.run(EffectAi.fromLanguageModel(model).call(ChatModel.request({}))))
        expect(back).toBe(other)
      }
    })
  )

  it.effect("refuses a provider's own tool", () =>
    Effect.gen(function* () {
      const search = AiTool.providerDefined({ id: "x.search", toolkitName: "Search", providerName: "s", args: {} })({})
      const { result } = yield* on(["Ok."], LanguageModel.generateText({ prompt: "?", toolkit: Toolkit.make(search) }))
      expect(result).toMatchObject({ left: { _tag: "MalformedInput" } })
    })
  )

  it.effect("that begins anew in the middle of a stream fails it, and does not say things twice", () =>
    Effect.gen(function* () {
      let tries = 0
      const flaky: ChatModel.Service = {
        call: () =>
          Call.retry(
            Call.make<ChatModel.ModelPart, Errors.ModelError>((emit) =>
              Effect.suspend(() =>
                tries++ === 0
                  ? Effect.zipRight(
                      emit({ _tag: "Text", text: "Hal" }),
                      new Errors.ModelError({ reason: "Network", message: "gone" })
                    )
                  : emit({ _tag: "Text", text: "Hello" })
              )
            ),
            { times: 1 }
          )
      }
      const theirs = yield* EffectAi.toLanguageModel(flaky)
      const error = yield* Effect.flip(Stream.runDrain(theirs.streamText({ prompt: "?" })))
      expect(error).toMatchObject({ _tag: "UnknownError" })
      tries = 0
      expect((yield* theirs.generateText({ prompt: "?" })).text).toBe("Hello")
    })
  )

  const content = fc.oneof(
    fc
      .tuple(Arbitraries.text, fc.option(theirMetadata, { nil: undefined }))
      .map(([text, metadata]): ChatModel.ModelReply["content"][number] => ({
        _tag: "Text",
        text,
        ...(metadata && { metadata })
      })),
    fc
      .tuple(Arbitraries.text, fc.option(theirMetadata, { nil: undefined }), fc.option(fc.nat(), { nil: undefined }))
      .map(([text, theirs, loose]): ChatModel.ModelReply["content"][number] => ({
        _tag: "Reasoning",
        text,
        ...((theirs ?? loose) !== undefined && { metadata: { ...theirs, ...(loose !== undefined && { loose }) } })
      })),
    fc
      .tuple(fc.uuid(), Arbitraries.json, fc.option(theirMetadata, { nil: undefined }))
      .map(([id, args, metadata]): ChatModel.ModelReply["content"][number] => ({
        ...Message.toolCall(id, "weather", args),
        ...(metadata && { metadata })
      }))
  )
  it.effect.prop(
    "through both adapters gives every reply as it was",
    [fc.array(content, { maxLength: 6 })],
    ([content]) =>
      Effect.gen(function* () {
        const reply = { ...ChatModel.replyValue(content, { inputTokens: 1, outputTokens: 2 }), metadata: { x: 1 } }
        const direct = yield* ChatModel.run(replying(reply).call(ChatModel.request({})))
        const theirs = yield* EffectAi.toLanguageModel(replying(reply))
        const tools = yield* Weather.pipe(Effect.provide(WeatherLive), Effect.map(EffectAi.fromToolkit))
        const { run, streamed } = yield* bothWays(EffectAi.fromLanguageModel(theirs), { tools })
        expect(run).toEqual(direct)
        expect(streamed).toEqual(direct)
      })
  )

  it.effect.prop("through both adapters is told every history as it was", [Arbitraries.history], ([history]) =>
    Effect.gen(function* () {
      const seen: Array<ChatModel.ModelRequest> = []
      const theirs = yield* EffectAi.toLanguageModel({
        call: (request) => {
          seen.push(request)
          return ChatModel.reply("Ok.")
        }
      })
      const instructions = Instructions.make("Be brief.")
      yield* ChatModel.run(EffectAi.fromLanguageModel(theirs).call(ChatModel.request({ history, instructions })))
      // Empty texts of the model, and its messages without anything, are left out; outcomes are told in words,
      // and arguments that are no object stand in one.
      const told = history.flatMap((message): ReadonlyArray<Message.Message> =>
        message.role === "user"
          ? [message]
          : [
              {
                ...message,
                content: message.content
                  .filter((content) => content._tag !== "Text" || content.text !== "" || content.metadata !== undefined)
                  .map((content) => {
                    if (content._tag !== "ToolCall") return content
                    const { arguments: args, outcome } = content
                    const isObject = typeof args === "object" && args !== null && !Array.isArray(args)
                    return {
                      ...content,
                      arguments: isObject ? args : { invalid: args ?? null },
                      outcome: outcome._tag === "Succeeded" ? outcome : Message.failed(Message.renderOutcome(outcome))
                    }
                  })
              }
            ].filter((message) => message.content.length > 0)
      )
      expect(seen[0]?.history).toEqual(told)
      expect(Instructions.render(seen[0]!.instructions)).toBe("Be brief.")
    })
  )
})
