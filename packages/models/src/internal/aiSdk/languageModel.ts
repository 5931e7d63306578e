/**
 * A language model of the AI SDK as a chat model.
 */
import type { LanguageModelV3, LanguageModelV3ProviderTool } from "@ai-sdk/provider"
import type { ChatModel } from "@heddle/core"
import * as Redacted from "effect/Redacted"
import { call } from "./call.ts"
import { callOptions } from "./prompt.ts"

/** How a language model is called. */
export interface Options {
  /** What holds where a request says nothing. Options of a provider are merged with those of the request. */
  readonly defaults?: ChatModel.ModelOptions
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Tools that the provider itself runs, such as a web search; they are offered beside those of the agent. */
  readonly providerTools?: ReadonlyArray<LanguageModelV3ProviderTool>
  /** What the message of an error never says, whatever the provider does. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** A language model of the AI SDK as a chat model. */
export const fromLanguageModel = (model: LanguageModelV3, options: Options = {}): ChatModel.Service => {
  const { defaults } = options
  const secrets = options.secrets?.map(Redacted.value) ?? []
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
