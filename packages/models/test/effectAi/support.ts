import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import type { AiError } from "@effect/ai/AiError"
import { Call, ChatModel } from "@heddle/core"
import { Effect, FastCheck as fc, Stream } from "effect"

/** What a provider is asked and answers: the same, streamed or not. */
export interface Provider {
  readonly model: LanguageModel.Service
  readonly asked: ReadonlyArray<LanguageModel.ProviderOptions>
}

/** A language model of @effect/ai in memory. */
export const provider = (
  answer: (turn: number, options: LanguageModel.ProviderOptions) => Effect.Effect<Array<Response.PartEncoded>, AiError>,
  chunks: (parts: ReadonlyArray<Response.PartEncoded>) => ReadonlyArray<ReadonlyArray<Response.StreamPartEncoded>> = (
    parts
  ) => parts.map((part) => streamed(part))
): Effect.Effect<Provider> =>
  Effect.gen(function* () {
    const asked: Array<LanguageModel.ProviderOptions> = []
    const say = (options: LanguageModel.ProviderOptions) =>
      Effect.suspend(() => answer(asked.push(options) - 1, options))
    const model = yield* LanguageModel.make({
      generateText: say,
      streamText: (options) =>
        Stream.unwrap(
          Effect.map(say(options), (parts) =>
            chunks(parts).reduce<Stream.Stream<Response.StreamPartEncoded>>(
              (all, chunk) => Stream.concat(all, Stream.fromIterable(chunk)),
              Stream.empty
            )
          )
        )
    })
    return { model, asked }
  })

/** A provider that answers with these parts each time. */
export const saying = (...parts: Array<Response.PartEncoded>) => provider(() => Effect.succeed(parts))

let ids = 0

/** A part of a response as a stream has it: in pieces, its metadata at the end. */
export const streamed = (part: Response.PartEncoded): ReadonlyArray<Response.StreamPartEncoded> => {
  const id = `block-${++ids}`
  if (part.type === "text") {
    return [
      { type: "text-start", id },
      ...Array.from(part.text, (delta) => ({ type: "text-delta", id, delta }) as const),
      { type: "text-end", id, ...(part.metadata && { metadata: part.metadata }) }
    ]
  }
  if (part.type === "reasoning") {
    const { metadata = {} } = part
    return [
      { type: "reasoning-start", id },
      ...Array.from(part.text, (delta) => ({ type: "reasoning-delta", id, delta }) as const),
      { type: "reasoning-delta", id, delta: "", metadata },
      { type: "reasoning-end", id }
    ]
  }
  return [part]
}

export const finish = (
  reason: Response.FinishReason = "stop",
  usage: Partial<Response.FinishPartEncoded["usage"]> = {}
): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8, ...usage }
})

export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })
export const called = (name: string, params: unknown = {}, id = "call-1"): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

/** The reply of a call run for its value, and of the same call streamed. */
export const bothWays = (model: ChatModel.Service, fields: Partial<ChatModel.ModelRequest>) =>
  Effect.gen(function* () {
    const request = ChatModel.request(fields)
    const run = yield* ChatModel.run(model.call(request))
    const { parts, value } = yield* Call.collect(model.call(request), ChatModel.fold)
    return { run, streamed: value, parts }
  })

/** Metadata as providers give it, with something in it. */
export const theirMetadata: fc.Arbitrary<Record<string, Record<string, unknown>>> = fc.dictionary(
  fc.constantFrom("openai", "anthropic"),
  fc.record({ signature: fc.string({ maxLength: 6 }), n: fc.nat() }),
  { minKeys: 1 }
)
