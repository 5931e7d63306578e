/** A server on the loopback that speaks Anthropic's wire format. */
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as EffectAi from "@heddle/models/effectAi"
import { Context, type Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A block of a message. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object }

/** What the server was sent. */
export interface Sent {
  readonly stream?: boolean
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: ReadonlyArray<Record<string, unknown>> }>
  readonly system?: ReadonlyArray<{ readonly text: string }>
  readonly tools?: ReadonlyArray<Record<string, unknown>>
  readonly tool_choice?: unknown
  readonly temperature?: number
  readonly max_tokens?: number
}

/** Blocks to answer with, or a function that writes the response itself. */
export type Answer = ReadonlyArray<Block> | ((response: ServerResponse, sent: Sent) => void)

const base = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null, container: null }
const stopReason = (blocks: ReadonlyArray<Block>) =>
  blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn"

const message = (blocks: ReadonlyArray<Block>) => ({
  ...base,
  content: blocks,
  stop_reason: stopReason(blocks),
  usage: { input_tokens: 11, output_tokens: 7 }
})

const pieces = (text: string) => text.match(/.{1,3}/gs) ?? []

const blockEvents = (block: Block, index: number): ReadonlyArray<object> => {
  const start = (content_block: object) => ({ type: "content_block_start", index, content_block })
  const delta = (delta: object) => ({ type: "content_block_delta", index, delta })
  const stop = { type: "content_block_stop", index }
  switch (block.type) {
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...pieces(block.text).map((text) => delta({ type: "text_delta", text })),
        stop
      ]
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop
      ]
    case "tool_use":
      return [
        start({ type: "tool_use", id: block.id, name: block.name, input: {} }),
        ...pieces(JSON.stringify(block.input)).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop
      ]
  }
}

/** The events of a streamed message, all but the last if it is to break off. */
export const events = (blocks: ReadonlyArray<Block>): ReadonlyArray<object> => [
  {
    type: "message_start",
    message: { ...base, content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } }
  },
  { type: "ping" },
  ...blocks.flatMap(blockEvents),
  { type: "message_delta", delta: { stop_reason: stopReason(blocks) }, usage: { output_tokens: 7 } },
  { type: "message_stop" }
]

export const sse = (event: object): string =>
  `event: ${"type" in event ? String(event.type) : "message"}\ndata: ${JSON.stringify(event)}\n\n`

export const begin = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

export const error = (status: number, type: string, text: string, headers: Record<string, string> = {}): Answer => {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify({ type: "error", request_id: "r1", error: { type, message: text } }))
  }
}

const answerWith = (blocks: ReadonlyArray<Block>, response: ServerResponse, sent: Sent) => {
  if (sent.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(message(blocks)))
    return
  }
  begin(response)
  for (const event of events(blocks)) response.write(sse(event))
  response.end()
}

/** Starts the server: each request gets the next answer, and the last one over again. */
export const serve = (
  ...answers: ReadonlyArray<Answer>
): Effect.Effect<{ readonly url: string; readonly sent: ReadonlyArray<Sent> }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly sent: Array<Sent>; readonly close: () => void }>((resume) => {
      const sent: Array<Sent> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
        request.on("end", () => {
          const asked: Sent = JSON.parse(body)
          const answer = answers[Math.min(sent.push(asked), answers.length) - 1]!
          if (typeof answer === "function") answer(response, asked)
          else answerWith(answer, response, asked)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, sent, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

export const key = Redacted.make("secret")

/** The provider of @effect/ai at a server, as a model of ours. */
export const layerAt = (
  url: string,
  patience: Duration.DurationInput = "10 seconds",
  secrets: ReadonlyArray<Redacted.Redacted> = []
) =>
  EffectAi.layer({
    patience,
    secrets,
    config: ({ maxOutputTokens = 100, temperature }) =>
      Context.make(AnthropicLanguageModel.Config, {
        max_tokens: maxOutputTokens,
        ...(temperature !== undefined && { temperature })
      })
  }).pipe(
    Layer.provide(AnthropicLanguageModel.layer({ model: "m" })),
    Layer.provide(AnthropicClient.layer({ apiUrl: url, apiKey: key })),
    Layer.provide(NodeHttpClient.layer)
  )
