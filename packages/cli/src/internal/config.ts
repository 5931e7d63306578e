/**
 * The configuration file, `config.yaml`.
 */
import { expecting, optional } from "@heddle/core/settings"
import { ModelRegistry } from "@heddle/models"
import * as Schema from "effect/Schema"

const Text = Schema.NonEmptyString.annotations(expecting("a text that is not empty"))

/** What a configuration file can say. Nothing has to be said. */
export const Config = Schema.Struct({
  /** The model of agents that name none. */
  model: optional(Text),
  /** Models by a name of one's own. No secret: the name of the variable in which it is. */
  models: optional(Schema.Array(ModelRegistry.Entry.pipe(Schema.omit("tenant")))),
  /** The agent that answers in a chat what is said to nobody else. */
  agent: optional(Text),
  /** Tools that change things and are not asked about: globs over their names. */
  allow: optional(Schema.Array(Text)),
  /** The file of conversations, from the folder of this file on. */
  database: optional(Text)
}).annotations({ identifier: "Config" })
/** What a configuration file can say. */
export type Config = typeof Config.Type
