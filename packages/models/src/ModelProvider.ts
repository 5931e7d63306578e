/**
 * What makes the models of one provider, for a `ModelRegistry`: a name and a
 * function of the settings. The registry finds the secret, holds what is made and
 * releases it.
 *
 * @example
 * ```ts
 * import { ChatModel } from "@heddle/core"
 * import type { ModelProvider } from "@heddle/models"
 * import { Effect } from "effect"
 *
 * const parrots: ModelProvider.ModelProvider = {
 *   name: "parrots",
 *   apiKey: { from: "PARROTS_API_KEY" },
 *   make: ({ model }) =>
 *     Effect.succeed({ call: (request) => ChatModel.reply(`${model} says: ${ChatModel.question(request)}`) })
 * }
 * ```
 */
import type { ChatModel } from "@heddle/core"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"

/** Makes the models of a provider. */
export interface ModelProvider {
  readonly name: string
  /** The secret that its models need. Missing: none, unless an entry names one. */
  readonly apiKey?: ProviderKey
  /**
   * Makes a model. What it takes is released with the scope, when nobody has used the
   * model for a while. No request is made here: a key that is wrong shows in a call.
   */
  readonly make: (settings: ProviderSettings) => Effect.Effect<ChatModel.Service, ModelUnavailable, Scope.Scope>
}

/** Where the secret of a provider is, for entries that do not say. */
export interface ProviderKey {
  /** The name of the environment variable, or of whatever the `ConfigProvider` reads: `"OPENAI_API_KEY"`. */
  readonly from: string
  /** Whether there are models without one. @default false */
  readonly optional?: boolean
}

/** What a provider is told of a model. */
export interface ProviderSettings {
  /** What the registry calls the model, for messages. */
  readonly name: string
  /** What the provider calls it. */
  readonly model: string
  /** The only secret to use: a provider looks for no other, in the environment or elsewhere. */
  readonly apiKey: Redacted.Redacted | undefined
  /** Missing: the provider's own address. */
  readonly baseUrl: string | undefined
  /** The provider's options, which nobody else has read: they may be anything. */
  readonly options: Readonly<Record<string, unknown>>
}

/** Why there is no such model. A closed list, so that a program can decide by it. */
export type ModelUnavailableReason =
  /** No entry of this name that the tenant can see. */
  | "UnknownModel"
  /** An entry's provider is not registered. */
  | "UnknownProvider"
  /** The API key is not where it should be, or what is there cannot be one. */
  | "MissingSecret"
  /** A package that the provider needs is not installed, or in a version that does not fit. */
  | "MissingPackage"
  /** An entry, or the provider's options in it, make no sense. */
  | "InvalidOptions"

/** A model that cannot be had. The message names the setting, and how to set it; it never has a secret in it. */
export class ModelUnavailable extends Data.TaggedError("ModelUnavailable")<{
  readonly reason: ModelUnavailableReason
  /** What the registry calls the model. */
  readonly model: string
  readonly message: string
  readonly cause?: unknown
}> {}
