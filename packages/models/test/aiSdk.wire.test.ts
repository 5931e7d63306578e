import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, Errors, Message, Tool, Tools } from "@heddle/core"
import { ModelDecorator } from "@heddle/models"
import * as aiSdk from "@heddle/models/aiSdk"
import { Deferred, Effect, Exit, Fiber, Redacted } from "effect"
import { type Exchange, exchanges, text, thought } from "./support/exchanges.ts"
import { key, modelAt, providers } from "./support/models.ts"
import { account, gone, type Refused } from "./support/refusals.ts"
import { serve, sse } from "./support/wire.ts"

const weather = Tool.make({ name: "weather", description: "The weather.", execute: () => "sunny" })
const request = (history: ChatModel.ModelRequest["history"]) =>
  ChatModel.request({ history, tools: Tools.make(weather) })
const hello = request([Message.user("hello")])
const streamed = (model: ChatModel.Service, asked: ChatModel.ModelRequest = hello) =>
  Call.collect(model.call(asked), ChatModel.fold).pipe(Effect.map(({ value }) => value))
const said = ({ content }: ChatModel.ModelReply) =>
  content.map((part) => ("text" in part ? part.text : `${part.name} ${JSON.stringify(part.arguments)}`))

describe.each(Object.entries(exchanges))("%s", (_name, { body, provider, sentBack }: Exchange) => {
  it.scopedLive("what it says, thinks and calls comes, and all of it is sent back with what it wants back", () =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ body }))
      const model = yield* modelAt(wire.url, provider)
      const reply = yield* streamed(model)
      expect(said(reply).filter((text) => text !== "")).toEqual([thought, text, 'weather {"city":"Paris"}'])
      expect(reply).toMatchObject({ finishReason: "tool-calls", usage: { inputTokens: 20, outputTokens: 30 } })
      const answered = reply.content.map((part) =>
        part._tag === "ToolCall" ? { ...part, outcome: Message.succeeded({ celsius: 18 }) } : part
      )
      // As a store gives it back.
      const history = JSON.parse(
        JSON.stringify([Message.user("hello"), Message.assistant(answered), Message.user("?")])
      )
      yield* streamed(model, request(history))
      for (const part of sentBack) expect(wire.asked[1]?.body).toContain(part)
      expect(wire.asked[1]?.body).toContain("celsius")
    })
  )

  // What is stored makes no other stream, which is cut already.
  const isCutAlready = sentBack.some((part) => part.includes("item_reference"))
  const cutting = isCutAlready ? () => {} : it.scopedLive
  cutting(
    "cut at every byte it is whole or a typed error, and never hangs",
    () =>
      Effect.gen(function* () {
        const bytes = Buffer.from(body)
        const wire = yield* serve(({ body: asked }) => {
          const [, cut, then] = /cut (\d+) (end|break)/.exec(asked) ?? []
          return { body: bytes.subarray(0, Number(cut)), after: then === "break" ? "break" : "end" }
        })
        const model = yield* modelAt(wire.url, provider)
        const attempt = (cut: number, then: "end" | "break") =>
          streamed(model, request([Message.user(`cut ${cut} ${then}`)])).pipe(
            Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => `hangs when cut at ${cut}, ${then}` }),
            Effect.exit,
            Effect.map((exit) => [cut, then, exit] as const)
          )
        const whole = yield* streamed(model, request([Message.user(`cut ${bytes.length} end`)]))
        const cuts = Array.from({ length: bytes.length }, (_, cut) => cut)
        const exits = yield* Effect.forEach(
          cuts.flatMap((cut) => [attempt(cut, "end"), ...(cut % 16 === 0 ? [attempt(cut, "break")] : [])]),
          (attempt) => attempt,
          { concurrency: 16 }
        )
        for (const [cut, then, exit] of exits) {
          const where = `cut at ${cut} of ${bytes.length}, ${then}`
          if (Exit.isSuccess(exit)) {
            expect(exit.value.content, where).toEqual(whole.content)
            expect(exit.value.finishReason, where).toBe(whole.finishReason)
            // Nothing but the last words of the protocol may be missing.
            expect(cut, where).toBeGreaterThan(bytes.length * 0.7)
          } else {
            const error = exit.cause._tag === "Fail" ? exit.cause.error : exit.cause
            expect(error, where).toBeInstanceOf(Errors.ModelError)
            expect(["Network", "InvalidResponse"], where).toContain((error as Errors.ModelError).reason)
          }
        }
      }),
    60_000
  )

  it.scopedLive("an interruption closes the connection, at once", () =>
    Effect.gen(function* () {
      const calls = [streamed, (model: ChatModel.Service) => ChatModel.run(model.call(hello))]
      for (const call of calls) {
        const wire = yield* serve(() => ({ body: body.slice(0, body.length / 3), after: "stall" }))
        const fiber = yield* Effect.fork(call(yield* modelAt(wire.url, provider)))
        yield* Deferred.await(wire.begun)
        yield* Effect.sleep("20 millis")
        yield* Fiber.interrupt(fiber).pipe(Effect.timeout("1 second"))
        yield* Deferred.await(wire.closed).pipe(Effect.timeout("2 seconds"))
      }
    })
  )

  it.scopedLive(
    "a server that does not end its stream after the reply is left, and the reply is not kept waiting",
    () =>
      Effect.gen(function* () {
        const wire = yield* serve(() => ({ body, after: "stall" }))
        const model = yield* modelAt(wire.url, provider)
        // What has no last word of its own is over when the stream is.
        const reply = yield* Effect.timeoutOption(streamed(model), "500 millis")
        if (reply._tag === "Some") expect(reply.value.finishReason).toBe("tool-calls")
        yield* Deferred.await(wire.closed).pipe(Effect.timeout("5 seconds"))
      })
  )

  it.scopedLive("a stall ends with the timeout of who calls, and the connection is closed", () =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ body: "", after: "stall" }))
      const model = yield* modelAt(wire.url, provider)
      const exit = yield* streamed(model).pipe(Effect.timeout("100 millis"), Effect.exit)
      expect(Exit.isFailure(exit)).toBe(true)
      yield* Deferred.await(wire.closed).pipe(Effect.timeout("2 seconds"))
    })
  )

  it.scopedLive.each([
    { status: 429, headers: { "retry-after": "7" }, reason: "RateLimited", retryAfter: 7000 },
    { status: 429, headers: { "retry-after-ms": "250", "retry-after": "1" }, reason: "RateLimited", retryAfter: 250 },
    { status: 500, headers: {}, reason: "Overloaded", retryAfter: undefined },
    { status: 529, headers: {}, reason: "Overloaded", retryAfter: undefined },
    { status: 401, headers: {}, reason: "Authentication", retryAfter: undefined },
    { status: 404, headers: {}, reason: "BadRequest", retryAfter: undefined },
    { status: 504, headers: {}, reason: "Timeout", retryAfter: undefined }
  ])("a $status is $reason, streamed or not", ({ headers, reason, retryAfter, status }) =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ status, headers, body: "<html>no JSON</html>" }))
      const model = yield* modelAt(wire.url, provider)
      for (const call of [streamed(model), ChatModel.run(model.call(hello))]) {
        const error = yield* Effect.flip(call)
        expect([error.reason, error.retryAfter]).toEqual([reason, retryAfter])
        expect(error.message).not.toContain(key)
      }
      // Retries are the business of handlers.
      expect(wire.asked).toHaveLength(2)
    })
  )

  it.scopedLive("malformed JSON is an invalid response, streamed or not", () =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ body: 'data: {"type": oh no\n\n' }))
      const model = yield* modelAt(wire.url, provider)
      for (const call of [streamed(model), ChatModel.run(model.call(hello))]) {
        expect((yield* Effect.flip(call)).reason).toBe("InvalidResponse")
      }
    })
  )

  it.scopedLive.each([
    { type: "text/html", body: "<html>Sign in</html>", told: "text/html" },
    { type: "application/json", body: '{"detail":"no"}', told: "application/json" },
    { type: "application/json", body: "", told: "application/json" },
    { type: "", body: "", told: "no known type" }
  ])("what is no stream is an invalid response, which nobody asks for again: $body as $type", ({ body, told, type }) =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ headers: type === "" ? {} : { "content-type": type }, body }))
      const model = ModelDecorator.retry({ times: 2 })(yield* modelAt(wire.url, provider))
      const error = yield* Effect.flip(streamed(model))
      expect(error.reason).toBe("InvalidResponse")
      expect(error.message).toContain(told)
      expect(wire.asked).toHaveLength(1)
    })
  )

  it.scopedLive("a stream of events that is over before it begins is a failure of the network", () =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ body: "" }))
      const error = yield* Effect.flip(streamed(yield* modelAt(wire.url, provider)))
      expect(error.reason).toBe("Network")
    })
  )

  it.scopedLive("an error with the status of success is told in the server's words", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ error: { code: 503, message: "loading", status: "UNAVAILABLE" } })
      const wire = yield* serve(() => ({ headers: { "content-type": "application/json" }, body }))
      const model = yield* modelAt(wire.url, provider)
      expect(yield* Effect.flip(ChatModel.run(model.call(hello)))).toMatchObject({
        reason: "Overloaded",
        message: "loading"
      })
    })
  )

  it.scopedLive("a server that is not there is a failure of the network", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.scoped(serve(() => ({ body })))
      const model = yield* modelAt(url, provider)
      expect((yield* Effect.flip(streamed(model))).reason).toBe("Network")
      expect((yield* Effect.flip(ChatModel.run(model.call(hello)))).reason).toBe("Network")
    })
  )
})

describe("what providers say in the middle of a stream", () => {
  const failing = (provider: (typeof providers)[keyof typeof providers], ...events: ReadonlyArray<unknown>) =>
    Effect.gen(function* () {
      const wire = yield* serve(() => ({ body: sse(events) }))
      return yield* Effect.flip(streamed(yield* modelAt(wire.url, provider)))
    })
  const started = {
    type: "message_start",
    message: { id: "m", model: "c", content: [], role: "assistant", usage: { input_tokens: 1, output_tokens: 1 } }
  }
  const began = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }

  it.scopedLive("an overloaded Anthropic is overloaded", () =>
    Effect.gen(function* () {
      const error = yield* failing(providers.anthropic, started, began, {
        type: "error",
        error: { type: "overloaded_error", message: "Overloaded" }
      })
      expect(error).toMatchObject({ reason: "Overloaded", message: "Overloaded" })
    })
  )

  it.scopedLive.each(["openai, chat", "openai-compatible"] as const)("a number is the status of an error: %s", (name) =>
    Effect.gen(function* () {
      const begun = {
        id: "c",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: { role: "assistant", content: "H" }, finish_reason: null }]
      }
      const reasons: Array<Errors.ModelErrorReason> = []
      for (const error of [
        { error: { code: 502, message: "Provider returned error" } },
        { error: { code: 429, message: "Provider returned error" } },
        { object: "error", code: 500, message: "Internal", type: "InternalServerError", param: null },
        { object: "error", code: 400, message: "This model's maximum context length is 4096 tokens." }
      ]) {
        reasons.push((yield* failing(providers[name], begun, error)).reason)
      }
      expect(reasons).toEqual(["Overloaded", "RateLimited", "Overloaded", "ContextLength"])
      const { message, reason } = yield* failing(providers[name], begun, { error: "the runner has terminated" })
      expect([reason, message]).toEqual(["Unknown", "the runner has terminated"])
    })
  )

  it.scopedLive("an event that Anthropic's provider does not know is an invalid response", () =>
    Effect.gen(function* () {
      const error = yield* failing(providers.anthropic, started, began, { type: "event_of_tomorrow" })
      expect(error.reason).toBe("InvalidResponse")
    })
  )

  // The second one is not what OpenAI documents.
  it.scopedLive.each([{ sequence_number: 3 }, {}])("a rate limit of OpenAI is a rate limit: %j", (rest) =>
    Effect.gen(function* () {
      const error = yield* failing(
        providers["openai, responses"],
        { type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5" } },
        { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "H" },
        { ...rest, type: "error", error: { type: "rate_limit_error", code: "rate_limit_exceeded", message: "slow" } }
      )
      expect([error.reason, error.message]).toEqual(["RateLimited", "slow"])
    })
  )

  it.scopedLive("arguments that are no JSON go on as text, and the model is told", () =>
    Effect.gen(function* () {
      const body = exchanges["openai-compatible"]!.body.replace('arguments":"}"', 'arguments":"oops"')
      const wire = yield* serve(() => ({ body }))
      const model = yield* modelAt(wire.url, providers["openai-compatible"])
      expect(said(yield* streamed(model)).at(-1)).toBe(`weather ${JSON.stringify('{"city":"Paris"oops')}`)
    })
  )

  it.scopedLive.each(Object.entries(exchanges))(
    "arguments that are no object are sent back as one, since servers refuse others: %s",
    ([, { body, provider }]) =>
      Effect.gen(function* () {
        const wire = yield* serve(() => ({ body }))
        const model = yield* modelAt(wire.url, provider)
        for (const args of ['{"city":', "", [1], undefined]) {
          const call = Message.toolCall("1", "weather", args, Message.failed("no"))
          yield* streamed(model, request([Message.user("hello"), Message.assistant([call]), Message.user("?")]))
          const sent = wire.asked.at(-1)!.body.replaceAll("\\", "")
          expect(sent.replaceAll(" ", "")).toContain(`{"invalid":${JSON.stringify(args ?? null).replaceAll("\\", "")}}`)
        }
      })
  )

  it.scopedLive("a turn that Anthropic pauses is not over", () =>
    Effect.gen(function* () {
      const body = exchanges["anthropic"]!.body.replace('"stop_reason":"tool_use"', '"stop_reason":"pause_turn"')
      const wire = yield* serve(() => ({ body }))
      const reply = yield* streamed(yield* modelAt(wire.url, providers.anthropic))
      expect(reply.finishReason).toBe("pause")
    })
  )
})

describe("a refusal in the provider's own words", () => {
  const refusing = ({ body, provider, status }: Refused) =>
    Effect.gen(function* () {
      const headers = { "content-type": "application/json" }
      const wire = yield* serve(() => ({ status, headers, body: JSON.stringify(body) }))
      return yield* modelAt(wire.url, providers[provider])
    })

  it.scopedLive.each(Object.entries({ ...account, ...gone }))("%s", ([, refused]) =>
    Effect.gen(function* () {
      const model = yield* refusing(refused)
      for (const call of [streamed(model), ChatModel.run(model.call(hello))]) {
        const error = yield* Effect.flip(call)
        expect([error.reason, error.retryAfter]).toEqual([refused.reason, refused.retryAfter])
      }
    })
  )

  it.scopedLive.each(Object.entries(gone))("that the model is gone leads to the spare one: %s", ([, refused]) =>
    Effect.gen(function* () {
      const spare: ChatModel.Service = { call: () => ChatModel.reply("spare") }
      const model = ModelDecorator.fallback(spare)(yield* refusing(refused))
      expect(said(yield* streamed(model))).toEqual(["spare"])
      expect(said(yield* ChatModel.run(model.call(hello)))).toEqual(["spare"])
    })
  )

  it.scopedLive("in the middle of a stream says how long to wait, too", () =>
    Effect.gen(function* () {
      const { body, provider, reason, retryAfter } = account["a rate that is exceeded at Google"]!
      const wire = yield* serve(() => ({
        body: sse([{ candidates: [{ content: { parts: [{ text: "H" }] } }] }, body])
      }))
      const error = yield* Effect.flip(streamed(yield* modelAt(wire.url, providers[provider])))
      expect([error.reason, error.retryAfter]).toEqual([reason, retryAfter])
    })
  )
})

describe("the key", () => {
  it.scopedLive("is not in the message of any error, nor in what caused it", () =>
    Effect.gen(function* () {
      const wire = yield* serve(({ headers }) => ({
        status: 401,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ error: { message: `bad key ${headers.authorization}`, type: "invalid_request_error" } })
      }))
      const broken = `${key}\n`
      for (const apiKey of [key, broken]) {
        const model = yield* modelAt(wire.url, providers["openai, responses"], apiKey)
        const error = yield* Effect.flip(streamed(model))
        expect(JSON.stringify([error.message, error.cause, String(error.cause), error.stack])).not.toContain(key)
      }
    })
  )

  it.scopedLive("of a gateway, in a header of its own, is not there either", () =>
    Effect.gen(function* () {
      const wire = yield* serve(({ headers }) => ({
        status: 401,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ error: { message: `bad key ${headers["x-gateway-key"]}` } })
      }))
      for (const provider of Object.values(providers)) {
        const options = { ...provider.options, headers: { "x-gateway-key": "a key of the gateway" } }
        const error = yield* Effect.flip(streamed(yield* modelAt(wire.url, { ...provider, options })))
        expect(error.reason).toBe("Authentication")
        expect(JSON.stringify([error.message, error.cause, error.stack])).not.toContain("of the gateway")
      }
    })
  )

  it.scopedLive("that no header takes is told by the name of its setting", () =>
    Effect.gen(function* () {
      for (const apiKey of [`${key}\n${key}`, `${key}…`]) {
        const error = yield* Effect.flip(
          Effect.scoped(
            aiSdk.anthropic.make({
              name: "m",
              model: "m",
              apiKey: Redacted.make(apiKey),
              baseUrl: undefined,
              options: {}
            })
          )
        )
        expect(error.reason).toBe("MissingSecret")
        expect(error.message).toContain('"apiKeyFrom"')
        expect(error.message).toContain("ANTHROPIC_API_KEY")
        expect(error.message).not.toContain(key)
      }
    })
  )
})
