/**
 * Messages: plain, immutable data. A tool call carries its outcome, so a call
 * without a result and a result without a call cannot be written down.
 */
import * as Schema from "effect/Schema"

/** What a provider wants back unread, for example the signature of a thought. */
export const Metadata = Schema.Record({ key: Schema.String, value: Schema.Unknown })
export type Metadata = typeof Metadata.Type

/** Text. */
export const Text = Schema.TaggedStruct("Text", {
  text: Schema.String,
  metadata: Schema.optionalWith(Metadata, { exact: true })
})
export type Text = typeof Text.Type

/** A file, as a URL or as base64 data. */
export const File = Schema.TaggedStruct("File", {
  /** For example `image/png`. */
  mediaType: Schema.String,
  /** A URL, or base64. */
  data: Schema.String,
  name: Schema.optionalWith(Schema.String, { exact: true })
})
export type File = typeof File.Type

/** What the model thought. */
export const Reasoning = Schema.TaggedStruct("Reasoning", {
  text: Schema.String,
  metadata: Schema.optionalWith(Metadata, { exact: true })
})
export type Reasoning = typeof Reasoning.Type

/** The tool has not answered yet. */
export const Pending = Schema.TaggedStruct("Pending", {})
/** The tool answered. `result` is JSON: a string, or what its success schema encodes to. */
export const Succeeded = Schema.TaggedStruct("Succeeded", { result: Schema.Unknown })
/** The call failed, and `reason` tells the model why. `error` is the encoded failure of the tool, if it has one. */
export const Failed = Schema.TaggedStruct("Failed", {
  reason: Schema.String,
  error: Schema.optionalWith(Schema.Unknown, { exact: true })
})
/** The call was interrupted. */
export const Cancelled = Schema.TaggedStruct("Cancelled", {})
/** The call was not allowed. */
export const Denied = Schema.TaggedStruct("Denied", { reason: Schema.String })

/** How a tool call ended, or that it has not yet. */
export const ToolOutcome = Schema.Union(Pending, Succeeded, Failed, Cancelled, Denied)
export type ToolOutcome = typeof ToolOutcome.Type

/** A call of a tool, with its outcome. */
export const ToolCall = Schema.TaggedStruct("ToolCall", {
  id: Schema.String,
  name: Schema.String,
  /** The arguments as the model gave them: JSON. */
  arguments: Schema.Unknown,
  outcome: ToolOutcome,
  metadata: Schema.optionalWith(Metadata, { exact: true })
})
export type ToolCall = typeof ToolCall.Type

/** What a user says. */
export const UserMessage = Schema.Struct({
  role: Schema.Literal("user"),
  content: Schema.Array(Schema.Union(Text, File)),
  metadata: Schema.optionalWith(Metadata, { exact: true })
})
export type UserMessage = typeof UserMessage.Type

/** What the model says, thinks and calls, in its order. */
export const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.Array(Schema.Union(Text, Reasoning, ToolCall)),
  metadata: Schema.optionalWith(Metadata, { exact: true })
})
export type AssistantMessage = typeof AssistantMessage.Type

/** A message of either side. Instructions are not messages: see `Instructions`. */
export const Message = Schema.Union(UserMessage, AssistantMessage)
export type Message = typeof Message.Type

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/** A user's message, from text or from content. */
export const user = (content: string | UserMessage["content"]): UserMessage => ({
  role: "user",
  content: typeof content === "string" ? [{ _tag: "Text", text: content }] : content
})

/** A model's message, from text or from content. */
export const assistant = (content: string | AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  content: typeof content === "string" ? [{ _tag: "Text", text: content }] : content
})

/** A tool call. Without an outcome it is pending. */
export const toolCall = (id: string, name: string, args: unknown, outcome: ToolOutcome = pending): ToolCall => ({
  _tag: "ToolCall",
  id,
  name,
  arguments: args,
  outcome
})

/** Not answered yet. */
export const pending: ToolOutcome = { _tag: "Pending" }
/** Interrupted. */
export const cancelled: ToolOutcome = { _tag: "Cancelled" }
/** Answered, with JSON. */
export const succeeded = (result: unknown): ToolOutcome => ({ _tag: "Succeeded", result })
/** Failed, with the reason that the model is told. */
export const failed = (reason: string, error?: unknown): ToolOutcome =>
  error === undefined ? { _tag: "Failed", reason } : { _tag: "Failed", reason, error }
/** Not allowed, with the reason that the model is told. */
export const denied = (reason: string): ToolOutcome => ({ _tag: "Denied", reason })

// -----------------------------------------------------------------------------
// reading
// -----------------------------------------------------------------------------

/** The text of a message, without thoughts, files and calls. */
export const text = (message: Message): string => {
  let out = ""
  for (const content of message.content) if (content._tag === "Text") out += content.text
  return out
}

/** The tool calls of a message, in order. */
export const toolCalls = (message: Message): ReadonlyArray<ToolCall> =>
  message.role === "user" ? [] : message.content.filter((content) => content._tag === "ToolCall")

/** What the model is told of an outcome. A result that is no string is given as JSON. */
export const renderOutcome = (outcome: ToolOutcome): string => {
  switch (outcome._tag) {
    case "Succeeded":
      return typeof outcome.result === "string" ? outcome.result : (JSON.stringify(outcome.result) ?? "")
    case "Failed":
      return outcome.error === undefined ? outcome.reason : `${outcome.reason} ${JSON.stringify(outcome.error)}`
    case "Denied":
      return `The call was not allowed: ${outcome.reason}`
    case "Cancelled":
      return "The call was cancelled."
    case "Pending":
      return "The call has not been answered yet."
  }
}

/** Whether a value has the shape of a message: its role and a list of content. Content is not looked into. */
export const isMessage = (u: unknown): u is Message =>
  typeof u === "object" &&
  u !== null &&
  "role" in u &&
  (u.role === "user" || u.role === "assistant") &&
  "content" in u &&
  Array.isArray(u.content)
