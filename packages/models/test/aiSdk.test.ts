import { inspect } from "node:util"
import type { EmbeddingModelV3, LanguageModelV3StreamPart, LanguageModelV3ToolCall } from "@ai-sdk/provider"
import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, EmbeddingModel, Errors, Instructions, Message, Tool, Tools } from "@heddle/core"
import { ModelRegistry } from "@heddle/models"
import * as aiSdk from "@heddle/models/aiSdk"
import { ConfigProvider, Deferred, Effect, Fiber, Redacted, Schema, Stream } from "effect"
import { modelError } from "../src/internal/aiSdk/errors.ts"
import { CommonOptions, define, loaded } from "../src/internal/aiSdk/providers.ts"
import { secretsOf } from "../src/internal/redact.ts"
import { end, fake } from "./support/fake.ts"

const ask = (model: ChatModel.Service, request: Partial<ChatModel.ModelRequest>) =>
  ChatModel.run(model.call(ChatModel.request(request)))

describe("what a provider is asked", () => {
  const asked = (request: Partial<ChatModel.ModelRequest>, options?: aiSdk.Options) =>
    Effect.gen(function* () {
      const model = fake([])
      yield* ask(aiSdk.fromLanguageModel(model, options), request)
      const { abortSignal: _abortSignal, ...rest } = model.asked[0]!
      return rest
    })

  it.effect("nothing but the messages, where nothing else is said", () =>
    Effect.gen(function* () {
      expect(yield* asked({ history: [Message.user("hello")] })).toEqual({
        prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }]
      })
    })
  )

  it.effect("instructions, options, tools, and the schema of the answer", () =>
    Effect.gen(function* () {
      const tool = Tool.make({
        name: "add",
        description: "Adds.",
        parameters: Schema.Struct({ a: Schema.Number }),
        execute: ({ a }) => a
      })
      const request = {
        instructions: Instructions.append(Instructions.make("Be short."), "Be kind.", "tone"),
        tools: Tools.make(tool),
        toolChoice: { tool: "add" },
        output: { type: "object" },
        options: { temperature: 0, topP: 0.5, maxOutputTokens: 9, stopSequences: ["."], seed: 0, model: "other" }
      } as const
      expect(yield* asked(request)).toEqual({
        prompt: [{ role: "system", content: Instructions.render(request.instructions) }],
        tools: [{ type: "function", name: "add", description: "Adds.", inputSchema: tool.jsonSchema }],
        toolChoice: { type: "tool", toolName: "add" },
        responseFormat: { type: "json", schema: { type: "object" } },
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 9,
        stopSequences: ["."],
        seed: 0
      })
    })
  )

  it.effect("files as URL or base64, and every outcome of a tool call", () =>
    Effect.gen(function* () {
      const file = (data: string) => ({ _tag: "File", mediaType: "image/png", data }) as const
      const outcomes = [
        Message.succeeded("18 degrees"),
        Message.succeeded({ celsius: 18 }),
        Message.succeeded(undefined),
        Message.failed("No such city."),
        Message.failed("No such city.", { city: "Pariss" }),
        Message.denied("not today"),
        Message.cancelled,
        Message.pending
      ]
      const { prompt } = yield* asked({
        history: [
          Message.user([
            file("https://example.org/a.png"),
            file("data:image/png;base64,AAAA"),
            { ...file("BBBB"), name: "b.png" }
          ]),
          Message.assistant(outcomes.map((outcome, i) => Message.toolCall(String(i), "weather", { i }, outcome)))
        ]
      })
      expect(prompt[0]?.content).toEqual([
        { type: "file", mediaType: "image/png", data: new URL("https://example.org/a.png") },
        { type: "file", mediaType: "image/png", data: "AAAA" },
        { type: "file", mediaType: "image/png", data: "BBBB", filename: "b.png" }
      ])
      const results = prompt[2]?.role === "tool" ? prompt[2].content : []
      expect(results.map((part) => (part.type === "tool-result" ? part.output : undefined))).toEqual([
        { type: "text", value: "18 degrees" },
        { type: "json", value: { celsius: 18 } },
        { type: "text", value: "" },
        { type: "error-text", value: "No such city." },
        { type: "error-json", value: { reason: "No such city.", error: { city: "Pariss" } } },
        { type: "execution-denied", reason: "The call was not allowed: not today" },
        { type: "error-text", value: "The call was cancelled." },
        { type: "error-text", value: "The call was cancelled." }
      ])
    })
  )

  it.effect("a call that the provider ran stands with its result in what the model said", () =>
    Effect.gen(function* () {
      const call = {
        type: "tool-call",
        toolCallId: "1",
        toolName: "web_search",
        input: "{}",
        providerExecuted: true
      } as const
      const result = { type: "tool-result", toolCallId: "1", toolName: "web_search", result: { code: "x" } } as const
      const model = fake([call, { ...result, isError: true, providerMetadata: { fake: { page: 2 } } }])
      const service = aiSdk.fromLanguageModel(model)
      const { content } = yield* ask(service, {})
      expect(content).toMatchObject([{ outcome: { _tag: "Failed", error: { code: "x" } } }])
      yield* ask(service, { history: [Message.assistant(content)] })
      expect(model.asked[1]?.prompt).toEqual([
        {
          role: "assistant",
          content: [
            { type: "tool-call", toolCallId: "1", toolName: "web_search", input: {}, providerExecuted: true },
            {
              type: "tool-result",
              toolCallId: "1",
              toolName: "web_search",
              output: { type: "error-json", value: { code: "x" } },
              providerOptions: { fake: { page: 2 } }
            }
          ]
        }
      ])
    })
  )

  it.effect("defaults stand behind what a request says, and a provider's options are merged", () =>
    Effect.gen(function* () {
      const search = { type: "provider", id: "fake.search", name: "search", args: {} } as const
      const found = yield* asked(
        { options: { temperature: 1, provider: { fake: { b: 2 } } } },
        {
          defaults: { temperature: 0, seed: 4, provider: { fake: { a: 1, b: 1 }, other: { c: 3 } } },
          headers: { "x-team": "red" },
          providerTools: [search]
        }
      )
      expect(found).toEqual({
        prompt: [],
        temperature: 1,
        seed: 4,
        providerOptions: { fake: { a: 1, b: 2 }, other: { c: 3 } },
        headers: { "x-team": "red" },
        tools: [search],
        toolChoice: { type: "auto" }
      })
    })
  )

  it.effect("options that stand under no provider are told, since none would read them", () =>
    Effect.gen(function* () {
      const model = aiSdk.fromLanguageModel(fake([]))
      const error = yield* Effect.flip(ask(model, { options: { provider: { reasoningEffort: "low" } } }))
      expect(error.reason).toBe("BadRequest")
      expect(error.message).toContain("{ openai: { reasoningEffort: … } }")
    })
  )
})

describe("what a provider answers", () => {
  it.effect("usage in detail, the names of the reply, warnings, sources and files are with the reply", () =>
    Effect.gen(function* () {
      const model = fake(
        [
          { type: "source", sourceType: "url", id: "1", url: "https://example.org", title: "Example" },
          { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }
        ],
        [],
        {
          response: { id: "r1", modelId: "one-2025", timestamp: new Date(0), headers: { a: "b" } },
          warnings: [{ type: "unsupported", feature: "seed" }]
        }
      )
      const reply = yield* ask(aiSdk.fromLanguageModel(model), {})
      expect(reply).toEqual({
        content: [],
        finishReason: "stop",
        usage: { inputTokens: 7, outputTokens: 5 },
        metadata: {
          fake: { id: 1 },
          aiSdk: {
            finishReason: "end_turn",
            usage: { inputTokens: { total: 7, noCache: 3, cacheRead: 4 }, outputTokens: { total: 5 } },
            response: { id: "r1", modelId: "one-2025", timestamp: "1970-01-01T00:00:00.000Z" },
            warnings: [{ type: "unsupported", feature: "seed" }],
            sources: [{ sourceType: "url", id: "1", url: "https://example.org", title: "Example" }],
            files: [{ mediaType: "image/png", data: "AQID" }]
          }
        }
      })
    })
  )
})

describe("a stream", () => {
  const delta = (delta: string): LanguageModelV3StreamPart => ({ type: "text-delta", id: "1", delta })
  const endless = {
    *[Symbol.iterator]() {
      while (true) yield delta("more ")
    }
  }
  const parts = (model: ChatModel.Service) => Call.stream(model.call(ChatModel.request({})), ChatModel.fold)

  it.scopedLive("is read no faster than its reader takes it", () =>
    Effect.gen(function* () {
      const model = fake([], [...Array.from({ length: 100 }, (_, i) => delta(`${i} `)), { type: "finish", ...end }])
      const gate = yield* Deferred.make<void>()
      let seen = 0
      const run = Call.runEach(
        aiSdk.fromLanguageModel(model).call(ChatModel.request({})),
        ChatModel.fold,
        "live",
        () => {
          return ++seen === 10 ? Deferred.await(gate) : undefined
        }
      )
      const fiber = yield* Effect.fork(run)
      yield* Effect.sleep("20 millis")
      expect([seen, model.pulled]).toEqual([10, 10])
      yield* Deferred.succeed(gate, undefined)
      expect((yield* Fiber.join(fiber)).finishReason).toBe("stop")
      expect(seen).toBe(101)
    })
  )

  it.live("that is left early is cancelled, and its signal aborted, however fast it comes", () =>
    Effect.gen(function* () {
      const model = fake([], endless)
      yield* Stream.runDrain(Stream.take(parts(aiSdk.fromLanguageModel(model)), 3000))
      expect([model.cancelled, model.asked[0]?.abortSignal?.aborted]).toEqual([true, true])
      const other = fake([], endless)
      const fiber = yield* Effect.fork(
        ChatModel.run(Call.tap(aiSdk.fromLanguageModel(other).call(ChatModel.request({})), () => Effect.void))
      )
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(fiber)
      expect([other.cancelled, other.asked[0]?.abortSignal?.aborted]).toEqual([true, true])
    })
  )

  it.live("whose reader breaks is cancelled, and the fault is the reader's", () =>
    Effect.gen(function* () {
      const model = fake([], endless)
      const broken = Call.map(aiSdk.fromLanguageModel(model).call(ChatModel.request({})), (): ChatModel.ModelPart => {
        throw new Error("a bug")
      })
      const exit = yield* Effect.exit(ChatModel.run(broken))
      expect(exit).toMatchObject({ cause: { _tag: "Die", defect: new Error("a bug") } })
      expect(model.cancelled).toBe(true)
    })
  )

  it.live("that begins after it was left is cancelled, too", () =>
    Effect.gen(function* () {
      const model = fake([], endless)
      let begin: () => void = () => undefined
      const slow: typeof model = {
        ...model,
        doStream: async (options) => {
          await new Promise<void>((resolve) => (begin = resolve))
          return model.doStream(options)
        }
      }
      const fiber = yield* Effect.fork(Stream.runDrain(parts(aiSdk.fromLanguageModel(slow))))
      yield* Effect.sleep("10 millis")
      yield* Fiber.interrupt(fiber)
      begin()
      yield* Effect.sleep("10 millis")
      expect(model.cancelled).toBe(true)
    })
  )
})

describe("a call without arguments", () => {
  const call = { type: "tool-call", toolCallId: "1", toolName: "now", input: "" } as const
  const saying = (unified: "tool-calls" | "length", ...contents: ReadonlyArray<LanguageModelV3ToolCall>) =>
    Effect.gen(function* () {
      const ending = { ...end, finishReason: { unified, raw: "x" } }
      const model = aiSdk.fromLanguageModel(fake(contents, [...contents, { type: "finish", ...ending }], ending))
      const whole = yield* ask(model, {})
      const { value } = yield* Call.collect(model.call(ChatModel.request({})), ChatModel.fold)
      expect(value).toEqual(whole)
      return whole.content.map((content) => content._tag === "ToolCall" && content.arguments)
    })

  it.effect("has none", () =>
    Effect.gen(function* () {
      expect(yield* saying("tool-calls", call, { ...call, toolCallId: "2" })).toEqual([{}, {}])
    })
  )

  it.effect("that was cut off has not said which", () =>
    Effect.gen(function* () {
      expect(yield* saying("length", call, { ...call, toolCallId: "2" })).toEqual([{}, ""])
    })
  )
})

describe("errors", () => {
  const sdk = (name: string, fields: object = {}) =>
    Object.assign(
      new Error("m"),
      { [Symbol.for("vercel.ai.error")]: true, [Symbol.for(`vercel.ai.error.AI_${name}`)]: true },
      fields
    )
  const api = (statusCode: number | undefined, fields: object = {}) => sdk("APICallError", { statusCode, ...fields })
  const openai = (code: string, message = "m") => ({
    data: { error: { code, message, type: "invalid_request_error" } }
  })

  it.each<readonly [Errors.ModelErrorReason, unknown]>([
    ["RateLimited", api(429)],
    ["Authentication", api(429, openai("insufficient_quota"))],
    ["Overloaded", api(500)],
    ["Overloaded", api(502)],
    ["Overloaded", api(503)],
    ["Overloaded", api(529)],
    ["Timeout", api(408)],
    ["Timeout", api(504)],
    ["Authentication", api(401)],
    ["Authentication", api(402)],
    ["Authentication", api(403)],
    ["Authentication", sdk("LoadAPIKeyError")],
    ["BadRequest", api(400)],
    ["BadRequest", api(404)],
    ["BadRequest", api(422)],
    ["BadRequest", sdk("UnsupportedFunctionalityError")],
    ["BadRequest", sdk("NoSuchModelError")],
    ["ContextLength", api(400, openai("context_length_exceeded"))],
    ["ContextLength", api(413)],
    ["ContextLength", api(400, { message: "prompt is too long: 210000 tokens > 200000 maximum" })],
    [
      "ContextLength",
      api(400, { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." })
    ],
    ["ContextLength", api(400, { message: "This model's maximum context length is 8192 tokens." })],
    ["ContextLength", api(400, { message: "the request exceeds the available context size, try increasing it" })],
    ["ContentFilter", api(400, openai("content_filter"))],
    [
      "ContentFilter",
      api(400, { responseBody: '{"error":{"code":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}' })
    ],
    ["InvalidResponse", sdk("TypeValidationError", { value: { a: 1 } })],
    ["InvalidResponse", sdk("JSONParseError")],
    ["InvalidResponse", sdk("InvalidResponseDataError")],
    ["Network", sdk("InvalidResponseDataError", { message: "Response stream ended without a finish reason." })],
    ["InvalidResponse", sdk("EmptyResponseBodyError")],
    ["InvalidResponse", api(200, { cause: sdk("JSONParseError") })],
    // What a model says is no refusal.
    ["InvalidResponse", api(200, { responseBody: '"content policy"', cause: sdk("JSONParseError") })],
    ["BadRequest", api(400, { message: "The file that the model was given is not found" })],
    ["Authentication", api(404, { message: "No endpoints found for some/model." })],
    ["BadRequest", api(404, { message: "No endpoints found that support tool use." })],
    ["Authentication", api(400, { message: "Model Not Exist" })],
    ["Authentication", api(400, { message: "Invalid model: mistral-none" })],
    ["Network", api(undefined, { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) })],
    [
      "Network",
      api(200, {
        cause: new TypeError("terminated", { cause: Object.assign(new Error(), { code: "UND_ERR_SOCKET" }) })
      })
    ],
    ["Network", new TypeError("fetch failed")],
    ["Timeout", api(undefined, { cause: Object.assign(new Error("no"), { code: "UND_ERR_HEADERS_TIMEOUT" }) })],
    ["Timeout", new DOMException("no", "TimeoutError")],
    ["Overloaded", { type: "overloaded_error", message: "Overloaded" }],
    ["RateLimited", { code: "rate_limit_exceeded", message: "m" }],
    ["RateLimited", { code: 429, status: "RESOURCE_EXHAUSTED", message: "m" }],
    ["RateLimited", { code: 429, message: "m" }],
    ["Overloaded", { code: 502, message: "m" }],
    ["Overloaded", { code: "503", message: "m" }],
    ["Unknown", { code: 200, message: "m" }],
    ["BadRequest", api(404, { data: { error: { code: 502, message: "m" } } })],
    ["RateLimited", api(200, { cause: sdk("TypeValidationError", { value: { error: { code: 429, message: "m" } } }) })],
    ["Overloaded", sdk("TypeValidationError", { value: { object: "error", message: "m", code: 500 } })],
    ["Unknown", sdk("TypeValidationError", { value: { error: "the runner has terminated" } })],
    ["InvalidResponse", sdk("TypeValidationError", { value: { error: null, code: 500 } })],
    ["BadRequest", { type: "invalid_request_error", message: "m" }],
    ["ContextLength", { type: "invalid_request_error", message: "prompt is too long" }],
    ["Unknown", new Error("no idea")],
    ["Unknown", "no idea"],
    ["Unknown", undefined]
  ])("%s: %j", (reason, error) => {
    expect(modelError(error).reason).toBe(reason)
  })

  it("a date says how long to wait, and nonsense nothing", () => {
    const after = (header: string) => modelError(api(429, { responseHeaders: { "retry-after": header } })).retryAfter
    expect(after(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000)
    expect(after("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(0)
    expect([after("-1"), after("soon"), after(""), after("0"), after("1.5")]).toEqual([
      undefined,
      undefined,
      undefined,
      0,
      1500
    ])
  })

  it("a header says how long to wait before the body does", () => {
    const body = (retryDelay: unknown) =>
      JSON.stringify({ error: { code: 429, message: "m", details: [{ retryDelay }, { retryDelay: "90s" }] } })
    const after = (retryDelay: unknown, responseHeaders = {}) =>
      modelError(api(429, { responseBody: body(retryDelay), responseHeaders })).retryAfter
    expect(after("34.0748s")).toBe(34_075)
    expect(after("0s")).toBe(0)
    expect(after("34s", { "retry-after": "7" })).toBe(7000)
    expect(after({ seconds: 1 })).toBe(90_000)
    expect(after("-1s")).toBe(90_000)
  })

  it("a server's own words are told, also where its provider could not read them", () => {
    const value = (value: unknown) => modelError(api(200, { cause: sdk("TypeValidationError", { value }) })).message
    expect(value({ error: "the runner has terminated" })).toBe("the runner has terminated")
    expect(value({ object: "error", message: "too long" })).toBe("too long")
  })

  it("a refusal that nobody could read says where it came from, and how it begins", () => {
    const url = "http://127.0.0.1:8000/chat/completions?key=of-mine"
    const refused = (message: string, fields: object) =>
      modelError(Object.assign(api(404, { url, ...fields }), { message }), secretsOf(["key of no known form"])).message
    const start = "The provider failed with status 404 at http://127.0.0.1:8000/chat/completions: "
    expect(refused("Not Found", { responseBody: "404 page\n not found" })).toBe(`${start}404 page not found`)
    expect(refused("", { responseBody: '{"detail":[{"msg":"field required"}]}' })).toBe(
      `${start}{"detail":[{"msg":"field required"}]}`
    )
    const long = refused("", { responseBody: `${"x".repeat(190)}key of no known form${"x".repeat(200_000)}` })
    expect(long).toBe(`${start}${"x".repeat(190)}<redacted…`)
    expect(refused("", { responseBody: "no", url: "nowhere" })).toBe("The provider failed with status 404: no")
    expect(refused("", { responseBody: "" })).toBe("The provider failed with status 404.")
    expect(refused("no such page", { responseBody: "{}", data: {} })).toBe("no such page")
  })

  it("what looks like a key is cut out also where none was said", () => {
    expect(modelError(new Error("bad sk-abcdefghijklmnop1234, Bearer abcdefghijklmnop")).message).toBe(
      "bad <redacted>, <redacted>"
    )
    expect(modelError(new Error("x".repeat(9000))).message).toHaveLength(500)
    const own = new Errors.ModelError({ reason: "Timeout", message: "own" })
    expect(modelError(own)).toBe(own)
  })
})

describe("the cause of an error", () => {
  const secret = "key of no known form"
  const api = (fields: object) =>
    Object.assign(new Error("no"), {
      [Symbol.for("vercel.ai.error.AI_APICallError")]: true,
      statusCode: 400,
      ...fields
    })
  const shown = (error: unknown) => inspect(error, { depth: Infinity, showHidden: true })

  it("is the provider's error, without what was asked", () => {
    const inner = api({ requestBodyValues: { messages: ["the conversation"] }, responseBody: "why" })
    const given = api({ requestBodyValues: { messages: ["the conversation"] }, cause: inner, url: "https://x.example" })
    const { cause } = modelError(given)
    expect(shown(cause)).not.toContain("conversation")
    expect(cause).toBeInstanceOf(Error)
    expect(cause).toMatchObject({ message: "no", statusCode: 400, url: "https://x.example" })
    expect((cause as Error).cause).toMatchObject({ responseBody: "why" })
    expect(shown(given)).toContain("conversation")
    const plain = new TypeError("fetch failed")
    expect(modelError(plain).cause).toBe(plain)
  })

  it.each<readonly [string, object]>([
    ["a header", { responseHeaders: { "x-echo": secret } }],
    ["data", { data: { error: { details: [{ was: secret }] } } }],
    ["a cause", { cause: api({ value: secret }) }],
    ["the name of a field", { data: { [secret]: 1 } }]
  ])("is left out if %s says the key", (_where, fields) => {
    expect(modelError(api(fields), secretsOf([secret]))).not.toHaveProperty("cause")
  })

  it("is left out if it says the key without the white space that it was given with", () => {
    const error = modelError(api({ message: `bad ${secret}`, data: secret }), secretsOf([`${secret}\n`]))
    expect(error.message).toBe("bad <redacted>")
    expect(error).not.toHaveProperty("cause")
  })

  it.each<readonly [said: string, secret: string, told: string]>([
    ["no such model", " ", "no such model"],
    ["no such model", "", "no such model"],
    ["no such model", "o", "no such model"],
    ["not one of the models", "one", "not one of the models"],
    ["no such model, nonesuch", "none", "no such model, nonesuch"],
    ["bad key none.", "none", "bad key <redacted>."],
    ["bad key $&.(none)", "$&.(", "bad key <redacted>none)"],
    ["bad key=none&x=1", "none", "bad key=<redacted>&x=1"],
    ["bad xlong-key-1x", "long-key-1", "bad x<redacted>x"],
    ["bad key=a%2Fkey%20of%20mine", "a/key of mine", "bad key=<redacted>"],
    ["bad key=a%2fkey%20of%20mine", "a/key of mine", "bad key=<redacted>"],
    ["bad key=a%2Fkey+of+mine", "a/key of mine", "bad key=<redacted>"],
    ['bad {"key":"a \\"key\\" \\\\ of mine"}', 'a "key" \\ of mine', 'bad {"key":"<redacted>"}'],
    ["bad Basic YSBrZXkgb2YgbWluZQ==", "a key of mine", "bad Basic <redacted>=="],
    ["bad Basic a2V5Pz4-a2V5Pz8_", "key?>>key???", "bad Basic <redacted>"],
    ["bad \ud800 key", "\ud800 key", "bad <redacted>"]
  ])("%j without the secret %j is %j", (said, secret, told) => {
    const error = modelError(api({ message: said }), secretsOf([secret]))
    expect(error.message).toBe(told)
    expect("cause" in error).toBe(told === said)
  })

  it.effect("never has what a program sends in headers", () =>
    Effect.gen(function* () {
      const told = api({ message: "bad gw-1 and a-token at openai", data: "a-token" })
      const headers = { "x-gateway-key": "gw-1", authorization: "Bearer a-token", "x-provider": "openai" }
      const failing = Object.assign(fake([]), { doGenerate: () => Promise.reject(told) })
      const error = yield* Effect.flip(ask(aiSdk.fromLanguageModel(failing, { headers }), {}))
      expect(error.message).toBe("bad <redacted> and <redacted> at openai")
      expect(error).not.toHaveProperty("cause")
    })
  )

  it("may go round in circles", () => {
    const data: Record<string, unknown> = {}
    data["self"] = data
    expect(modelError(api({ data }), [secret])).toHaveProperty("cause")
  })
})

describe("a model of another version of the specification", () => {
  it("is refused at once", () => {
    const old = { ...fake([]), specificationVersion: "v2" }
    // As a program without types has it.
    expect(() => aiSdk.fromLanguageModel(old as never)).toThrow(Errors.DefinitionError)
    expect(() => aiSdk.embeddingModel(old as never)).toThrow('"v2"')
  })

  it.effect("of a provider's package is a ModelUnavailable that says what to install", () =>
    Effect.gen(function* () {
      const provider = define({
        name: "old",
        apiKey: { from: "OLD_KEY" },
        options: CommonOptions,
        package: { name: "@ai-sdk/old", version: "3", load: async () => ({}) },
        languageModel: () => ({ ...fake([]), specificationVersion: "v2" }) as never
      })
      const settings = { name: "m", model: "m", apiKey: undefined, baseUrl: undefined, options: {} }
      const error = yield* Effect.flip(Effect.scoped(provider.make(settings)))
      expect(error.reason).toBe("MissingPackage")
      expect(error.message).toContain("npm install @ai-sdk/old@3")
    })
  )
})

describe("embeddings", () => {
  const model = (fields: Partial<EmbeddingModelV3>, asked: Array<unknown> = []): EmbeddingModelV3 => ({
    specificationVersion: "v3",
    provider: "fake",
    modelId: "vectors",
    maxEmbeddingsPerCall: 2,
    supportsParallelCalls: true,
    doEmbed: async ({ abortSignal: _abortSignal, ...options }) => {
      asked.push(options)
      return { embeddings: options.values.map((text) => [text.length, 1]), warnings: [] }
    },
    ...fields
  })
  const embed = (self: EmbeddingModel.Service, texts: ReadonlyArray<string>) => self.embed(texts, "query")

  it.effect("are asked for in batches, of the size that the model takes, in their order", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const service = aiSdk.embeddingModel(model({}, asked), {
        headers: { a: "b" },
        provider: (purpose) => ({ fake: { taskType: purpose } })
      })
      expect(service.name).toBe("fake/vectors")
      expect(yield* embed(service, ["a", "bb", "ccc"])).toEqual([
        Float32Array.of(1, 1),
        Float32Array.of(2, 1),
        Float32Array.of(3, 1)
      ])
      const rest = { headers: { a: "b" }, providerOptions: { fake: { taskType: "query" } } }
      expect(asked).toEqual([
        { values: ["a", "bb"], ...rest },
        { values: ["ccc"], ...rest }
      ])
      expect(yield* embed(service, [])).toEqual([])
    })
  )

  it.effect(
    "of a model that says neither size nor whether it works in parallel are asked for one after the other",
    () =>
      Effect.gen(function* () {
        const service = aiSdk.embeddingModel(
          model({ maxEmbeddingsPerCall: Promise.resolve(undefined), supportsParallelCalls: Promise.resolve(false) }),
          { name: "mine", maxTexts: 1 }
        )
        expect([service.name, (yield* embed(service, ["a", "b"])).length]).toEqual(["mine", 2])
      })
  )

  it.effect.each([[[[1, 2]]], [[[1], [1, 2]]], [[[], []]], [[[1], [Number.NaN]]]])(
    "%j are no vectors",
    ([embeddings]) =>
      Effect.gen(function* () {
        const service = aiSdk.embeddingModel(
          model({ doEmbed: async () => ({ embeddings: embeddings!, warnings: [] }) })
        )
        expect((yield* Effect.flip(embed(service, ["a", "b"]))).reason).toBe("InvalidResponse")
      })
  )

  it.effect("that fail are typed errors", () =>
    Effect.gen(function* () {
      const service = aiSdk.embeddingModel(model({ doEmbed: () => Promise.reject(new TypeError("fetch failed")) }))
      expect((yield* Effect.flip(embed(service, ["a"]))).reason).toBe("Network")
    })
  )
})

describe("providers of a registry", () => {
  const settings = { name: "fast", model: "m", apiKey: Redacted.make("k"), baseUrl: undefined, options: {} }

  it.effect("say which package is missing, and how to install it", () =>
    Effect.gen(function* () {
      const wanted = { name: "@ai-sdk/nobody", version: "3", load: () => import(String("@ai-sdk/nobody")) }
      const error = yield* Effect.flip(loaded(wanted, "fast"))
      expect(error.reason).toBe("MissingPackage")
      expect(error.message).toContain("npm install @ai-sdk/nobody@3")
    })
  )

  it.effect("refuse options that nobody reads, and say what they expect", () =>
    Effect.gen(function* () {
      const refused = (provider: typeof aiSdk.openai, options: Record<string, unknown>) =>
        Effect.map(Effect.flip(Effect.scoped(provider.make({ ...settings, options }))), (error) => [
          error.reason,
          error.message
        ])
      const [reason, message] = yield* refused(aiSdk.openai, { temprature: 1, api: "letters", provider: { a: 1 } })
      expect(reason).toBe("InvalidOptions")
      expect(message).toContain("options.temprature")
      expect(message).toContain("options.api: expected one of responses, chat")
      expect(message).toContain("options.provider")
      expect((yield* refused(aiSdk.openaiCompatible, {}))[1]).toContain("baseUrl: expected the address of the server")
    })
  )

  it.scoped("are made with all their options", () =>
    Effect.gen(function* () {
      const common = { temperature: 0, topP: 1, maxOutputTokens: 1, stopSequences: ["."], seed: 1, headers: { a: "b" } }
      const options = { ...common, provider: { openai: { user: "u" } } }
      yield* aiSdk.openai.make({ ...settings, options: { ...options, api: "chat", organization: "o", project: "p" } })
      yield* aiSdk.ollama.make({
        ...settings,
        apiKey: undefined,
        options: { ...common, queryParams: { v: "1" }, structuredOutputs: false, includeUsage: false }
      })
    })
  )

  it.effect("are found by name, and a missing key is told", () =>
    Effect.gen(function* () {
      const registry = yield* ModelRegistry.ModelRegistry
      const error = yield* Effect.flip(Effect.scoped(registry.get({ model: "clever" })))
      expect(error).toMatchObject({ reason: "MissingSecret" })
      expect(error.message).toContain("ANTHROPIC_API_KEY")
      yield* Effect.scoped(registry.get({ model: "local" }))
    }).pipe(
      Effect.provide(
        ModelRegistry.layer({
          providers: [aiSdk.openai, aiSdk.anthropic, aiSdk.google, aiSdk.openaiCompatible, aiSdk.ollama],
          models: [
            { name: "clever", provider: "anthropic", model: "claude-sonnet-4-5" },
            { name: "local", provider: "ollama", model: "llama3.2" }
          ]
        })
      ),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map()))
    )
  )
})
