import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, type Errors, Message, Tool, Tools } from "@heddle/core"
import { Deferred, Effect, Exit, Fiber, Option, Schema, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import { type Answer, begin, type Block, error, events, key, layerAt, serve, sse } from "./wire.ts"

const thinking: Block = { type: "thinking", thinking: "Where is Oslo?", signature: "sig-1" }
const ask: Block = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } }
const done: Block = { type: "text", text: "Sunny." }

const weather = Tool.make({
  name: "weather",
  description: "The weather in a city.",
  parameters: Schema.Struct({ city: Schema.String }),
  execute: ({ city }) => `${city} is sunny.`
})
const agent = Agent.make({
  name: "helper",
  instructions: "Be brief.",
  tools: Tools.make(weather),
  model: { temperature: 0.5 }
})

const ways = {
  run: Agent.run(agent, "Oslo?"),
  stream: Effect.flatMap(Stream.runLast(Agent.stream(agent, "Oslo?")), (last) => {
    const event = Option.getOrThrow(last)
    return event._tag === "Completed" ? Effect.succeed(event.result) : Effect.die(event)
  })
} as const

/** What a call at a server that answers so fails with, run and streamed. */
const failures = (answer: Answer, secrets?: Parameters<typeof layerAt>[2]) =>
  Effect.gen(function* () {
    const { url } = yield* serve(answer)
    return yield* Effect.gen(function* () {
      const model = yield* ChatModel.ChatModel
      const call = model.call(ChatModel.request({ history: [Message.user("Hi")] }))
      const run = yield* Effect.flip(ChatModel.run(call))
      const streamed = yield* Effect.flip(Call.collect(call, ChatModel.fold))
      return [run, streamed] as const
    }).pipe(Effect.provide(layerAt(url, "10 seconds", secrets)))
  })

for (const way of ["run", "stream"] as const) {
  describe(`over HTTP (${way})`, () => {
    it.scopedLive("a tool is called, its result goes back, and the signature with it", () =>
      Effect.gen(function* () {
        const { sent, url } = yield* serve([thinking, { type: "text", text: "Let me look." }, ask], [done])
        const result = yield* ways[way].pipe(Effect.provide(layerAt(url)))
        expect(result.text).toBe("Sunny.")
        expect(result.usage).toEqual({ inputTokens: 22, outputTokens: 14 })
        expect(sent[0]).toMatchObject({ system: [{ text: "Be brief." }], temperature: 0.5, max_tokens: 100 })
        expect(sent[0]?.stream === true).toBe(way === "stream")
        expect(sent[0]?.tools?.[0]).toMatchObject({ name: "weather", input_schema: { required: ["city"] } })
        expect(sent[1]?.messages.slice(1)).toMatchObject([
          { role: "assistant", content: [thinking, { type: "text", text: "Let me look." }, ask] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: false }] }
        ])
      })
    )

    it.scopedLive("a tool that there is not is answered, and the model goes on", () =>
      Effect.gen(function* () {
        const unknown: Block = { type: "tool_use", id: "toolu_2", name: "forecast", input: {} }
        const { sent, url } = yield* serve([thinking, unknown], [done])
        const result = yield* ways[way].pipe(Effect.provide(layerAt(url)))
        expect(result.text).toBe("Sunny.")
        expect(sent[1]?.messages[1]?.content).toMatchObject([thinking, unknown])
        expect(sent[1]?.messages[2]?.content[0]).toMatchObject({ tool_use_id: "toolu_2", is_error: true })
      })
    )

    it.scopedLive("interrupting a run closes the connection", () =>
      Effect.gen(function* () {
        const arrived = yield* Deferred.make<void>()
        const closed = yield* Deferred.make<void>()
        const { url } = yield* serve((response, asked) => {
          response.on("close", () => Deferred.unsafeDone(closed, Exit.void))
          if (asked.stream === true) {
            begin(response)
            for (const event of events([done]).slice(0, 4)) response.write(sse(event))
          }
          Deferred.unsafeDone(arrived, Exit.void)
        })
        const fiber = yield* Effect.fork(ways[way].pipe(Effect.provide(layerAt(url))))
        yield* Deferred.await(arrived)
        yield* Fiber.interrupt(fiber)
        yield* Effect.timeout(Deferred.await(closed), "5 seconds")
      })
    )
  })
}

it.scopedLive("a stream that arrives byte by byte is the same", () =>
  Effect.gen(function* () {
    const { url } = yield* serve((response) => {
      begin(response)
      const body = Buffer.from(
        events([thinking, { type: "text", text: "Grüße, 👩‍👩‍👧!" }, ask])
          .map(sse)
          .join("")
      )
      for (const byte of body) response.write(Buffer.of(byte))
      response.end()
    })
    const reply = yield* Effect.gen(function* () {
      const model = yield* ChatModel.ChatModel
      return yield* Call.collect(model.call(ChatModel.request({ tools: Tools.make(weather) })), ChatModel.fold)
    }).pipe(Effect.provide(layerAt(url)))
    expect(reply.value.content).toEqual([
      {
        _tag: "Reasoning",
        text: "Where is Oslo?",
        metadata: { anthropic: { type: "thinking", signature: "sig-1" } }
      },
      { _tag: "Text", text: "Grüße, 👩‍👩‍👧!" },
      Message.toolCall("toolu_1", "weather", { city: "Oslo" })
    ])
  })
)

describe("an error over HTTP", () => {
  const reasons = (errors: ReadonlyArray<Errors.ModelError>) => errors.map((error) => [error.reason, error.retryAfter])

  const cases: ReadonlyArray<readonly [string, Answer, Errors.ModelErrorReason, number | undefined]> = [
    ["429", error(429, "rate_limit_error", "slow down", { "retry-after": "3" }), "RateLimited", 3000],
    ["500", error(500, "api_error", "oops"), "Overloaded", undefined],
    ["529", error(529, "overloaded_error", "busy"), "Overloaded", undefined],
    ["401", error(401, "authentication_error", "no"), "Authentication", undefined],
    ["401 that repeats the key", error(401, "authentication_error", "no: secret"), "Authentication", undefined],
    ["402", error(402, "billing_error", "pay"), "Authentication", undefined],
    ["429 without credit", error(429, "rate_limit_error", "insufficient_quota"), "Authentication", undefined],
    ["400 too long", error(400, "invalid_request_error", "prompt is too long: 9"), "ContextLength", undefined],
    [
      "400 without credit",
      error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
      "Authentication",
      undefined
    ],
    ["404 of a model that is gone", error(404, "not_found_error", "model: claude-2"), "Authentication", undefined],
    ["404", error(404, "not_found_error", "Not found"), "BadRequest", undefined],
    [
      "429 that speaks of bills",
      error(429, "rate_limit_error", "You exceeded your quota, please check your plan and billing details."),
      "RateLimited",
      undefined
    ],
    [
      "502 in HTML",
      (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<p>no</p>"),
      "Overloaded",
      undefined
    ],
    ["hang up", (response) => void response.destroy(), "Network", undefined]
  ]
  for (const [name, answer, reason, retryAfter] of cases) {
    it.scopedLive(`${name} is ${reason}, and never tells the key`, () =>
      Effect.gen(function* () {
        const errors = yield* failures(answer)
        expect(reasons(errors)).toEqual([
          [reason, retryAfter],
          [reason, retryAfter]
        ])
        expect(JSON.stringify(errors)).not.toContain("secret")
      })
    )
  }

  it.scopedLive("of a proxy in its own words is told by its status only when it was streamed", () =>
    Effect.gen(function* () {
      const errors = yield* failures((response) => {
        response.writeHead(429, { "content-type": "application/json", "retry-after": "3" }).end('{"detail":"slow"}')
      })
      expect(reasons(errors)).toEqual([
        ["InvalidResponse", undefined],
        ["RateLimited", 3000]
      ])
    })
  )

  it.scopedLive("never tells the key, wherever a server repeats it, and is not as long as what came", () =>
    Effect.gen(function* () {
      const json = (status: number, body: object) => (response: ServerResponse) =>
        void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
      const answers: ReadonlyArray<Answer> = [
        json(401, { type: "secret", error: "secret" }),
        json(200, { type: "secret" }),
        (response) => void begin(response).end(sse({ type: "message_start", message: "secret" })),
        (response) => {
          begin(response).write(sse(events([done])[0]!))
          response.end(sse({ type: "error", error: { type: "overloaded_error", message: "busy: secret" } }))
        }
      ]
      for (const answer of answers) {
        for (const error of yield* failures(answer, [key])) {
          const shown = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), error.stack]
          expect(shown.join()).not.toContain("secret")
          expect(error.message.length).toBeLessThanOrEqual(500)
        }
      }
    })
  )

  const half = events([done]).slice(0, 4)
  const broken: ReadonlyArray<readonly [string, (response: ServerResponse) => void, Errors.ModelErrorReason]> = [
    // The client of @effect/ai waits for ever then: it reads the body again, to say what was in it.
    ["that is cut off", (response) => response.write(": all sent\n\n", () => response.destroy()), "Timeout"],
    ["that stalls", () => undefined, "Timeout"],
    ["that ends too early", (response) => response.end(), "Network"],
    [
      "with JSON that is none",
      (response) => response.end("event: message_stop\ndata: {nonsense\n\n"),
      "InvalidResponse"
    ],
    [
      "with an error in it",
      (response) => response.end(sse({ type: "error", error: { type: "overloaded_error", message: "busy" } })),
      "Overloaded"
    ]
  ]
  for (const [name, end, reason] of broken) {
    it.scopedLive(`a stream ${name} is ${reason}`, () =>
      Effect.gen(function* () {
        const { url } = yield* serve((response) => {
          begin(response)
          for (const event of half) response.write(sse(event))
          end(response)
        })
        const failed = yield* Effect.gen(function* () {
          const model = yield* ChatModel.ChatModel
          const call = model.call(ChatModel.request({ history: [Message.user("Hi")] }))
          return yield* Effect.flip(Call.collect(call, ChatModel.fold))
        }).pipe(Effect.provide(layerAt(url, "500 millis")))
        expect(failed.reason).toBe(reason)
      })
    )
  }

  it.scopedLive("an answer that never comes is Timeout, and closes the connection", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const { url } = yield* serve((response) => {
        response.on("close", () => Deferred.unsafeDone(closed, Exit.void))
      })
      const failed = yield* Agent.run(agent, "Oslo?").pipe(Effect.flip, Effect.provide(layerAt(url, "300 millis")))
      expect(failed).toMatchObject({ _tag: "ModelError", reason: "Timeout" })
      yield* Effect.timeout(Deferred.await(closed), "5 seconds")
    })
  )
})
