/**
 * A language model of the AI SDK as a chat model.
 */
import type { LanguageModelV3, LanguageModelV3ProviderTool } from "@ai-sdk/provider"
import { type ChatModel, Errors } from "@heddle/core"
import * as Redacted from "effect/Redacted"
import { inHeaders, secretsOf } from "../redact.ts"
import { call } from "./call.ts"
import { callOptions } from "./prompt.ts"

/** How a language model is called. */
export interface Options {
  /** What holds where a request says nothing. Options of a provider are merged with those of the request. */
  readonly defaults?: ChatModel.ModelOptions
  /** Sent with every request. Errors have no value of them that may be a key: of eight characters, or called so. */
  readonly headers?: Readonly<Record<string, string>>
  /** Tools that the provider itself runs, such as a web search; they are offered beside those of the agent. */
  readonly providerTools?: ReadonlyArray<LanguageModelV3ProviderTool>
  /**
   * The key that the provider was given, for one: errors have it neither in their message nor in their cause, whatever
   * a server repeats. The adapter cannot know it by itself.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Refuses a model that speaks another version of the specification: packages of the AI SDK before 6, or of one to come. */
export const requireV3 = (model: { readonly specificationVersion: string }, kind: string): void => {
  const { specificationVersion: version } = model
  if (version !== "v3") {
    throw new Errors.DefinitionError(
      `The ${kind} speaks ${JSON.stringify(version) ?? "no version"} of the AI SDK's specification, and only "v3" is known here.`
    )
  }
}

/** A language model of the AI SDK as a chat model. Throws a `DefinitionError` for one of another version of the specification. */
export const fromLanguageModel = (model: LanguageModelV3, options: Options = {}): ChatModel.Service => {
  requireV3(model, "language model")
  const { defaults } = options
  const secrets = secretsOf([...(options.secrets?.map(Redacted.value) ?? []), ...inHeaders(options.headers)])
  const constant = {
    ...(options.headers && { headers: options.headers }),
    ...(options.providerTools && { providerTools: options.providerTools })
  }
  return {
    call: (request) =>
      call(() => [model, callOptions(defaults ? withDefaults(request, defaults) : request, constant)], secrets)
  }
}

const withDefaults = (request: ChatModel.ModelRequest, defaults: ChatModel.ModelOptions): ChatModel.ModelRequest => {
  const { options } = request
  const provider = merged(defaults.provider, options.provider)
  return { ...request, options: { ...defaults, ...options, ...(provider && { provider }) } }
}

type ByProvider = ChatModel.ModelOptions["provider"]

const merged = (under: ByProvider, over: ByProvider): ByProvider => {
  if (under === undefined || over === undefined) return over ?? under
  const out: Record<string, unknown> = { ...under }
  for (const [name, options] of Object.entries(over)) {
    const before = out[name]
    out[name] = typeof before === "object" && typeof options === "object" ? { ...before, ...options } : options
  }
  return out
}
