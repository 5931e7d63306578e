/**
 * An embedding model of the AI SDK as ours.
 */
import type { EmbeddingModelV3, SharedV3ProviderOptions } from "@ai-sdk/provider"
import { EmbeddingModel, Errors } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { inHeaders, secretsOf } from "../redact.ts"
import { modelError } from "./errors.ts"
import { requireV3 } from "./languageModel.ts"

/** How an embedding model is called. */
export interface EmbeddingOptions extends EmbeddingModel.BatchOptions {
  /** Which model: missing, the names of provider and model. */
  readonly name?: string
  /** Sent with every request. Errors have no value of them that may be a key: of eight characters, or called so. */
  readonly headers?: Readonly<Record<string, string>>
  /** Options for what is embedded: some models have other vectors for questions than for documents. */
  readonly provider?: (purpose: EmbeddingModel.Purpose) => Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The key that the provider was given, for one: it is in no error then. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** An embedding model of the AI SDK as ours. Throws a `DefinitionError` for one of another version of the specification. */
export const embeddingModel = (model: EmbeddingModelV3, options: EmbeddingOptions = {}): EmbeddingModel.Service => {
  requireV3(model, "embedding model")
  const secrets = secretsOf([...(options.secrets?.map(Redacted.value) ?? []), ...inHeaders(options.headers)])
  const failure = (error: unknown) => modelError(error, secrets)
  const name = options.name ?? `${model.provider}/${model.modelId}`
  const one: EmbeddingModel.Service = {
    name,
    embed: (texts, purpose) =>
      Effect.tryPromise({
        try: async (abortSignal) => {
          const { embeddings } = await model.doEmbed({
            values: Array.from(texts),
            abortSignal,
            ...(options.headers && { headers: { ...options.headers } }),
            // A provider checks what it is given.
            ...(options.provider && { providerOptions: options.provider(purpose) as SharedV3ProviderOptions })
          })
          return vectors(name, embeddings)
        },
        catch: failure
      })
  }
  return {
    name,
    embed: (texts, purpose) =>
      Effect.flatMap(
        Effect.tryPromise({
          try: async () => [await model.maxEmbeddingsPerCall, await model.supportsParallelCalls] as const,
          catch: failure
        }),
        ([most = Number.POSITIVE_INFINITY, parallel]) =>
          EmbeddingModel.batched(one, {
            maxTexts: Math.max(1, Math.min(most, options.maxTexts ?? 96)),
            concurrency: parallel ? (options.concurrency ?? 4) : 1
          }).embed(texts, purpose)
      )
  }
}

const vectors = (name: string, embeddings: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<Float32Array> => {
  const size = embeddings[0]?.length ?? 0
  const broken = embeddings.some((numbers) => numbers.length !== size || !numbers.every(Number.isFinite))
  if (embeddings.length > 0 && (size === 0 || broken)) {
    throw new Errors.ModelError({
      reason: "InvalidResponse",
      message: `The embedding model "${name}" gave vectors that are empty, of several sizes, or not of numbers.`
    })
  }
  return embeddings.map((numbers) => Float32Array.from(numbers))
}
