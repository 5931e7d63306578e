import { describe, expect, it } from "@effect/vitest"
import { LLMock } from "@copilotkit/aimock"
import { Agent, Call, ChatModel, Message, Tool, Tools } from "@heddle/core"
import { Effect, Schema, Stream } from "effect"
import { afterAll, beforeAll, beforeEach } from "vitest"
import { modelAt, type Provider, providers } from "./support/models.ts"
import { passTo, serve } from "./support/wire.ts"

const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 4 })
beforeAll(() => mock.start())
afterAll(() => mock.stop())
beforeEach(() => {
  mock.clearFixtures()
  mock.clearRequests()
})

const weather = Tool.make({
  name: "weather",
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.Struct({ celsius: Schema.Number }),
  execute: ({ city }) => Effect.succeed({ celsius: city === "Paris" ? 18 : 0 })
})

/** A model whose requests go to the mock, and are kept as they were sent. */
const recorded = (provider: Provider) =>
  Effect.gen(function* () {
    const { asked, url } = yield* serve(passTo(mock.url))
    const model = yield* modelAt(url, provider)
    return { asked, model, provided: Effect.provideService(ChatModel.ChatModel, model) }
  })
/** Without what differs from reply to reply: the names and the time that a server gives. */
const plain = (reply: ChatModel.ModelReply) => ({
  content: reply.content.map((part) =>
    "text" in part ? [part._tag, part.text] : [part._tag, part.name, part.arguments]
  ),
  finishReason: reply.finishReason,
  usage: reply.usage
})

describe.each(Object.entries(providers))("%s, over HTTP", (_name, provider) => {
  it.scopedLive("says a text, with its usage, in one piece and as a stream", () =>
    Effect.gen(function* () {
      mock.onMessage("hello", { content: "Hi there, stranger. ✓", usage: { prompt_tokens: 7, completion_tokens: 5 } })
      const model = yield* modelAt(mock.url, provider)
      const call = model.call(ChatModel.request({ history: [Message.user("hello")] }))
      const whole = yield* ChatModel.run(call)
      const { parts, value } = yield* Call.collect(call, ChatModel.fold)
      expect(plain(whole)).toEqual({
        content: [["Text", "Hi there, stranger. ✓"]],
        finishReason: "stop",
        usage: whole.usage
      })
      expect(plain(value)).toEqual(plain(whole))
      expect(whole.usage.outputTokens).toBeGreaterThan(0)
      expect(parts.filter((part) => part._tag === "Text").length).toBeGreaterThan(2)
    })
  )

  it.scopedLive("an agent calls its tools and answers with what they gave", () =>
    Effect.gen(function* () {
      mock.on(
        { userMessage: "weather", hasToolResult: false },
        { toolCalls: [{ name: "weather", arguments: '{"city":"Paris"}', id: "call_1" }] }
      )
      mock.on({ userMessage: "weather", hasToolResult: true }, { content: "It is 18 degrees." })
      const { asked, model, provided } = yield* recorded(provider)
      const agent = Agent.make({ name: "helper", instructions: "Be short.", tools: Tools.make(weather) })
      const result = yield* Agent.run(agent, "What is the weather in Paris?").pipe(provided)
      expect(result.text).toBe("It is 18 degrees.")
      const [call] = result.history.flatMap(Message.toolCalls)
      expect(call).toMatchObject({
        name: "weather",
        arguments: { city: "Paris" },
        outcome: { result: { celsius: 18 } }
      })
      expect(asked[0]?.body).toContain("Be short.")
      expect(asked[0]?.body).toContain("The weather in a city.")
      expect(asked[1]?.body).toMatch(/celsius\W+18/)
      const events = yield* Stream.runCollect(
        Agent.stream(agent, "What is the weather in Paris?").pipe(Stream.provideService(ChatModel.ChatModel, model))
      )
      const last = Array.from(events).at(-1)
      expect(last).toMatchObject({ _tag: "Completed", result: { text: result.text, usage: result.usage } })
    })
  )

  it.scopedLive("an answer fits the schema that is asked for", () =>
    Effect.gen(function* () {
      mock.onMessage("capital", { content: '{"city":"Paris"}' })
      const { asked, provided } = yield* recorded(provider)
      const agent = Agent.make({ name: "helper", output: Schema.Struct({ city: Schema.String }) })
      const result = yield* Agent.run(agent, "The capital of France?").pipe(provided)
      expect(result.output).toEqual({ city: "Paris" })
      expect(asked[0]?.body).toMatch(/"properties":\{"city"/)
    })
  )

  it.scopedLive("a refusal is a typed error, with how long to wait", () =>
    Effect.gen(function* () {
      mock.nextRequestError(429, { message: "slow down", type: "rate_limit_error" })
      mock.onMessage("hello", { content: "hi" })
      const model = yield* modelAt(mock.url, provider)
      const error = yield* Effect.flip(
        ChatModel.run(model.call(ChatModel.request({ history: [Message.user("hello")] })))
      )
      expect(error).toMatchObject({ reason: "RateLimited", message: "slow down" })
    })
  )
})
