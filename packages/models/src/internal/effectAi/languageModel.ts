/**
 * A model of ours as a language model of @effect/ai.
 */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import { Call, ChatModel, Errors, Tool, Tools } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { toAiError } from "./errors.ts"
import { description, jsonSchema, permissive } from "./offer.ts"
import { fromReply, writer } from "./parts.ts"
import { toHistory, toInstructions } from "./request.ts"

/** A tool to show to the model: @effect/ai runs it. */
const shown = (tool: AiTool.Any): Tool.Tool =>
  Tool.make({
    name: tool.name,
    description: description(tool),
    parameters: permissive(jsonSchema(tool)),
    execute: () => Effect.dieMessage(`The tool "${tool.name}" is run by @effect/ai.`)
  })

const request = (options: LanguageModel.ProviderOptions, settings: Settings): ChatModel.ModelRequest => {
  const foreign = options.tools.find(AiTool.isProviderDefined)
  if (foreign !== undefined) throw new Errors.DefinitionError(`The tool "${foreign.name}" is one of a provider's own.`)
  const { responseFormat, toolChoice } = options
  const choice = typeof toolChoice === "object" && "oneOf" in toolChoice ? (toolChoice.mode ?? "auto") : toolChoice
  return ChatModel.request({
    instructions: toInstructions(options.prompt),
    history: toHistory(options.prompt),
    tools: Tools.make(...options.tools.map(shown)),
    toolChoice: choice,
    output: responseFormat.type === "json" ? AiTool.getJsonSchemaFromSchemaAst(responseFormat.schema.ast) : undefined,
    ...settings
  })
}

/** What is asked of the model besides what @effect/ai says. */
export interface Settings {
  readonly options?: ChatModel.ModelOptions
  readonly purpose?: string
}

/** The language model. What its prompt or tools cannot be said with is a `MalformedInput`. */
export const make = (model: ChatModel.Service, settings: Settings): Effect.Effect<LanguageModel.Service> => {
  const call = (method: string, options: LanguageModel.ProviderOptions) =>
    Effect.try({
      try: () => model.call(request(options, settings)),
      catch: (cause) => new AiError.MalformedInput({ module: "Heddle", method, description: String(cause), cause })
    })
  return LanguageModel.make({
    generateText: (options) =>
      Effect.flatMap(call("generateText", options), (call) =>
        Effect.mapBoth(ChatModel.run(call), {
          onFailure: (error) => toAiError("generateText", error),
          onSuccess: fromReply
        })
      ),
    streamText: (options) => Stream.unwrap(Effect.map(call("streamText", options), streamed))
  })
}

const streamed = (call: ChatModel.ModelCall): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> =>
  Stream.suspend(() => {
    const target = writer()
    let said = false
    return Call.stream(call, ChatModel.fold).pipe(
      Stream.mapError((error) => toAiError("streamText", error)),
      Stream.mapConcatEffect((part) => {
        if (Call.isReset(part)) return said ? Effect.fail(takenBack) : Effect.succeed([])
        said = true
        return Effect.succeed(target.write(part))
      }),
      Stream.concat(Stream.suspend(() => Stream.fromIterable(target.close())))
    )
  })

// A stream of theirs has no word for it, and a reader would have the beginning twice.
const takenBack = new AiError.UnknownError({
  module: "Heddle",
  method: "streamText",
  description: "The model began its answer anew, which a stream of @effect/ai cannot say."
})
