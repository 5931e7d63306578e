/**
 * Instructions and a history as a prompt of @effect/ai. Its own
 * `fromResponseParts` is not used: it drops what providers want back.
 */
import * as Prompt from "@effect/ai/Prompt"
import { Instructions, Message, type History } from "@heddle/core"
import { isObject } from "../json.ts"
import { ranByProvider } from "./reply.ts"
import { toTheirs } from "./metadata.ts"

const file = ({ data, mediaType, name }: Message.File): Prompt.FilePart =>
  Prompt.makePart("file", { mediaType, data: fileData(data), ...(name !== undefined && { fileName: name }) })

/** A URL as a `URL`, the base64 of a `data:` URL or base64 as it is. */
const fileData = (data: string): string | URL => {
  const inline = /^data:[^,]*;base64,/i.exec(data)
  if (inline !== null) return data.slice(inline[0].length)
  return /^[a-z][a-z0-9+.-]*:/i.test(data) && URL.canParse(data) ? new URL(data) : data
}

const user = (message: Message.UserMessage): Prompt.UserMessage =>
  Prompt.makeMessage("user", {
    content: message.content.map((content) =>
      content._tag === "Text" ? Prompt.makePart("text", { text: content.text }) : file(content)
    ),
    options: toTheirs(message.metadata)
  })

const call = (call: Message.ToolCall): Prompt.ToolCallPart =>
  Prompt.makePart("tool-call", {
    id: call.id,
    name: call.name,
    // Providers refuse what is no object, and what a model wrote once stays in the history.
    params: isObject(call.arguments) ? call.arguments : { invalid: call.arguments ?? null },
    providerExecuted: ranByProvider(call),
    options: toTheirs(call.metadata)
  })

const result = (call: Message.ToolCall): Prompt.ToolResultPart =>
  Prompt.makePart("tool-result", {
    id: call.id,
    name: call.name,
    providerExecuted: ranByProvider(call),
    isFailure: call.outcome._tag !== "Succeeded",
    result: resultOf(call)
  })

const resultOf = ({ outcome, ...call }: Message.ToolCall): unknown => {
  if (outcome._tag === "Succeeded") return outcome.result ?? null
  // A provider gets its own failure back as it gave it.
  const own = outcome._tag === "Failed" && ranByProvider(call) ? outcome.error : undefined
  return own ?? Message.renderOutcome(outcome)
}

const assistantPart = (
  content: Message.AssistantMessage["content"][number]
): ReadonlyArray<Prompt.AssistantMessagePart> => {
  switch (content._tag) {
    case "Text":
      return content.text === "" && content.metadata === undefined
        ? []
        : [Prompt.makePart("text", { text: content.text, options: toTheirs(content.metadata) })]
    case "Reasoning":
      return [Prompt.makePart("reasoning", { text: content.text, options: toTheirs(content.metadata) })]
    case "ToolCall":
      return ranByProvider(content) ? [call(content), result(content)] : [call(content)]
  }
}

/** A message of the model, and the results of the tools that it called. */
const assistant = (message: Message.AssistantMessage): ReadonlyArray<Prompt.Message> => {
  const content = message.content.flatMap(assistantPart)
  const results = Message.toolCalls(message).filter((call) => !ranByProvider(call))
  return [
    ...(content.length === 0
      ? []
      : [Prompt.makeMessage("assistant", { content, options: toTheirs(message.metadata) })]),
    ...(results.length === 0 ? [] : [Prompt.makeMessage("tool", { content: results.map(result) })])
  ]
}

/** The prompt of a request: one system message, and every call with its result after it. */
export const toPrompt = (instructions: Instructions.Instructions, history: History.History): Prompt.Prompt => {
  const system = Instructions.render(instructions)
  return Prompt.fromMessages([
    ...(system === "" ? [] : [Prompt.makeMessage("system", { content: system })]),
    ...history.flatMap((message): ReadonlyArray<Prompt.Message> =>
      message.role === "user" ? [user(message)] : assistant(message)
    )
  ])
}
