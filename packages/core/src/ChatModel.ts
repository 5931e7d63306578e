/**
 * The port to a model: one request, one call. Adapters implement it; an agent
 * and its handlers see nothing else of a provider.
 *
 * @example
 * ```ts
 * import { ChatModel } from "@heddle/core"
 *
 * // A model that repeats the question.
 * const parrot = ChatModel.layer((request) => ChatModel.reply(ChatModel.question(request)))
 * ```
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Call from "./Call.ts"
import type { ModelError } from "./Errors.ts"
import type { History } from "./History.ts"
import type { Instructions } from "./Instructions.ts"
import * as InstructionsModule from "./Instructions.ts"
import * as Message from "./Message.ts"
import type { Tools } from "./Tools.ts"
import * as ToolsModule from "./Tools.ts"

/** How the model is to answer. A provider leaves out what it does not know. */
export interface ModelOptions {
  readonly model?: string
  readonly temperature?: number
  readonly topP?: number
  /** In tokens. */
  readonly maxOutputTokens?: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly seed?: number
  /** Options of one provider, passed on unread. */
  readonly provider?: Readonly<Record<string, unknown>>
}

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/** What a model is asked. */
export interface ModelRequest {
  readonly instructions: Instructions
  readonly history: History
  readonly tools: Tools<unknown, unknown>
  readonly toolChoice: ToolChoice
  /** The JSON Schema that the answer must fit, if there is one. */
  readonly output: object | undefined
  readonly options: ModelOptions
  /** What the call is for: `"agent"`, or what a handler that calls the model on its own account says. */
  readonly purpose: string
}

/** A piece of the answer. Adjacent pieces are one text, up to one with `metadata`, which ends it. */
export interface TextPart {
  readonly _tag: "Text"
  readonly text: string
  readonly metadata?: Message.Metadata
}
/** A piece of thought. `metadata` comes with the last piece. */
export interface ReasoningPart {
  readonly _tag: "Reasoning"
  readonly text: string
  readonly metadata?: Message.Metadata
}
/** A tool call, complete. */
export interface ToolCallPart {
  readonly _tag: "ToolCall"
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  readonly metadata?: Message.Metadata
  /** How it ended, where that is known already: a provider has run the tool itself. */
  readonly outcome?: Message.ToolOutcome
}
/** The end of the reply. */
export interface FinishPart {
  readonly _tag: "Finish"
  readonly reason: FinishReason
  readonly usage?: Usage
  readonly metadata?: Message.Metadata
  /** The tools that this reply was offered: the agent notes them, to run no other. */
  readonly offered?: Tools<unknown, unknown>
}

/** What a model call emits. */
export type ModelPart = TextPart | ReasoningPart | ToolCallPart | FinishPart

/**
 * Why the model stopped. After `"length"`, the limit of tokens, an agent runs none of the calls of the reply; after
 * `"pause"`, which a provider takes that runs tools itself, it asks the model to go on.
 */
export type FinishReason = "stop" | "tool-calls" | "length" | "pause" | "content-filter" | "other"

/** Tokens that were paid for. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** No tokens. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 }

/** The sum of two usages. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens
})

/** What a model answered: the fold of its parts. */
export interface ModelReply {
  readonly content: Message.AssistantMessage["content"]
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly metadata?: Message.Metadata
  readonly offered?: Tools<unknown, unknown>
}

/** A model call, as handlers pass it on. */
export type ModelCall<E = ModelError, R = never> = Call.Call<ModelPart, ModelReply, E, R>

/** What a model is: one request to one call. */
export interface Service {
  readonly call: (request: ModelRequest) => ModelCall
}

/** A model. */
export class ChatModel extends Context.Tag("@heddle/core/ChatModel")<ChatModel, Service>() {}

/** A layer with a model that is one function. */
export const layer = (call: (request: ModelRequest) => ModelCall): Layer.Layer<ChatModel> =>
  Layer.succeed(ChatModel, { call })

/** Whether contents stand as the fold of parts leaves them: none empty, none to be joined. */
const isNormal = (content: ModelReply["content"]): boolean =>
  content.every((part, i) => {
    if (part._tag === "ToolCall") return true
    const before = content[i - 1]
    const joins = before?._tag === part._tag && before.metadata === undefined
    return !joins && (part.text !== "" || part.metadata !== undefined)
  })

/** How parts make up a reply. */
export const fold: Call.Fold<ModelPart, ModelReply> = {
  normal: (reply) => {
    if (isNormal(reply.content)) return reply
    const parts = fold.make()
    fold.whole(reply).forEach(parts.add)
    return parts.value()
  },
  make: () => {
    let content: Array<ModelReply["content"][number]> = []
    // Text that comes in pieces is joined here; it becomes a content when something else comes.
    let text = ""
    let finish: FinishPart | undefined
    let hasCalls = false
    const settleText = (metadata?: Message.Metadata) => {
      if (metadata !== undefined) content.push({ _tag: "Text", text, metadata })
      else if (text !== "") content.push({ _tag: "Text", text })
      text = ""
    }
    const addReasoning = (part: ReasoningPart) => {
      const last = content[content.length - 1]
      // A signed thought is complete; what follows is another one.
      if (last?._tag === "Reasoning" && last.metadata === undefined) {
        content[content.length - 1] = { ...part, text: last.text + part.text }
      } else if (part.text !== "" || part.metadata !== undefined) content.push(part)
    }
    return {
      add: (part) => {
        if (part._tag === "Text") {
          text += part.text
          if (part.metadata !== undefined) settleText(part.metadata)
          return
        }
        if (part._tag === "Finish") {
          finish = part
          return
        }
        settleText()
        if (part._tag === "Reasoning") addReasoning(part)
        else {
          hasCalls = true
          content.push({ ...part, outcome: part.outcome ?? Message.pending })
        }
      },
      reset: () => {
        content = []
        text = ""
        finish = undefined
        hasCalls = false
      },
      value: () => {
        settleText()
        return {
          content,
          finishReason: finish?.reason ?? (hasCalls ? "tool-calls" : "stop"),
          usage: finish?.usage ?? noUsage,
          ...(finish?.metadata && { metadata: finish.metadata }),
          ...(finish?.offered && { offered: finish.offered })
        }
      }
    }
  },
  whole: (reply) => [
    ...reply.content,
    {
      _tag: "Finish",
      reason: reply.finishReason,
      usage: reply.usage,
      ...(reply.metadata && { metadata: reply.metadata }),
      ...(reply.offered && { offered: reply.offered })
    }
  ]
}

// -----------------------------------------------------------------------------
// for models and handlers
// -----------------------------------------------------------------------------

/** Runs a model call for its reply. */
export const run = <E, R>(self: ModelCall<E, R>): Effect.Effect<ModelReply, E, R> => Call.run(self, fold)

/** A call that answers at once: with a text, or with tool calls and content. */
export const reply = (
  content: string | Message.AssistantMessage["content"],
  usage: Usage = noUsage
): ModelCall<never> => Call.succeed(replyValue(content, usage))

/** A reply as a value. */
export const replyValue = (
  content: string | Message.AssistantMessage["content"],
  usage: Usage = noUsage
): ModelReply => {
  const list = typeof content === "string" ? Message.assistant(content).content : content
  return { content: list, finishReason: list.some((c) => c._tag === "ToolCall") ? "tool-calls" : "stop", usage }
}

/** A request with what is not said left at its default. */
export const request = (fields: Partial<ModelRequest>): ModelRequest => ({
  instructions: InstructionsModule.empty,
  history: [],
  tools: ToolsModule.empty,
  toolChoice: "auto",
  output: undefined,
  options: {},
  purpose: "agent",
  ...fields
})

/** The text of the last user message of a request. */
export const question = (request: ModelRequest): string => {
  const last = request.history.findLast((message) => message.role === "user")
  return last === undefined ? "" : Message.text(last)
}
