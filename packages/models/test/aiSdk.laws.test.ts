import type { LanguageModelV3Content, LanguageModelV3StreamPart, SharedV3ProviderMetadata } from "@ai-sdk/provider"
import { describe, expect, it } from "@effect/vitest"
import { Call, ChatModel, Errors, Message } from "@heddle/core"
import { Arbitraries } from "@heddle/testing"
import * as aiSdk from "@heddle/models/aiSdk"
import { Cause, Effect, Exit, FastCheck as fc } from "effect"
import { end, fake } from "./support/fake.ts"

const runs = { fastCheck: { numRuns: 300 } }
const stream = (model: ChatModel.Service) =>
  Effect.map(
    Call.collect(model.call(ChatModel.request({ history: [Message.user("hello")] })), ChatModel.fold),
    ({ value }) => value
  )
const generate = (model: ChatModel.Service, history: ReadonlyArray<Message.Message> = [Message.user("hello")]) =>
  ChatModel.run(model.call(ChatModel.request({ history })))

const jsonObject = fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.string(), fc.integer()), { maxKeys: 2 })
// What JSON says, without the holes and prototypes that only programs make.
const metadata = fc
  .dictionary(fc.constantFrom("fake", "openai", "anthropic"), jsonObject, { maxKeys: 2 })
  .map((value): SharedV3ProviderMetadata => JSON.parse(JSON.stringify(value)))
const withMetadata = fc.option(metadata, { nil: undefined }).map((found) => (found ? { providerMetadata: found } : {}))

const said = fc
  .tuple(fc.constantFrom("text" as const, "reasoning" as const), Arbitraries.text, withMetadata)
  .map(([type, text, rest]): LanguageModelV3Content => ({ type, text, ...rest }))
const input = fc.oneof(
  Arbitraries.json.map((value) => JSON.stringify(value)),
  Arbitraries.text
)
const toolCall = fc
  .tuple(fc.uuid(), Arbitraries.toolName, input, withMetadata)
  .map(([toolCallId, toolName, input, rest]): LanguageModelV3Content => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input,
    ...rest
  }))
const source = fc.webUrl().map((url): LanguageModelV3Content => ({ type: "source", sourceType: "url", id: "s", url }))
const file = fc
  .uint8Array({ maxLength: 9 })
  .map((data): LanguageModelV3Content => ({ type: "file", mediaType: "image/png", data }))

/** A call that the provider ran, and what came of it. */
const executed = fc
  .tuple(toolCall, fc.option(fc.oneof(fc.string(), jsonObject), { nil: undefined }), fc.boolean(), withMetadata)
  .map(([call, result, isError, rest]): ReadonlyArray<LanguageModelV3Content> => {
    if (call.type !== "tool-call") return []
    const { toolCallId, toolName } = call
    const answer = { type: "tool-result" as const, toolCallId, toolName, result: result ?? "done", isError, ...rest }
    return [{ ...call, providerExecuted: true }, ...(result === undefined ? [] : [answer])]
  })

const contents = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: said.map((one) => [one]) },
      toolCall.map((one) => [one]),
      executed,
      fc.oneof(source, file).map((one) => [one])
    ),
    {
      maxLength: 6
    }
  )
  .map((lists) => lists.flat())

/** What a provider streams for a content: in pieces, and with the beginning of the next text before the end of this one. */
const streamOf = (contents: ReadonlyArray<LanguageModelV3Content>, late: boolean): Array<LanguageModelV3StreamPart> => {
  const out: Array<LanguageModelV3StreamPart> = [{ type: "stream-start", warnings: [] }]
  const ends: Array<LanguageModelV3StreamPart> = []
  contents.forEach((content, i) => {
    if (content.type !== "text" && content.type !== "reasoning") return void out.push(content)
    const { providerMetadata, text, type } = content
    const id = String(i)
    const half = text.length >> 1
    out.push({ type: `${type}-start`, id }, { type: `${type}-delta`, id, delta: text.slice(0, half) })
    if (!late) out.push(...ends.splice(0))
    out.push({ type: `${type}-delta`, id, delta: text.slice(half) })
    ends.push({ type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) })
  })
  return [...out, ...ends, { type: "finish", ...end }]
}

describe("the laws of the adapter", () => {
  it.effect.prop(
    "the fold of a stream is the reply in one piece, however texts overlap",
    [contents, fc.boolean()],
    ([contents, late]) =>
      Effect.gen(function* () {
        const model = aiSdk.fromLanguageModel(fake(contents, streamOf(contents, late)))
        const whole = yield* generate(model)
        expect(yield* stream(model)).toEqual(whole)
        // What a provider said apart stays apart, and all metadata is there.
        const texts = contents.flatMap((part) => ("text" in part && part.text !== "" ? [part.text] : []))
        expect(whole.content.flatMap((part) => ("text" in part && part.text !== "" ? [part.text] : []))).toEqual(texts)
        // Nothing is lost on the way to a store and back.
        expect(JSON.parse(JSON.stringify(whole))).toEqual(whole)
      }),
    runs
  )

  it.effect.prop(
    "what came is sent back with all that the provider wants back",
    [contents],
    ([contents]) =>
      Effect.gen(function* () {
        const model = fake(contents)
        const service = aiSdk.fromLanguageModel(model)
        const { content } = yield* generate(service)
        yield* generate(service, [Message.user("hello"), Message.assistant(content)])
        const sent = model.asked[1]!.prompt.flatMap((message) => (message.role === "assistant" ? message.content : []))
        for (const part of contents) {
          if (part.type === "source" || part.type === "file" || part.providerMetadata === undefined) continue
          if (Object.keys(part.providerMetadata).length === 0) continue
          expect(sent.map((one) => one.providerOptions)).toContainEqual(part.providerMetadata)
        }
        expect(sent.filter((part) => part.type === "tool-call").map(({ toolCallId }) => toolCallId)).toEqual(
          contents.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
        )
      }),
    runs
  )

  const id = fc.constantFrom("a", "b")
  const anything: fc.Arbitrary<LanguageModelV3StreamPart> = fc.oneof(
    fc
      .tuple(fc.constantFrom("text-start" as const, "text-end" as const), id, withMetadata)
      .map(([type, id, rest]) => ({ type, id, ...rest })),
    fc
      .tuple(fc.constantFrom("reasoning-start" as const, "reasoning-end" as const), id, withMetadata)
      .map(([type, id, rest]) => ({ type, id, ...rest })),
    fc
      .tuple(fc.constantFrom("text-delta" as const, "reasoning-delta" as const), id, Arbitraries.text, withMetadata)
      .map(([type, id, delta, rest]) => ({ type, id, delta, ...rest })),
    fc.tuple(id, input).map(([id, input]) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: "t",
      input,
      providerExecuted: id === "a"
    })),
    fc.tuple(id, fc.boolean()).map(([id, preliminary]) => ({
      type: "tool-result" as const,
      toolCallId: id,
      toolName: "t",
      result: 1,
      preliminary
    })),
    fc.constantFrom<LanguageModelV3StreamPart>(
      { type: "tool-input-start", id: "a", toolName: "t" },
      { type: "tool-input-delta", id: "a", delta: "{" },
      { type: "tool-approval-request", approvalId: "1", toolCallId: "a" },
      { type: "response-metadata", id: "r", timestamp: new Date(Number.NaN) },
      { type: "response-metadata" },
      { type: "raw", rawValue: 1 },
      { type: "error", error: undefined },
      { type: "error", error: new Error("no") },
      { type: "finish", ...end },
      { type: "finish", ...end, finishReason: { unified: "error", raw: "BROKEN" } },
      { type: "finish", ...end, finishReason: { unified: "other", raw: undefined } }
    )
  )

  it.effect.prop(
    "whatever a provider streams, the call is a reply or a typed error",
    [fc.array(anything, { maxLength: 12 })],
    ([parts]) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(stream(aiSdk.fromLanguageModel(fake([], parts))))
        if (Exit.isFailure(exit)) {
          expect(Cause.isDie(exit.cause)).toBe(false)
          expect(Cause.failureOption(exit.cause)).toMatchObject({ value: { _tag: "ModelError" } })
          return
        }
        // A reply is complete, and the parts of it make it again.
        expect(parts.some((part) => part.type === "finish")).toBe(true)
        expect(exit.value.content.every((part) => part._tag !== "ToolCall" || part.arguments !== undefined)).toBe(true)
        const again = ChatModel.fold.make()
        ChatModel.fold.whole(exit.value).forEach(again.add)
        expect(again.value()).toEqual(exit.value)
      }),
    runs
  )

  it.effect("a model that throws, or gives what makes no sense, is a typed error", () =>
    Effect.gen(function* () {
      const broken = [
        () => Promise.reject(new Error("no")),
        () => {
          throw new TypeError("no")
        },
        () => Promise.resolve({}),
        () => Promise.resolve(undefined),
        () => Promise.reject()
      ]
      for (const doIt of broken) {
        const model = { ...fake([]), doGenerate: doIt, doStream: doIt } as unknown as ReturnType<typeof fake>
        for (const call of [generate, stream]) {
          expect(yield* Effect.flip(call(aiSdk.fromLanguageModel(model)))).toBeInstanceOf(Errors.ModelError)
        }
      }
    })
  )
})
