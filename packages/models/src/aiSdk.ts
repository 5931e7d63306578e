/**
 * Models of the AI SDK's providers: whatever implements its specification
 * `LanguageModelV3`, as a `ChatModel`. OpenAI, Anthropic, Google and servers
 * that speak OpenAI's language (Ollama, vLLM, llama.cpp) are there by name, for a
 * registry. Packages of providers are loaded when one of their models is made.
 *
 * @example
 * ```ts
 * import { anthropic } from "@ai-sdk/anthropic"
 * import { Agent, ChatModel } from "@heddle/core"
 * import * as aiSdk from "@heddle/models/aiSdk"
 * import { Effect } from "effect"
 *
 * const model = aiSdk.fromLanguageModel(anthropic("claude-sonnet-4-5"), {
 *   defaults: { maxOutputTokens: 4096, provider: { anthropic: { thinking: { type: "enabled", budgetTokens: 2048 } } } }
 * })
 * const program = Agent.run(Agent.make({ name: "helper" }), "Hello").pipe(
 *   Effect.provideService(ChatModel.ChatModel, model)
 * )
 * ```
 *
 * @example
 * ```ts
 * import { ModelRegistry } from "@heddle/models"
 * import * as aiSdk from "@heddle/models/aiSdk"
 *
 * const Models = ModelRegistry.layer({
 *   providers: [aiSdk.openai, aiSdk.ollama],
 *   models: [
 *     { name: "clever", provider: "openai", model: "gpt-5", options: { provider: { openai: { reasoningEffort: "low" } } } },
 *     { name: "local", provider: "ollama", model: "llama3.2", options: { temperature: 0 } }
 *   ]
 * })
 * ```
 */
import type { ModelProvider } from "./ModelProvider.ts"
import { CommonOptions, CompatibleOptions, define, OpenAiOptions, type Package } from "./internal/aiSdk/providers.ts"

export { type EmbeddingOptions, embeddingModel } from "./internal/aiSdk/embedding.ts"
export { fromLanguageModel, type Options } from "./internal/aiSdk/languageModel.ts"

/** OpenAI, by its responses interface, or the one of chats with the option `api: "chat"`. */
export const openai: ModelProvider = define({
  name: "openai",
  apiKey: { from: "OPENAI_API_KEY" },
  options: OpenAiOptions,
  package: { name: "@ai-sdk/openai", version: "3", load: () => import("@ai-sdk/openai") },
  languageModel: ({ createOpenAI }, { model }, plain, { api, organization, project }) => {
    const provider = createOpenAI({ ...plain, ...(organization && { organization }), ...(project && { project }) })
    return api === "chat" ? provider.chat(model) : provider.responses(model)
  }
})

/** Anthropic. */
export const anthropic: ModelProvider = define({
  name: "anthropic",
  apiKey: { from: "ANTHROPIC_API_KEY" },
  options: CommonOptions,
  package: { name: "@ai-sdk/anthropic", version: "3", load: () => import("@ai-sdk/anthropic") },
  languageModel: ({ createAnthropic }, { model }, plain) => createAnthropic(plain)(model)
})

/** Google's Gemini. */
export const google: ModelProvider = define({
  name: "google",
  apiKey: { from: "GOOGLE_GENERATIVE_AI_API_KEY" },
  options: CommonOptions,
  package: { name: "@ai-sdk/google", version: "3", load: () => import("@ai-sdk/google") },
  languageModel: ({ createGoogleGenerativeAI }, { model }, plain) => createGoogleGenerativeAI(plain)(model)
})

const compatible: Package<typeof import("@ai-sdk/openai-compatible")> = {
  name: "@ai-sdk/openai-compatible",
  version: "2",
  load: () => import("@ai-sdk/openai-compatible")
}

/**
 * A server that speaks OpenAI's language. Its entry in the registry names its
 * address in `baseUrl`, and where its key is in `apiKeyFrom`, if it wants one.
 */
export const openaiCompatible: ModelProvider = define({
  name: "openai-compatible",
  apiKey: { from: "OPENAI_COMPATIBLE_API_KEY", optional: true },
  options: CompatibleOptions,
  package: compatible,
  refuse: ({ baseUrl }) => (baseUrl === undefined ? "baseUrl: expected the address of the server" : undefined),
  languageModel: ({ createOpenAICompatible }, { baseUrl = "", model }, plain, options) =>
    createOpenAICompatible({ ...compatibleSettings(plain, options), name: "openai-compatible", baseURL: baseUrl })(
      model
    )
})

/** Ollama, on this machine unless the entry has a `baseUrl`. */
export const ollama: ModelProvider = define({
  name: "ollama",
  apiKey: { from: "OLLAMA_API_KEY", optional: true },
  options: CompatibleOptions,
  package: compatible,
  languageModel: ({ createOpenAICompatible }, { baseUrl = "http://localhost:11434/v1", model }, plain, options) =>
    createOpenAICompatible({ ...compatibleSettings(plain, options), name: "ollama", baseURL: baseUrl })(model)
})

const compatibleSettings = (
  plain: { readonly apiKey: string; readonly headers?: Record<string, string> },
  { includeUsage = true, queryParams, structuredOutputs = true }: typeof CompatibleOptions.Type
) => ({
  ...plain,
  includeUsage,
  supportsStructuredOutputs: structuredOutputs,
  ...(queryParams && { queryParams: { ...queryParams } })
})
