/**
 * `@effect/ai` on this side, and Heddle on that one: language models, toolkits
 * and embedding models of either as those of the other. `@effect/ai` is an
 * optional peer of this module alone.
 *
 * A provider of `@effect/ai` under an agent:
 *
 * @example
 * ```ts no-run
 * import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic"
 * import { FetchHttpClient } from "@effect/platform"
 * import { Agent } from "@heddle/core"
 * import * as EffectAi from "@heddle/models/effectAi"
 * import { Config, Context, Effect, Layer } from "effect"
 *
 * const Claude = Layer.unwrapEffect(
 *   Effect.map(Config.redacted("ANTHROPIC_API_KEY"), (apiKey) =>
 *     EffectAi.layer({
 *       secrets: [apiKey],
 *       config: ({ maxOutputTokens = 4096, temperature }) =>
 *         Context.make(AnthropicLanguageModel.Config, { max_tokens: maxOutputTokens, temperature })
 *     }).pipe(
 *       Layer.provide(AnthropicLanguageModel.layer({ model: "claude-sonnet-4-5" })),
 *       Layer.provide(AnthropicClient.layer({ apiKey })),
 *       Layer.provide(FetchHttpClient.layer)
 *     )
 *   )
 * )
 *
 * const helper = Agent.make({ name: "helper", model: { temperature: 0 } })
 * const program = Agent.run(helper, "What is a heddle?").pipe(Effect.provide(Claude))
 * ```
 */
import * as AiEmbeddingModel from "@effect/ai/EmbeddingModel"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import { ChatModel, EmbeddingModel, type Tools } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as chatModel from "./internal/effectAi/chatModel.ts"
import * as embedding from "./internal/effectAi/embedding.ts"
import * as languageModel from "./internal/effectAi/languageModel.ts"
import type { AnyTools } from "./internal/effectAi/offer.ts"
import * as toolkits from "./internal/effectAi/toolkit.ts"

// -----------------------------------------------------------------------------
// language models
// -----------------------------------------------------------------------------

export type {
  /** How a language model of `@effect/ai` is asked. */
  Options
} from "./internal/effectAi/chatModel.ts"
export type {
  /** What is asked of a model of ours besides what `@effect/ai` says. */
  Settings
} from "./internal/effectAi/languageModel.ts"

/**
 * A language model of `@effect/ai` as a model of ours. Tool calls are left to
 * the agent: a call of an unknown tool and arguments that do not fit go back to
 * the model. Fails with a `ModelError` whose `cause` is the `AiError`, without
 * the headers of the request, in which `@effect/ai` leaves the key, and without
 * the `secrets` that are given.
 */
export const fromLanguageModel = (model: LanguageModel.Service, options: chatModel.Options = {}): ChatModel.Service =>
  chatModel.make(model, options)

/** The language model in the context as the model of agents. */
export const layer = (
  options?: chatModel.Options
): Layer.Layer<ChatModel.ChatModel, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    ChatModel.ChatModel,
    Effect.map(LanguageModel.LanguageModel, (model) => fromLanguageModel(model, options))
  )

/**
 * A model of ours as a language model of `@effect/ai`, which runs the tools
 * then. Fails with an `AiError` whose `cause` is the `ModelError`.
 */
export const toLanguageModel = (
  model: ChatModel.Service,
  settings: languageModel.Settings = {}
): Effect.Effect<LanguageModel.Service> => languageModel.make(model, settings)

/** The model in the context as a language model of `@effect/ai`. */
export const layerLanguageModel = (
  settings?: languageModel.Settings
): Layer.Layer<LanguageModel.LanguageModel, never, ChatModel.ChatModel> =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.flatMap(ChatModel.ChatModel, (model) => toLanguageModel(model, settings))
  )

// -----------------------------------------------------------------------------
// tools
// -----------------------------------------------------------------------------

/** What becomes of the declared failures of a toolkit. */
export interface ToolkitOptions<Mode extends "as-declared" | "return"> {
  /**
   * `"as-declared"`, the default: those of a tool with `failureMode: "return"` go
   * back to the model, those of others fail the run. `"return"`: all go back to
   * the model.
   */
  readonly failures?: Mode
}

/** What the tools of a toolkit fail a run with. */
type Raised<Tools extends Record<string, AiTool.Any>, Mode> = Mode extends "return"
  ? never
  : AiTool.HandlerError<Tools[keyof Tools]>

/**
 * A toolkit with its handlers as tools of ours, with schemas, descriptions and
 * annotations. Tools that a provider runs itself are left out; throws a
 * `DefinitionError` for a name that is no legal tool name.
 *
 * @example
 * ```ts
 * import * as AiTool from "@effect/ai/Tool"
 * import * as Toolkit from "@effect/ai/Toolkit"
 * import { Agent } from "@heddle/core"
 * import { OfflineModel } from "@heddle/models"
 * import * as EffectAi from "@heddle/models/effectAi"
 * import { Console, Effect, Schema } from "effect"
 *
 * const Clock = Toolkit.make(
 *   AiTool.make("local_time", {
 *     description: "The local time in a city.",
 *     parameters: { city: Schema.String },
 *     success: Schema.String
 *   })
 * )
 *
 * const program = Effect.gen(function* () {
 *   const tools = EffectAi.fromToolkit(yield* Clock)
 *   const { text } = yield* Agent.run(Agent.make({ name: "clock", tools }), "What is the local time in Oslo?")
 *   yield* Console.log(text)
 * })
 *
 * const ClockLive = Clock.toLayer({ local_time: ({ city }) => Effect.succeed(`The local time in ${city} is noon.`) })
 * Effect.runPromise(program.pipe(Effect.provide([ClockLive, OfflineModel.layer])))
 * ```
 */
export const fromToolkit = <
  Tools extends Record<string, AiTool.Any>,
  const Mode extends "as-declared" | "return" = "as-declared"
>(
  toolkit: Toolkit.WithHandler<Tools>,
  options: ToolkitOptions<Mode> = {}
): Tools.Tools<Raised<Tools, Mode>, AiTool.Requirements<Tools[keyof Tools]>> =>
  // The types of all tools together; inside they are those of any tool.
  toolkits.fromToolkit(
    toolkit as unknown as Toolkit.WithHandler<AnyTools>,
    options.failures === "return"
  ) as Tools.Tools<Raised<Tools, Mode>, AiTool.Requirements<Tools[keyof Tools]>>

/** A tool of ours on the other side: `E` is what it fails with. */
export type TheirTool<E> = AiTool.Tool<
  string,
  {
    readonly parameters: AiTool.EmptyParams
    readonly success: typeof Schema.Unknown
    readonly failure: Schema.Schema<E>
    readonly failureMode: "error"
  }
>

/**
 * Our tools as a toolkit with handlers, in the context at hand. Outcomes that
 * are no success are results with `isFailure`; what fails a run fails the call.
 */
export const toToolkit = <E, R>(
  tools: Tools.Tools<E, R>
): Effect.Effect<Toolkit.WithHandler<{ readonly [name: string]: TheirTool<E> }>, never, R> =>
  // What `E` is, only the types say: the schema lets everything through.
  Effect.map(
    Effect.context<R>(),
    (context) =>
      toolkits.toToolkit(tools, context) as unknown as Toolkit.WithHandler<{ readonly [name: string]: TheirTool<E> }>
  )

// -----------------------------------------------------------------------------
// embedding models
// -----------------------------------------------------------------------------

export type {
  /** What an embedding model of `@effect/ai` does not say of itself. */
  Options as EmbeddingOptions
} from "./internal/effectAi/embedding.ts"

/** An embedding model of `@effect/ai` as ours. It does not know its name, and is not told what a text is embedded for. */
export const fromEmbeddingModel = (
  model: AiEmbeddingModel.Service,
  options: embedding.Options
): EmbeddingModel.Service => embedding.fromTheirs(model, options)

/** The embedding model of `@effect/ai` in the context as ours. */
export const layerEmbedding = (
  options: embedding.Options
): Layer.Layer<EmbeddingModel.EmbeddingModel, never, AiEmbeddingModel.EmbeddingModel> =>
  Layer.effect(
    EmbeddingModel.EmbeddingModel,
    Effect.map(AiEmbeddingModel.EmbeddingModel, (model) => fromEmbeddingModel(model, options))
  )

/** An embedding model of ours as one of `@effect/ai`, which embeds for one purpose: documents unless said. */
export const toEmbeddingModel = (
  model: EmbeddingModel.Service,
  options: { readonly purpose?: EmbeddingModel.Purpose } = {}
): Effect.Effect<AiEmbeddingModel.Service> => embedding.toTheirs(model, options.purpose ?? "document")
