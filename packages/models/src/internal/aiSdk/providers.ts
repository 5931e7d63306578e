/**
 * The AI SDK's providers for a registry. Their packages are loaded when a model
 * is made, and not before.
 */
import type { LanguageModelV3 } from "@ai-sdk/provider"
import { type ChatModel, Errors } from "@heddle/core"
import { causeText } from "@heddle/core/cause"
import { quoted } from "@heddle/core/names"
import { expecting, oneOf, optional, problems, wholeFrom } from "@heddle/core/settings"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type ModelProvider, ModelUnavailable, type ProviderKey, type ProviderSettings } from "../../ModelProvider.ts"
import { inHeaders } from "../redact.ts"
import { fromLanguageModel } from "./languageModel.ts"

const text = Schema.String.annotations(expecting("a text"))
const texts = Schema.Record({ key: Schema.String, value: text }).annotations(expecting("an object of texts"))
const number = Schema.Number.annotations(expecting("a number"))
const yes = Schema.Boolean.annotations(expecting("true or false"))

/** What a request leaves unsaid, and what is sent along. */
const common = {
  temperature: optional(number),
  topP: optional(number),
  maxOutputTokens: optional(wholeFrom(1)),
  stopSequences: optional(Schema.Array(text).annotations(expecting("a list of texts"))),
  seed: optional(Schema.Int.annotations(expecting("a whole number"))),
  provider: optional(
    Schema.Record({
      key: Schema.String,
      value: Schema.Record({ key: Schema.String, value: Schema.Unknown })
    }).annotations(expecting("options by the name of their provider, as in { openai: { … } }"))
  ),
  headers: optional(texts)
}

/** The options of the providers, as data. */
export const OpenAiOptions = Schema.Struct({
  ...common,
  /** Which of OpenAI's interfaces. @default "responses" */
  api: optional(oneOf("responses", "chat")),
  organization: optional(text),
  project: optional(text)
})
export const CommonOptions = Schema.Struct(common)
export const CompatibleOptions = Schema.Struct({
  ...common,
  queryParams: optional(texts),
  /** Whether the server keeps to a JSON Schema. Without it the model is asked for JSON alone. @default true */
  structuredOutputs: optional(yes),
  /** Whether the server is asked for the usage of a stream. @default true */
  includeUsage: optional(yes)
})

/** How to load a package, for the message where it is not there. */
export interface Package<A> {
  readonly name: string
  readonly version: string
  readonly load: () => Promise<A>
}

/** What of the settings goes to a package: without keys that are undefined, and with the key as it is. */
interface Plain {
  readonly apiKey: string
  readonly baseURL?: string
  readonly headers?: Record<string, string>
}

interface Definition<Options, Module> {
  readonly name: string
  readonly apiKey: ProviderKey
  readonly options: Schema.Schema<Options>
  readonly package: Package<Module>
  readonly languageModel: (
    module: Module,
    settings: ProviderSettings,
    plain: Plain,
    options: Options
  ) => LanguageModelV3
  /** What is wrong with the settings, if the provider needs more than others. */
  readonly refuse?: (settings: ProviderSettings) => string | undefined
}

/** A provider for a registry. */
export const define = <Options extends typeof CommonOptions.Type, Module>(
  definition: Definition<Options, Module>
): ModelProvider => ({
  name: definition.name,
  apiKey: definition.apiKey,
  make: (settings) =>
    Effect.gen(function* () {
      const options = yield* checked(definition, settings)
      yield* sendable(definition.apiKey, settings)
      const module = yield* loaded(definition.package, settings.name)
      return yield* Effect.try({
        try: () => make(definition, module, settings, options),
        catch: (cause) =>
          cause instanceof Errors.DefinitionError
            ? unfit(definition.package, settings.name, `is installed in another version: ${cause.message}`, cause)
            : // A package that refuses its settings says which.
              invalidOptions(settings.name, causeText(cause), cause)
      })
    })
})

/** A key goes in a header, which takes no line breaks, and no letters beyond Latin-1. HTTP clients say the key when they refuse it. */
const sendable = ({ from }: ProviderKey, { apiKey, name }: ProviderSettings): Effect.Effect<void, ModelUnavailable> =>
  apiKey === undefined || /^[\t\x20-\x7e\x80-\xff]*$/.test(Redacted.value(apiKey).trim())
    ? Effect.void
    : Effect.fail(
        new ModelUnavailable({
          reason: "MissingSecret",
          model: name,
          message:
            `The API key of the model ${quoted(name)} has characters that cannot be sent, such as a line break. ` +
            `Look at the variable that "apiKeyFrom" of its entry names, ${from} unless said.`
        })
      )

const invalidOptions = (model: string, what: string, cause?: unknown) =>
  new ModelUnavailable({
    reason: "InvalidOptions",
    model,
    message: `The options of the model ${quoted(model)} make no sense: ${what}`,
    ...(cause !== undefined && { cause })
  })

const checked = <Options, Module>(
  { options: schema, refuse }: Definition<Options, Module>,
  settings: ProviderSettings
): Effect.Effect<Options, ModelUnavailable> => {
  const refused = refuse?.(settings)
  const found = problems(schema, settings.options, "options")
  if (refused !== undefined || found.length > 0) {
    return Effect.fail(
      invalidOptions(settings.name, [...(refused === undefined ? [] : [refused]), ...found].join("; "))
    )
  }
  // There are no problems, and the schema changes nothing.
  return Effect.succeed(settings.options as Options)
}

/** Loads a package, or says how to install it. */
export const loaded = <A>(wanted: Package<A>, model: string): Effect.Effect<A, ModelUnavailable> =>
  Effect.tryPromise({
    try: wanted.load,
    catch: (cause) => unfit(wanted, model, "cannot be loaded.", cause)
  })

const unfit = ({ name, version }: Package<unknown>, model: string, why: string, cause: unknown) =>
  new ModelUnavailable({
    reason: "MissingPackage",
    model,
    message:
      `The model ${quoted(model)} needs the package ${name}, which ${why} ` +
      `Install it: npm install ${name}@${version}`,
    cause
  })

const make = <Options extends typeof CommonOptions.Type, Module>(
  definition: Definition<Options, Module>,
  module: Module,
  settings: ProviderSettings,
  options: Options
): ChatModel.Service => {
  const { headers, maxOutputTokens, provider, seed, stopSequences, temperature, topP } = options
  const plain: Plain = {
    // Packages look for a key in the environment where none is given.
    apiKey: settings.apiKey === undefined ? "" : Redacted.value(settings.apiKey),
    ...(settings.baseUrl !== undefined && { baseURL: settings.baseUrl }),
    ...(headers && { headers: { ...headers } })
  }
  return fromLanguageModel(definition.languageModel(module, settings, plain, options), {
    defaults: {
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(stopSequences !== undefined && { stopSequences }),
      ...(seed !== undefined && { seed }),
      ...(provider !== undefined && { provider })
    },
    secrets: [...(settings.apiKey ? [settings.apiKey] : []), ...inHeaders(headers).map((value) => Redacted.make(value))]
  })
}
