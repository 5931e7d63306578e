/**
 * Which model answers, and why: the closest one who says it.
 */
import { quoted, unknownName } from "@heddle/core/names"
import type { ModelProvider, ModelRegistry } from "@heddle/models"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Config } from "../config.ts"
import { Environment, type Service, variable } from "../Environment.ts"
import { Project } from "../Project.ts"
import { sentence } from "../text.ts"
import { lookForKeys, lookForOllama, ollamaBaseUrl } from "./detect.ts"

/** A model, and who has said so. */
export interface Choice {
  /** `provider/model`, or a name in `models` of the configuration. */
  readonly model: string
  /** Who has said so, for a person: `--model`, a path, `HEDDLE_MODEL`, or what was found. */
  readonly from: string
}

/** A model that works without a key and without a network. */
export const offline = "offline/offline"

/** Why the offline model answers where nobody has asked for it. */
export const nothing = "no other model was found"

/** The model of agents that name none. `said` is `--model`. */
export const choose = (said: string | undefined): Effect.Effect<Choice, never, Project | Environment> =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const { config, saidBy } = yield* Project
    if (said !== undefined) return { model: said, from: "--model" }
    const variables = variable(environment, "HEDDLE_MODEL")
    if (variables !== undefined) return { model: variables, from: "HEDDLE_MODEL" }
    if (config.model !== undefined) return { model: config.model, from: saidBy.model ?? "the configuration" }
    for (const { model, what } of yield* lookForKeys) if (model !== undefined) return { model, from: what }
    const { model, what } = yield* lookForOllama
    if (model !== undefined) return { model, from: what }
    return { model: offline, from: nothing }
  })

/** The models that can be named. */
export interface Models {
  /** What a name stands for, or what is wrong with it. */
  readonly entry: (name: string) => Either.Either<ModelRegistry.Entry, string>
  /** What a registry begins with: the models of the configuration and of the names, without those that make no sense. That is told where one is asked for. */
  readonly entries: (names: Iterable<string>) => ReadonlyArray<ModelRegistry.Entry>
}

/** The models that can be named: those of the configuration, and any of a provider. */
export const models = (
  { models: configured = [] }: Config,
  providers: ReadonlyArray<ModelProvider.ModelProvider>,
  environment: Pick<Service, "variables">
): Models => {
  const byName = new Map<string, ModelRegistry.Entry>(configured.map((entry) => [entry.name, entry]))
  const byProvider = new Map(providers.map((provider) => [provider.name, provider]))
  const known = ["offline", ...byProvider.keys()]

  const named = (name: string): Either.Either<ModelRegistry.Entry, string> => {
    const configured = byName.get(name)
    if (configured !== undefined) {
      return known.includes(configured.provider)
        ? Either.right(configured)
        : Either.left(
            `the model ${quoted(name)} of the configuration has an ${unknownName("provider", configured.provider, known)}`
          )
    }
    const slash = name.indexOf("/")
    const provider = name.slice(0, Math.max(0, slash))
    const model = name.slice(slash + 1)
    if (slash < 0 || model === "") {
      return Either.left(
        `${sentence(byName.size === 0 ? `unknown model ${quoted(name)}` : unknownName("model", name, [...byName.keys()]))} ` +
          `A model is named provider/model, such as ${offline} or anthropic/claude-haiku-4-5, or stands in "models" of the configuration.`
      )
    }
    if (!known.includes(provider)) {
      return Either.left(`the model ${quoted(name)} has an ${unknownName("provider", provider, known)}`)
    }
    return Either.right({ name, provider, model, ...(provider === "ollama" && ofOllama(environment)) })
  }

  /** The variable that the key of an entry has to be in, if it has to be and is not. */
  const missing = (entry: ModelRegistry.Entry): string | undefined => {
    const usual = byProvider.get(entry.provider)?.apiKey
    const wanted =
      entry.apiKeyFrom ?? (usual?.optional === true || entry.baseUrl !== undefined ? undefined : usual?.from)
    return wanted === undefined || variable(environment, wanted) !== undefined ? undefined : wanted
  }

  return {
    entry: (name) =>
      Either.flatMap(named(name), (entry) => {
        const key = missing(entry)
        return key === undefined
          ? Either.right(entry)
          : Either.left(`the model ${quoted(name)} needs an API key: set the environment variable ${key}`)
      }),
    entries: (names) => {
      const all = new Map<string, ModelRegistry.Entry>()
      for (const name of [...byName.keys(), ...names]) {
        const entry = named(name)
        if (Either.isRight(entry)) all.set(name, entry.right)
      }
      return [...all.values()]
    }
  }
}

/** Ollama, where the environment says that it is. */
const ofOllama = (environment: Pick<Service, "variables">): Partial<ModelRegistry.Entry> => {
  const baseUrl = variable(environment, "OLLAMA_HOST") === undefined ? undefined : ollamaBaseUrl(environment)
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(variable(environment, "OLLAMA_API_KEY") !== undefined && { apiKeyFrom: "OLLAMA_API_KEY" })
  }
}
