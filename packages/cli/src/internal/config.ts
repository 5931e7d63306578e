/**
 * The configuration file, `config.yaml`.
 *
 * What the project's says stands over what the user's says, key by key; `models` are
 * put together by their names. `allow` counts in the user's alone: a project, which may
 * be somebody else's, does not say what it may do unasked.
 */
import { expecting } from "@heddle/core/settings"
import { ModelRegistry } from "@heddle/models"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { Problem } from "../AgentFile.ts"
import { field } from "./agents/described.ts"
import { looksSecret } from "./agents/secrets.ts"
import { sorted } from "./problems.ts"
import { flaws } from "./yaml/flaws.ts"
import { places } from "./yaml/places.ts"
import { readYaml, type Path } from "./yaml/readYaml.ts"

const Text = Schema.NonEmptyString.annotations(expecting("a text that is not empty"))

/** What a configuration file can say. Nothing has to be said. */
export const Config = Schema.Struct({
  model: field(Text, "The model of agents that name none: `provider/model`, or a name in `models`."),
  models: field(
    Schema.Array(ModelRegistry.Entry.pipe(Schema.omit("tenant"))),
    "Models by a name of one's own. A secret is named by the variable in which it is, with `apiKeyFrom`."
  ),
  agent: field(Text, "The agent that answers in a chat what is said to nobody else."),
  allow: field(
    Schema.Array(Text),
    "Tools that change things and are not asked about: globs over their names. In the user's configuration alone."
  ),
  database: field(Text, "The file of conversations, from the folder of this file on.")
}).annotations({ identifier: "Config" })
/** What a configuration file can say. */
export type Config = typeof Config.Type

/** What a file says. What is wrong with it is not in the configuration. */
export interface Read {
  readonly config: Config
  /** The agent that it names, whatever else is wrong. */
  readonly agent?: string
  readonly problems: ReadonlyArray<Problem>
  /** Problems of what one can only judge who knows more. */
  readonly at: (path: Path, severity: Problem["severity"], message: string) => Problem
}

const shape = flaws(Config)

/** Reads the text of a configuration file. `path` is as it is shown. Does not throw. */
export const readConfig = (text: string, path: string): Read => {
  const bare = text.replace(/^\ufeff/, "")
  const offset = text.length - bare.length
  const place = places(text)
  const said = readYaml(bare, "thoroughly")
  const problem = (at: number, severity: Problem["severity"], message: string): Problem => ({
    path,
    ...place(offset + at),
    severity,
    message
  })
  const at: Read["at"] = (inside, severity, message) => problem(said.offsetOf(inside, "value"), severity, message)
  const mistakes = said.mistakes.map(({ at, message }) => problem(at, "error", message))
  if (said.value === undefined || mistakes.length > 0) return { config: {}, problems: mistakes, at }
  const data = said.value ?? {}
  const agent: unknown = Predicate.isRecord(data) ? data["agent"] : undefined
  const named = typeof agent === "string" && agent !== "" ? { agent } : {}
  const found = shape(data).map(({ message, part, path }) => problem(said.offsetOf(path, part), "error", message))
  if (found.length > 0) return { ...named, config: {}, problems: sorted(found), at }
  // The Schema has found nothing wrong, and it changes nothing.
  const config = data as Config
  const problems = [...repeated(config), ...secrets(config)].map(([path, severity, message]) =>
    at(path, severity, message)
  )
  return {
    ...named,
    config: problems.some(({ severity }) => severity === "error") ? {} : config,
    problems: sorted(problems),
    at
  }
}

type Found = readonly [path: Path, severity: Problem["severity"], message: string]

const repeated = ({ models = [] }: Config): ReadonlyArray<Found> =>
  models.flatMap(({ name }, i): ReadonlyArray<Found> =>
    models.findIndex((other) => other.name === name) < i
      ? [[["models", i, "name"], "error", `models[${i}].name: there are two models ${JSON.stringify(name)}`]]
      : []
  )

const secrets = ({ models = [] }: Config): ReadonlyArray<Found> =>
  models.flatMap(({ options = {} }, i) =>
    Object.entries(options).flatMap(([key, value]): ReadonlyArray<Found> => {
      if (typeof value !== "string" || !looksSecret(key, value)) return []
      const where = `models[${i}].options.${key}`
      return [
        [
          ["models", i, "options", key],
          "warning",
          `${where}: this looks like a secret, and a file is no place for one: name the variable of the environment in which it is with apiKeyFrom`
        ]
      ]
    })
  )

/** What counts of a project's configuration. */
export const ofProject = (config: Config): Config => Struct.omit(config, "allow")

/** What a project's configuration says and may not. */
export const overreaching = ({ at, config }: Read, user: string): ReadonlyArray<Problem> =>
  config.allow === undefined
    ? []
    : [
        at(
          ["allow"],
          "warning",
          `allow: a project does not say what is done unasked, so this does not count: say it in ${user}, or with --allow`
        )
      ]

/** Puts the project's over the user's. */
export const merged = (project: Config, user: Config): Config => {
  const own = new Set(project.models?.map(({ name }) => name))
  const models = [...(project.models ?? []), ...(user.models ?? []).filter(({ name }) => !own.has(name))]
  return { ...user, ...ofProject(project), ...(models.length > 0 && { models }) }
}
