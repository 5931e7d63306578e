/**
 * Finds the API key of a model. No error says anything of what was found.
 */
import { quoted } from "@heddle/core/names"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ModelUnavailable, type ProviderKey } from "../ModelProvider.ts"

/** No key looks like this, so one that stands where its name should be is refused, and not printed. */
export const environmentName = /^[A-Z_][A-Z0-9_]{0,99}$/

interface Named {
  readonly name: string
  readonly apiKeyFrom?: string
  readonly baseUrl?: string
}

/**
 * The key in the program, or in the variable that the entry names, or in the usual one
 * of the provider. That one is for the provider's own address alone.
 */
export const secretOf = (
  { apiKeyFrom, baseUrl, name }: Named,
  given: Redacted.Redacted | Config.Config<Redacted.Redacted> | undefined,
  usual: ProviderKey | undefined,
  configs: ConfigProvider.ConfigProvider
): Effect.Effect<Redacted.Redacted | undefined, ModelUnavailable> => {
  const missing = (how: string) =>
    new ModelUnavailable({
      reason: "MissingSecret",
      model: name,
      message: `The model ${quoted(name)} has no API key: ${how}`
    })
  const load = (config: Config.Config<Redacted.Redacted>, how: string) =>
    configs.load(config).pipe(
      // What a configuration error says may be what was found.
      Effect.mapError((error) => missing(how === "" ? `its Config gives none (${pathsOf(error).join(", ")}).` : how)),
      Effect.filterOrFail(
        (key) => !isBlank(key),
        () => missing(how === "" ? "its Config gives an empty text." : how)
      )
    )
  if (Redacted.isRedacted(given)) {
    return isBlank(given) ? missing("the one that is given is empty.") : Effect.succeed(given)
  }
  if (given !== undefined) return load(given, "")
  if (apiKeyFrom !== undefined) return load(Config.redacted(apiKeyFrom), `set the environment variable ${apiKeyFrom}.`)
  if (usual === undefined) return Effect.succeed(undefined)
  if (baseUrl !== undefined) {
    return usual.optional === true
      ? Effect.succeed(undefined)
      : missing(`${usual.from} is not sent to another address than the provider's own. Name the key in "apiKeyFrom".`)
  }
  const found = load(
    Config.redacted(usual.from),
    `set the environment variable ${usual.from}, or name another one in "apiKeyFrom" of its entry.`
  )
  return usual.optional === true ? Effect.orElseSucceed(found, () => undefined) : found
}

/** White space is sent as nothing. */
const isBlank = (key: Redacted.Redacted): boolean => Redacted.value(key).trim() === ""

/** The keys that a configuration error is about. */
const pathsOf = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" || error._op === "Or" ? [...pathsOf(error.left), ...pathsOf(error.right)] : [error.path.join(".")]
