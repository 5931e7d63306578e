/**
 * A request in the shape of the AI SDK's provider specification.
 */
import type {
  JSONSchema7,
  JSONValue,
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3ProviderTool,
  LanguageModelV3ToolChoice,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions
} from "@ai-sdk/provider"
import { type ChatModel, Errors, History, Instructions, Message } from "@heddle/core"
import { isObject } from "../json.ts"

/** What is sent with every request. */
export interface Constant {
  readonly headers?: Readonly<Record<string, string>>
  readonly providerTools?: ReadonlyArray<LanguageModelV3ProviderTool>
}

type Role<R extends LanguageModelV3Message["role"]> = Extract<LanguageModelV3Message, { readonly role: R }>
type Part<R extends "user" | "assistant"> = Role<R>["content"][number]

/** The key under which metadata of a message part says what is the adapter's own, and no provider's. */
export const own = "aiSdk"

/** What the adapter notes with a call that the provider itself has run. */
interface OwnCall {
  readonly providerExecuted?: boolean
  readonly dynamic?: boolean
  /** There if the provider has said how the call ended, with its metadata. */
  readonly result?: { readonly metadata?: SharedV3ProviderOptions }
}

/** With the metadata of each provider, without what others have noted. */
const noted = <A extends object>(
  part: A,
  metadata: Message.Metadata | undefined
): A & { readonly providerOptions?: SharedV3ProviderOptions } => {
  if (metadata === undefined) return part
  const entries = Object.entries(metadata).filter(([key, value]) => key !== own && isObject(value))
  // What a provider has given as metadata is JSON; a provider checks what else it gets.
  return entries.length === 0
    ? part
    : { ...part, providerOptions: Object.fromEntries(entries) as SharedV3ProviderOptions }
}

const ownCall = (metadata: Message.Metadata | undefined): OwnCall => (metadata?.[own] ?? {}) as OwnCall

/** Everything of a call but its signal. Throws a `ModelError` where the request cannot be said. */
export const callOptions = (request: ChatModel.ModelRequest, constant: Constant): LanguageModelV3CallOptions => {
  const { options } = request
  const tools = [...Array.from(request.tools, toolOf), ...(constant.providerTools ?? [])]
  return {
    prompt: prompt(request),
    ...(tools.length > 0 && { tools, toolChoice: toolChoice(request.toolChoice) }),
    ...(request.output && { responseFormat: { type: "json", schema: request.output as JSONSchema7 } }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.topP !== undefined && { topP: options.topP }),
    ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
    ...(options.stopSequences && { stopSequences: Array.from(options.stopSequences) }),
    ...(options.seed !== undefined && { seed: options.seed }),
    ...(constant.headers && { headers: { ...constant.headers } }),
    ...(options.provider && { providerOptions: optionsByProvider(options.provider) })
  }
}

const optionsByProvider = (options: Readonly<Record<string, unknown>>): SharedV3ProviderOptions => {
  const flat = Object.keys(options).find((key) => !isObject(options[key]))
  if (flat !== undefined) {
    throw new Errors.ModelError({
      reason: "BadRequest",
      message:
        `The model option provider.${flat} is for no provider. ` +
        `Options stand under the name of their provider, as in { openai: { ${flat}: … } }.`
    })
  }
  return options as SharedV3ProviderOptions
}

const toolOf = (tool: { readonly name: string; readonly description: string; readonly jsonSchema: object }) => ({
  type: "function" as const,
  name: tool.name,
  description: tool.description,
  inputSchema: tool.jsonSchema as JSONSchema7
})

const toolChoice = (choice: ChatModel.ToolChoice): LanguageModelV3ToolChoice =>
  typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool }

// -----------------------------------------------------------------------------
// messages
// -----------------------------------------------------------------------------

const prompt = (request: ChatModel.ModelRequest): Array<LanguageModelV3Message> => {
  const out: Array<LanguageModelV3Message> = []
  const system = Instructions.render(request.instructions)
  if (system !== "") out.push({ role: "system", content: system })
  for (const message of History.settle(request.history)) {
    if (message.role === "user") out.push(userMessage(message))
    else pushAssistant(out, message)
  }
  return out
}

const userMessage = (message: Message.UserMessage): Role<"user"> =>
  noted({ role: "user", content: message.content.map(userPart) }, message.metadata)

const userPart = (content: Message.UserMessage["content"][number]): Part<"user"> =>
  content._tag === "Text"
    ? noted({ type: "text", text: content.text }, content.metadata)
    : {
        type: "file",
        mediaType: content.mediaType,
        data: fileData(content.data),
        ...(content.name !== undefined && { filename: content.name })
      }

/** A URL for the provider to fetch, or base64. */
const fileData = (data: string): URL | string => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(data) && URL.canParse(data)) return new URL(data)
  const inline = /^data:[^,]*;base64,/i.exec(data)
  return inline === null ? data : data.slice(inline[0].length)
}

type Said = Extract<Part<"assistant">, { readonly type: "text" | "reasoning" }>

/** What the model said and called, and then a message with what the tools answered. */
const pushAssistant = (out: Array<LanguageModelV3Message>, message: Message.AssistantMessage): void => {
  const content: Array<Part<"assistant">> = []
  const results: Array<LanguageModelV3ToolResultPart> = []
  for (const part of message.content) {
    if (part._tag === "ToolCall") pushCall(content, results, part)
    else {
      const said = noted<Said>({ type: part._tag === "Text" ? "text" : "reasoning", text: part.text }, part.metadata)
      // Empty text with nothing to it is refused by some providers.
      if (part.text !== "" || said.providerOptions !== undefined) content.push(said)
    }
  }
  if (content.length > 0) out.push({ role: "assistant", content })
  if (results.length > 0) out.push({ role: "tool", content: results })
}

const pushCall = (
  content: Array<Part<"assistant">>,
  results: Array<LanguageModelV3ToolResultPart>,
  { arguments: input, id, metadata, name, outcome }: Message.ToolCall
): void => {
  const { providerExecuted = false, result } = ownCall(metadata)
  const call = {
    type: "tool-call" as const,
    toolCallId: id,
    toolName: name,
    // Providers refuse what is no object, and what a model wrote once stays in the history.
    input: isObject(input) ? input : { invalid: input ?? null },
    ...(providerExecuted && { providerExecuted })
  }
  content.push(noted(call, metadata))
  const answer = { type: "tool-result" as const, toolCallId: id, toolName: name }
  if (!providerExecuted) results.push({ ...answer, output: output(outcome) })
  // The provider's own result is part of what it said, and there is none if it never came.
  else if (result) content.push(noted({ ...answer, output: ownOutput(outcome) }, result.metadata))
}

/** A result that the provider gave itself, as it gave it. */
const ownOutput = (outcome: Message.ToolOutcome): LanguageModelV3ToolResultOutput =>
  outcome._tag === "Failed" && outcome.error !== undefined
    ? { type: "error-json", value: outcome.error as JSONValue }
    : output(outcome)

const output = (outcome: Message.ToolOutcome): LanguageModelV3ToolResultOutput => {
  switch (outcome._tag) {
    case "Succeeded":
      if (typeof outcome.result === "string") return { type: "text", value: outcome.result }
      // Not JSON at all where a tool gave nothing.
      if (outcome.result === undefined) return { type: "text", value: "" }
      return { type: "json", value: outcome.result as JSONValue }
    case "Failed":
      return outcome.error === undefined
        ? { type: "error-text", value: outcome.reason }
        : { type: "error-json", value: { reason: outcome.reason, error: outcome.error as JSONValue } }
    case "Denied":
      return { type: "execution-denied", reason: Message.renderOutcome(outcome) }
    case "Cancelled":
    case "Pending":
      return { type: "error-text", value: Message.renderOutcome(outcome) }
  }
}
