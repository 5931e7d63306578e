/**
 * The parts of a reply as parts of a response of @effect/ai.
 */
import type * as Response from "@effect/ai/Response"
import type { ChatModel, Message } from "@heddle/core"
import { toTheirs } from "./metadata.ts"

const finish = (reason: ChatModel.FinishReason, usage: ChatModel.Usage, metadata: Message.Metadata | undefined) => ({
  type: "finish" as const,
  reason,
  usage: { ...usage, totalTokens: usage.inputTokens + usage.outputTokens },
  metadata: toTheirs(metadata)
})

type CallParts = ReadonlyArray<Response.ToolCallPartEncoded | Response.ToolResultPartEncoded>

const toolCall = (call: Omit<ChatModel.ToolCallPart, "_tag">): CallParts => {
  const { id, name, outcome } = call
  const done = outcome !== undefined && outcome._tag !== "Pending"
  const metadata = toTheirs(call.metadata)
  const made = { type: "tool-call", id, name, params: call.arguments, providerExecuted: done, metadata } as const
  if (!done) return [made]
  const isFailure = outcome._tag !== "Succeeded"
  const result = outcome._tag === "Succeeded" ? outcome.result : outcome._tag === "Failed" ? outcome.error : undefined
  return [made, { type: "tool-result", id, name, isFailure, result, providerExecuted: true }]
}

/** A reply in one piece. */
export const fromReply = (reply: ChatModel.ModelReply): Array<Response.PartEncoded> => [
  ...reply.content.flatMap((content): ReadonlyArray<Response.PartEncoded> => {
    switch (content._tag) {
      case "Text":
        return [{ type: "text", text: content.text, metadata: toTheirs(content.metadata) }]
      case "Reasoning":
        return [{ type: "reasoning", text: content.text, metadata: toTheirs(content.metadata) }]
      case "ToolCall":
        return toolCall(content)
    }
  }),
  finish(reply.finishReason, reply.usage, reply.metadata)
]

/** Turns the parts of one reply, in their order, into those of a stream, where each text and thought has a beginning and an end. */
export const writer = () => {
  let open: "text" | "reasoning" | undefined
  let count = 0
  let called = false
  let finished = false

  const end = (metadata?: Message.Metadata): ReadonlyArray<Response.StreamPartEncoded> => {
    const kind = open
    open = undefined
    if (kind === undefined) return []
    const id = String(count++)
    return [{ type: kind === "text" ? "text-end" : "reasoning-end", id, metadata: toTheirs(metadata) }]
  }
  const begin = (kind: "text" | "reasoning"): ReadonlyArray<Response.StreamPartEncoded> => {
    if (open === kind) return []
    const before = end()
    open = kind
    const id = String(count)
    return [...before, kind === "text" ? { type: "text-start", id } : { type: "reasoning-start", id }]
  }
  return {
    write: (part: ChatModel.ModelPart): ReadonlyArray<Response.StreamPartEncoded> => {
      switch (part._tag) {
        case "Text": {
          if (part.text === "" && part.metadata === undefined) return []
          const said = [...begin("text"), { type: "text-delta", id: String(count), delta: part.text } as const]
          return part.metadata === undefined ? said : [...said, ...end(part.metadata)]
        }
        case "Reasoning": {
          const said = [
            ...begin("reasoning"),
            { type: "reasoning-delta", id: String(count), delta: part.text } as const
          ]
          return part.metadata === undefined ? said : [...said, ...end(part.metadata)]
        }
        case "ToolCall":
          called = true
          return [...end(), ...toolCall(part)]
        case "Finish":
          finished = true
          return [...end(), finish(part.reason, part.usage ?? { inputTokens: 0, outputTokens: 0 }, part.metadata)]
      }
    },
    /** What is missing of an end. */
    close: (): ReadonlyArray<Response.StreamPartEncoded> =>
      finished ? [] : [...end(), finish(called ? "tool-calls" : "stop", { inputTokens: 0, outputTokens: 0 }, undefined)]
  }
}
