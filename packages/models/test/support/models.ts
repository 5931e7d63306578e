/**
 * The AI SDK's providers, as a registry would make them, before a server on the
 * loopback.
 */
import type { ChatModel } from "@heddle/core"
import type { ModelProvider } from "@heddle/models"
import * as aiSdk from "@heddle/models/aiSdk"
import { Effect, Redacted } from "effect"

export const key = "sk-test-0123456789abcdef"

export interface Provider {
  readonly provider: ModelProvider.ModelProvider
  readonly model: string
  readonly path: string
  readonly options: Readonly<Record<string, unknown>>
}

const provider = (
  provider: ModelProvider.ModelProvider,
  model: string,
  path = "/v1",
  options: Readonly<Record<string, unknown>> = {}
): Provider => ({ provider, model, path, options })

export const providers = {
  "openai, responses": provider(aiSdk.openai, "gpt-5"),
  "openai, chat": provider(aiSdk.openai, "gpt-4o", "/v1", { api: "chat" }),
  anthropic: provider(aiSdk.anthropic, "claude-sonnet-4-5"),
  google: provider(aiSdk.google, "gemini-2.5-flash", "/v1beta"),
  "openai-compatible": provider(aiSdk.openaiCompatible, "llama3.2"),
  ollama: provider(aiSdk.ollama, "llama3.2")
} as const

/** A model of a provider whose server stands at an address. */
export const modelAt = (
  url: string,
  { model, options, path, provider }: Provider,
  apiKey: string | undefined = key
): Effect.Effect<ChatModel.Service> =>
  provider
    .make({
      name: "tested",
      model,
      apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey),
      baseUrl: `${url}${path}`,
      options
    })
    .pipe(Effect.scoped, Effect.orDie)
