/**
 * Writes one summary: reads what it is to cover, asks the model, and puts it in the
 * place of the one before.
 */
import { ChatModel, type History, Instructions, Message } from "@heddle/core"
import { causeText } from "@heddle/core/cause"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type {
  Conversation,
  ConversationKey,
  Exchange,
  Service as ConversationsService,
  Summary
} from "../Conversations.ts"
import { ConversationChanged, type ConversationsUnavailable } from "../MemoryErrors.ts"
import { summarySource } from "../ContextSection.ts"
import type { SummaryRequest } from "../Summaries.ts"
import * as TokenCounter from "../TokenCounter.ts"

/** The model gave no summary that can be used: it failed (`cause` says how), took too long, said nothing, or too much; or something threw. */
export class SummaryFailure extends Data.TaggedError("SummaryFailure")<{
  readonly reason: "Model" | "Timeout" | "Empty" | "TooLong" | "Defect"
  readonly key: ConversationKey
  readonly cause?: unknown
}> {
  override get message(): string {
    const why = {
      Model: `the model failed: ${causeText(this.cause)}`,
      Defect: `something threw: ${causeText(this.cause)}`,
      Timeout: "the model took too long",
      Empty: "the model said nothing",
      TooLong: "it is longer than allowed"
    }
    return `No summary was written: ${why[this.reason]}.`
  }
}

/** What holds for every summary of a layer. */
export interface Limits {
  readonly timeout: Duration.Duration
  readonly maxInputTokens: number
  readonly instructions: string
}

/** What a summary is written with. */
export interface Tools {
  readonly conversations: ConversationsService
  readonly model: ChatModel.Service
  readonly limits: Limits
}

/** Exchanges that are looked at for one summary, at the most. */
const maxExchanges = 200

/** Writes a summary, or nothing if too little is new. */
export const write = (
  tools: Tools,
  request: SummaryRequest
): Effect.Effect<Summary | undefined, SummaryFailure | ConversationsUnavailable | ConversationChanged> =>
  Effect.gen(function* () {
    const { key, keep } = request
    const { info: before } = yield* tools.conversations.read(key, { last: 0 })
    if (before === undefined) return undefined
    const first = Math.min(before.exchanges - keep - before.summarized, maxExchanges)
    if (first <= 0) return undefined
    const found = yield* tools.conversations.read(key, { first, after: before.summarized })
    const { info } = found
    if (info?.generation !== before.generation || info.summarized !== before.summarized) {
      return yield* new ConversationChanged({ key })
    }
    // What is more than can be looked at is enough.
    if (first < maxExchanges && messagesIn(found.exchanges) < request.minGrowth) return undefined
    const counter = yield* TokenCounter.TokenCounter
    const covered = withinTokens(found.exchanges, counter, tools.limits.maxInputTokens)
    const text = yield* ask(tools, request, found, covered, counter)
    const written = { text, through: covered.at(-1)!.position }
    const { lastAccessedAt } = yield* tools.conversations.summarize(key, written, info)
    return { ...written, at: lastAccessedAt }
  })

const messagesIn = (exchanges: ReadonlyArray<Exchange>): number =>
  exchanges.reduce((sum, { messages }) => sum + messages.length, 0)

/** The first exchanges that have so many tokens at the most; one at least. */
const withinTokens = (
  exchanges: ReadonlyArray<Exchange>,
  counter: TokenCounter.Service,
  max: number
): ReadonlyArray<Exchange> => {
  let tokens = 0
  const end = exchanges.findIndex(({ messages }) => (tokens += TokenCounter.ofHistory(counter, messages)) > max)
  return end < 0 ? exchanges : exchanges.slice(0, Math.max(1, end))
}

const ask = (
  { limits, model }: Tools,
  { key, maxTokens, model: name }: SummaryRequest,
  { summary }: Conversation,
  covered: ReadonlyArray<Exchange>,
  counter: TokenCounter.Service
): Effect.Effect<string, SummaryFailure> => {
  const request = ChatModel.request({
    instructions: Instructions.make(
      `${limits.instructions} Use ${wordsIn(maxTokens)} words at the most.`,
      summarySource
    ),
    history: [Message.user(transcript(summary, covered, (text) => cut(text, counter, limits.maxInputTokens)))],
    toolChoice: "none",
    options: { maxOutputTokens: maxTokens, ...(name !== undefined && { model: name }) },
    purpose: "memory_summary"
  })
  const fail = (reason: SummaryFailure["reason"]) => new SummaryFailure({ reason, key })
  return ChatModel.run(model.call(request)).pipe(
    Effect.mapError((cause) => new SummaryFailure({ reason: "Model", key, cause })),
    Effect.timeoutFail({ duration: limits.timeout, onTimeout: () => fail("Timeout") }),
    Effect.flatMap(({ content, finishReason, usage }) => {
      const text = Message.text(Message.assistant(content)).trim()
      if (text === "") return fail("Empty")
      // The model knows its own tokens better than the counter, if it tells them.
      const isLong = counter.count(text) > maxTokens && !(usage.outputTokens > 0 && usage.outputTokens <= maxTokens)
      return finishReason === "length" || isLong ? fail("TooLong") : Effect.succeed(text)
    })
  )
}

// -----------------------------------------------------------------------------
// what the model is shown
// -----------------------------------------------------------------------------

/** Words that fit into tokens, with some room: a model keeps to words better than to tokens. */
const wordsIn = (tokens: number): number => Math.max(1, Math.floor(tokens * 0.6))

/** The beginning of a text that is longer than a model may be given. */
const cut = (text: string, counter: TokenCounter.Service, maxTokens: number): string => {
  const tokens = counter.count(text)
  return tokens <= maxTokens ? text : `${text.slice(0, Math.floor((text.length * maxTokens) / tokens))} … (cut)`
}

const transcript = (
  summary: Summary | undefined,
  covered: ReadonlyArray<Exchange>,
  cut: (text: string) => string
): string => {
  const before = summary === undefined ? "" : `${Instructions.quoted("earlier_summary", summary.text)}\n\n`
  return (
    before +
    Instructions.quoted("conversation", cut(covered.map(({ agent, messages }) => lines(agent, messages)).join("\n\n")))
  )
}

/** Characters of the outcome of a tool that are shown. */
const maxOutcome = 500

const lines = (agent: string, messages: History.History): string =>
  messages
    .flatMap((message) =>
      message.content.flatMap((content): ReadonlyArray<string> => {
        switch (content._tag) {
          case "Text":
            return [`${message.role === "user" ? "User" : agent}: ${content.text}`]
          case "File":
            return [`User: [a file, ${content.mediaType}${content.name === undefined ? "" : `, ${content.name}`}]`]
          case "ToolCall":
            return [
              `${agent} called ${content.name}(${JSON.stringify(content.arguments)}): ${Message.renderOutcome(content.outcome).slice(0, maxOutcome)}`
            ]
          case "Reasoning":
            return []
        }
      })
    )
    .join("\n")
