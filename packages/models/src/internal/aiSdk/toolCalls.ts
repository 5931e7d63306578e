/**
 * The calls of a reply, those that the provider runs itself among them.
 */
import type { LanguageModelV3ToolCall, LanguageModelV3ToolResult } from "@ai-sdk/provider"
import { type ChatModel, Message } from "@heddle/core"
import { own } from "./prompt.ts"

/** The arguments; the text itself where it is no JSON, so that the model is told what is wrong with it. */
const argumentsOf = (input: string): unknown => {
  if (input.trim() === "") return {}
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** A call as it was made. */
export const toolCall = (call: LanguageModelV3ToolCall): ChatModel.ToolCallPart => ({
  _tag: "ToolCall",
  id: call.toolCallId,
  name: call.toolName,
  arguments: argumentsOf(call.input),
  ...(call.providerMetadata && { metadata: call.providerMetadata })
})

/** A call that the provider has run itself, with how it ended. */
export const executedCall = (
  call: LanguageModelV3ToolCall,
  result: LanguageModelV3ToolResult | undefined
): ChatModel.ToolCallPart => ({
  ...toolCall(call),
  outcome: outcome(result),
  metadata: {
    ...call.providerMetadata,
    [own]: {
      providerExecuted: true,
      ...(call.dynamic === true && { dynamic: true }),
      ...(result && { result: result.providerMetadata ? { metadata: result.providerMetadata } : {} })
    }
  }
})

const outcome = (result: LanguageModelV3ToolResult | undefined): Message.ToolOutcome => {
  if (result === undefined) return Message.failed("The provider has not said how this call ended.")
  return result.isError === true
    ? Message.failed("The tool of the provider failed.", result.result)
    : Message.succeeded(result.result)
}
