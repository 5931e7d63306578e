/**
 * A prompt of @effect/ai as instructions and a history.
 */
import type * as Prompt from "@effect/ai/Prompt"
import { History, Instructions, Message } from "@heddle/core"
import * as Encoding from "effect/Encoding"
import { field, fromTheirs } from "./metadata.ts"

const data = (data: string | Uint8Array | URL): string =>
  typeof data === "string" ? data : data instanceof URL ? data.href : Encoding.encodeBase64(data)

const user = (message: Prompt.UserMessage): Message.UserMessage => ({
  role: "user",
  content: message.content.map((part) =>
    part.type === "text"
      ? { _tag: "Text", text: part.text }
      : {
          _tag: "File",
          mediaType: part.mediaType,
          data: data(part.data),
          ...(part.fileName !== undefined && { name: part.fileName })
        }
  ),
  ...field(fromTheirs(message.options))
})

const outcome = (part: Prompt.ToolResultPart): Message.ToolOutcome => {
  if (!part.isFailure) return Message.succeeded(part.result)
  return typeof part.result === "string"
    ? Message.failed(part.result)
    : Message.failed(`Tool "${part.name}" failed.`, part.result)
}

const assistantPart = (
  part: Prompt.AssistantMessagePart
): ReadonlyArray<Message.AssistantMessage["content"][number]> => {
  switch (part.type) {
    case "text":
      return [{ _tag: "Text", text: part.text, ...field(fromTheirs(part.options)) }]
    case "reasoning":
      return [{ _tag: "Reasoning", text: part.text, ...field(fromTheirs(part.options)) }]
    case "tool-call":
      return [{ ...Message.toolCall(part.id, part.name, part.params), ...field(fromTheirs(part.options)) }]
    default:
      return []
  }
}

/** Gives a result to the last call of its id that has none. A result without a call is left out. */
const settleLast = (history: History.History, part: Prompt.ToolResultPart): History.History => {
  const waits = (content: Message.Message["content"][number]) =>
    content._tag === "ToolCall" && content.id === part.id && content.outcome._tag === "Pending"
  const at = history.findLastIndex((message) => message.role === "assistant" && message.content.some(waits))
  return history.map((message, i) =>
    i === at && message.role === "assistant"
      ? {
          ...message,
          content: message.content.map((content) =>
            content._tag === "ToolCall" && waits(content) ? { ...content, outcome: outcome(part) } : content
          )
        }
      : message
  )
}

const results = (message: Prompt.Message): ReadonlyArray<Prompt.ToolResultPart> =>
  message.role === "tool"
    ? message.content
    : message.role === "assistant"
      ? message.content.filter((part) => part.type === "tool-result")
      : []

/** What was said: a call that was never answered is cancelled. */
export const toHistory = (prompt: Prompt.Prompt): History.History => {
  let history: History.History = []
  for (const message of prompt.content) {
    if (message.role === "user") history = [...history, user(message)]
    if (message.role === "assistant") {
      const content = message.content.flatMap(assistantPart)
      history = [...history, { role: "assistant", content, ...field(fromTheirs(message.options)) }]
    }
    for (const part of results(message)) history = settleLast(history, part)
  }
  return History.settle(history)
}

/** What the system messages say, a section for each. */
export const toInstructions = (prompt: Prompt.Prompt): Instructions.Instructions =>
  Instructions.fromSections(
    prompt.content.flatMap((message) =>
      message.role === "system" ? [{ source: "system", text: message.content }] : []
    )
  )
