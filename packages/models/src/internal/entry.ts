/**
 * The entries of a registry: what one is, and whether it makes sense.
 */
import { quoted } from "@heddle/core/names"
import { expecting, optional, problems } from "@heddle/core/settings"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ModelUnavailable } from "../ModelProvider.ts"
import { environmentName } from "./secret.ts"

const text = Schema.NonEmptyString.annotations(expecting("a text that is not empty"))

const isAddress = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { password, protocol, username } = new URL(url)
  return (protocol === "http:" || protocol === "https:") && username === "" && password === ""
}

/** What a name stands for, as data. It holds no secret, and says where one is. */
export const Entry = Schema.Struct({
  /** Whose model it is; missing: everybody's. A tenant's own model goes before that of everybody. */
  tenant: optional(text),
  name: text,
  /** The name of a `ModelProvider`. */
  provider: text,
  /** What the provider calls the model. */
  model: text,
  /** The provider's options, which the registry does not read. They are shown by `list`, so they are no place for a secret. */
  options: optional(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations(expecting("an object of options"))
  ),
  /** Another address than the provider's own. The provider's usual secret is not sent there: name one. */
  baseUrl: optional(
    Schema.String.pipe(Schema.filter(isAddress)).annotations(
      expecting("an address that begins with http:// or https://, without a user name or password")
    )
  ),
  /** The environment variable with the API key; missing: the one that the provider usually has. */
  apiKeyFrom: optional(
    Schema.String.pipe(Schema.pattern(environmentName)).annotations(
      expecting("the name of an environment variable, in capital letters, digits and underscores")
    )
  )
})

/** What a name stands for, as data. */
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/** An entry with the API key in the program, for those that are not data alone. */
export interface EntryWithKey extends Entry {
  readonly apiKey?: Redacted.Redacted | Config.Config<Redacted.Redacted>
}

/** Fails with all that is wrong with an entry and its key. */
export const checked = (given: EntryWithKey): Effect.Effect<void, ModelUnavailable> => {
  // Data may be anything.
  if (typeof given !== "object" || given === null) return invalid(undefined, ["expected an object"])
  const { apiKey, ...entry } = given
  const found = [
    ...problems(Entry, entry),
    // Data may have a text here, which must not be printed.
    ...(apiKey === undefined || Redacted.isRedacted(apiKey) || Config.isConfig(apiKey)
      ? []
      : ['apiKey: expected a Redacted or a Config; data says the name of an environment variable in "apiKeyFrom"'])
  ]
  return found.length === 0 ? Effect.void : invalid(entry.name, found)
}

/** Fails with what is wrong with the entry of a model, which may be that it has no name. */
export const invalid = (name: unknown, found: ReadonlyArray<string>): Effect.Effect<never, ModelUnavailable> => {
  const model = typeof name === "string" ? name : ""
  const which = model === "" ? "An entry without a name" : `The entry of the model ${quoted(model)}`
  return new ModelUnavailable({
    reason: "InvalidOptions",
    model,
    message: `${which} makes no sense:\n${found.map((problem) => `- ${problem}`).join("\n")}`
  })
}
