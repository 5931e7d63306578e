/**
 * The adapter of the AI SDK's providers: a call of ours beside the provider called
 * by hand, with a provider in memory that answers at once.
 */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider"
import { Call, ChatModel, Instructions, Message } from "@heddle/core"
import { fromLanguageModel } from "@heddle/models/aiSdk"
import * as Effect from "effect/Effect"
import { assert, type Competitor, measure, type Result } from "./measure.ts"

const size = 200
const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: size, text: size, reasoning: 0 }
}
const end = { finishReason: { unified: "stop", raw: "stop" }, usage } as const
const answer = "The answer has some words."

const parts: ReadonlyArray<LanguageModelV3StreamPart> = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  ...Array.from({ length: size - 4 }, (_, i): LanguageModelV3StreamPart => {
    return { type: "text-delta", id: "1", delta: `word ${i} ` }
  }),
  { type: "text-end", id: "1" },
  { type: "finish", ...end }
]
const characters = parts.reduce((sum, part) => sum + (part.type === "text-delta" ? part.delta.length : 0), 0)

const provider: LanguageModelV3 = {
  specificationVersion: "v3",
  provider: "instant",
  modelId: "instant",
  supportedUrls: {},
  // A provider makes the body of a request of what it is asked, and reads one.
  doGenerate: async (options) => {
    const body = JSON.stringify(options.prompt)
    assert(body.length > 0, "a request")
    return { content: [{ type: "text", text: answer }], warnings: [], ...end }
  },
  doStream: async () => {
    let next = 0
    const stream = new ReadableStream<LanguageModelV3StreamPart>({
      pull: (controller) => {
        const part = parts[next++]
        if (part === undefined) controller.close()
        else controller.enqueue(part)
      }
    })
    return { stream }
  }
}

// Ten exchanges, and the question.
const history = [
  ...Array.from({ length: 10 }, (_, i) => [Message.user(`question ${i}`), Message.assistant(`answer ${i}`)]).flat(),
  Message.user("the question")
]
const request = ChatModel.request({ instructions: Instructions.make("Answer."), history })

/** What a program does that has messages of its own, as every program has. */
const byHand = (abortSignal: AbortSignal): LanguageModelV3CallOptions => ({
  prompt: [
    { role: "system", content: "Answer." },
    ...history.map((message): LanguageModelV3CallOptions["prompt"][number] =>
      message.role === "user"
        ? { role: "user", content: [{ type: "text", text: Message.text(message) }] }
        : { role: "assistant", content: [{ type: "text", text: Message.text(message) }] }
    )
  ],
  abortSignal
})

const model = fromLanguageModel(provider)

const generateByHand = async (signal: AbortSignal) => {
  const { content } = await provider.doGenerate(byHand(signal))
  assert(content[0]?.type === "text" && content[0].text === answer, "an answer")
}

const streamByHand = async (signal: AbortSignal) => {
  const { stream } = await provider.doStream(byHand(signal))
  let seen = 0
  let text = ""
  const reader = stream.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (read.value.type !== "text-delta") continue
    text += read.value.delta
    seen += read.value.delta.length
  }
  assert(seen === characters && text.length === characters, "all of the text")
}

type Subjects = Pick<Competitor, "case" | "subject" | "run">

const inEffect = (name: string, subject: "heddle" | "effect", one: () => Effect.Effect<void, unknown>): Subjects => ({
  case: name,
  subject,
  run: (times) =>
    Effect.runPromise(
      Effect.gen(function* () {
        for (let n = 0; n < times; n++) yield* one()
      })
    )
})

const byHandIn = (name: string, one: (signal: AbortSignal) => Promise<void>): ReadonlyArray<Subjects> => [
  // As an Effect program has it: typed, and given up when the program is.
  inEffect(name, "effect", () => Effect.tryPromise(one)),
  {
    case: name,
    subject: "javascript",
    run: async (times) => {
      for (let n = 0; n < times; n++) await one(new AbortController().signal)
    }
  }
]

const generate = "L: a reply in one piece"
const streamed = "L: a stream of 200 parts"

const replies: ReadonlyArray<Subjects> = [
  inEffect(generate, "heddle", () =>
    Effect.map(ChatModel.run(model.call(request)), ({ content: [said] }) =>
      assert(said?._tag === "Text" && said.text === answer, "an answer")
    )
  ),
  ...byHandIn(generate, generateByHand)
]

const streams: ReadonlyArray<Subjects> = [
  inEffect(streamed, "heddle", () => {
    let seen = 0
    const call = Call.runEach(model.call(request), ChatModel.fold, "live", (part) => {
      if (part._tag === "Text") seen += part.text.length
    })
    return Effect.map(call, () => assert(seen === characters, "all of the text"))
  }),
  ...byHandIn(streamed, streamByHand)
]

/** Calls through the adapter, in one piece and streamed. */
export const caseL = async (): Promise<ReadonlyArray<Result>> => [
  ...(await measure(replies.map((subject) => ({ ...subject, unit: "µs" })))),
  ...(await measure(streams.map((subject) => ({ ...subject, unit: "µs" }))))
]
