/**
 * Models by name: which provider a name stands for, with which of its models,
 * options and secret, is data, for everybody or for one tenant. A model is made
 * when it is first asked for, shared by all who use it, and released when nobody has
 * used it for a while.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { ModelRegistry } from "@heddle/models"
 * import { Effect, Layer } from "effect"
 *
 * const Models = ModelRegistry.layer({
 *   models: [{ name: "fast", provider: "offline", model: "offline", options: { maxToolCalls: 2 } }]
 * })
 * const Live = ModelRegistry.layerChatModel("fast").pipe(Layer.provide(Models))
 *
 * const agent = Agent.make({ name: "helper", instructions: "The office opens at nine." })
 * const program = Agent.run(agent, "When does the office open?").pipe(Effect.provide(Live))
 * ```
 */
import { ChatModel, Errors, Tenant } from "@heddle/core"
import { quoted, unknownName } from "@heddle/core/names"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import { dispatching } from "./internal/dispatching.ts"
import { checked, type Entry, type EntryWithKey, invalid } from "./internal/entry.ts"
import { Revision, Revisions } from "./internal/revisions.ts"
import { secretOf } from "./internal/secret.ts"
import { type ModelProvider, ModelUnavailable } from "./ModelProvider.ts"
import * as OfflineModel from "./OfflineModel.ts"

export { Entry, type EntryWithKey } from "./internal/entry.ts"

/** Models by name. */
export interface Service {
  /**
   * The model of a name, for a tenant; for the current `Tenant` unless said. It is held
   * until the scope closes: what is set or removed meanwhile does not touch it.
   */
  readonly get: (which: {
    readonly model: string
    readonly tenant?: string
  }) => Effect.Effect<ChatModel.Service, ModelUnavailable, Scope.Scope>
  /** Adds an entry, or replaces the one that has its tenant and name. */
  readonly set: (entry: EntryWithKey) => Effect.Effect<void, ModelUnavailable>
  /** Removes the entry with exactly this tenant, or that of everybody. Says whether there was one. */
  readonly remove: (which: { readonly name: string; readonly tenant?: string }) => Effect.Effect<boolean>
  /** All entries, or those that a tenant can use, without keys. */
  readonly list: (which?: { readonly tenant?: string }) => Effect.Effect<ReadonlyArray<Entry>>
}

/** Models by name. */
export class ModelRegistry extends Context.Tag("@heddle/models/ModelRegistry")<ModelRegistry, Service>() {}

/** What a registry begins with. */
export interface Options<R = never> {
  /** Besides `OfflineModel.provider`, which is always there. */
  readonly providers?: ReadonlyArray<ModelProvider>
  readonly models?: ReadonlyArray<EntryWithKey>
  /** How long a model is kept that nobody uses. @default "5 minutes" */
  readonly idleTimeToLive?: Duration.DurationInput
  /**
   * Puts something around each model when it is made, and is told of which entry it is.
   * What it remembers, such as a circuit or a limit, is that of this one model: shared
   * by all who use the entry, by nobody else, and released with the model.
   */
  readonly decorate?: (
    model: ChatModel.Service,
    entry: Entry
  ) => ChatModel.Service | Effect.Effect<ChatModel.Service, never, R>
}

/**
 * A registry. Fails if an entry makes no sense or names a provider that is not there;
 * a missing API key shows when the model is asked for. Keys are read with the
 * `ConfigProvider` that the layer is built with. Throws a `DefinitionError` for two
 * providers of one name.
 */
export const layer = <R = never>(
  options: Options<R> = {}
): Layer.Layer<ModelRegistry, ModelUnavailable, Exclude<R, Scope.Scope>> => {
  const providers = new Map<string, ModelProvider>()
  for (const provider of [OfflineModel.provider, ...(options.providers ?? [])]) {
    if (providers.has(provider.name)) {
      throw new Errors.DefinitionError(`Two model providers have the name ${quoted(provider.name)}.`)
    }
    providers.set(provider.name, provider)
  }
  return Layer.scoped(ModelRegistry, make(providers, options))
}

const make = <R>(
  providers: ReadonlyMap<string, ModelProvider>,
  { decorate = (model) => model, idleTimeToLive = "5 minutes", models = [] }: Options<R>
) =>
  Effect.gen(function* () {
    const revisions = new Revisions()
    const context = yield* Effect.context<Exclude<R, Scope.Scope>>()
    const configs = yield* Effect.configProviderWith(Effect.succeed)

    const build = ({ apiKey, entry }: Revision) =>
      Effect.gen(function* () {
        const { baseUrl, model, name, options = {} } = entry
        const provider = yield* providerOf(providers, entry)
        const secret = yield* secretOf(entry, apiKey, provider.apiKey, configs)
        const made = yield* provider.make({ name, model, apiKey: secret, baseUrl, options })
        const decorated = decorate(made, entry)
        return Effect.isEffect(decorated) ? yield* decorated : decorated
      })
    const shared: RcMap.RcMap<Revision, ChatModel.Service, ModelUnavailable> = yield* RcMap.make({
      idleTimeToLive,
      lookup: (revision: Revision) =>
        build(revision).pipe(
          // A model is everybody's: it must not see for whom it was first made.
          Effect.mapInputContext(
            (own: Context.Context<Scope.Scope>) =>
              // All that `R` is but the scope, and the scope.
              Context.add(context, Scope.Scope, Context.get(own, Scope.Scope)) as Context.Context<R | Scope.Scope>
          ),
          // What could not be made is made anew next time.
          Effect.onError(() => {
            revisions.renew(revision)
            return RcMap.invalidate(shared, revision)
          })
        )
    })
    /** Changes the revisions. The one that was in force before is left to those who hold it. */
    const change = (f: () => Revision | undefined) =>
      Effect.suspend(() => {
        const before = f()
        return before === undefined ? Effect.succeed(false) : Effect.as(RcMap.invalidate(shared, before), true)
      }).pipe(Effect.uninterruptible)

    const revisionOf = (given: EntryWithKey): Effect.Effect<Revision, ModelUnavailable> =>
      Effect.suspend(() => checked(given)).pipe(
        Effect.map(() => new Revision(given)),
        Effect.tap(({ entry }) => providerOf(providers, entry))
      )

    for (const given of models) {
      const revision = yield* revisionOf(given)
      const { name, tenant } = revision.entry
      if (revisions.at(tenant, name) !== undefined) yield* invalid(name, ["there are two of them"])
      revisions.set(revision)
    }
    return ModelRegistry.of({
      get: ({ model, tenant }) =>
        Effect.flatMap(tenant === undefined ? Tenant.Tenant : Effect.succeed(tenant), (tenant) => {
          const revision = revisions.find(tenant, model)
          return revision === undefined ? unknownModel(model, tenant, revisions) : RcMap.get(shared, revision)
        }),
      set: (entry) =>
        Effect.flatMap(revisionOf(entry), (revision) => Effect.asVoid(change(() => revisions.set(revision)))),
      remove: ({ name, tenant }) => change(() => revisions.delete(tenant, name)),
      list: (which) => Effect.sync(() => revisions.entries(which?.tenant))
    })
  })

const providerOf = (
  providers: ReadonlyMap<string, ModelProvider>,
  entry: Entry
): Effect.Effect<ModelProvider, ModelUnavailable> => {
  const provider = providers.get(entry.provider)
  if (provider !== undefined) return Effect.succeed(provider)
  const unknown = unknownName("provider", entry.provider, [...providers.keys()])
  return new ModelUnavailable({
    reason: "UnknownProvider",
    model: entry.name,
    message: `The entry of the model ${quoted(entry.name)} has an ${unknown} (providers are given to ModelRegistry.layer)`
  })
}

const unknownModel = (model: string, tenant: string, revisions: Revisions): Effect.Effect<never, ModelUnavailable> => {
  const known = revisions.entries(tenant).map((entry) => entry.name)
  const unknown = unknownName("model", model, known)
  return new ModelUnavailable({
    reason: "UnknownModel",
    model,
    message: `For tenant ${quoted(tenant)}, ${unknown} (models are entries of the ModelRegistry)`
  })
}

// -----------------------------------------------------------------------------
// as a chat model
// -----------------------------------------------------------------------------

/**
 * The models of the registry as one: a call goes to the model that `options.model`
 * names, or to the default, as the current tenant has it, and holds that model while
 * it lasts. A model that cannot be had fails the call with a `ModelError`, whose cause
 * is the `ModelUnavailable`: `Authentication` where the API key is missing, else
 * `BadRequest`.
 */
export const layerChatModel = (defaultModel: string): Layer.Layer<ChatModel.ChatModel, never, ModelRegistry> =>
  Layer.effect(
    ChatModel.ChatModel,
    Effect.map(ModelRegistry, (registry) => dispatching(registry, (options) => options.model ?? defaultModel))
  )

/** One model of the registry, whatever a request names: for `ModelDecorator.fallback` and `route`. It is looked up at each call, as for `layerChatModel`. */
export const named = (registry: Service, model: string): ChatModel.Service => dispatching(registry, () => model)
