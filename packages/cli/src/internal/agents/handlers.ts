/** The handlers that every agent file can name. */
import { Handler } from "@heddle/core"
import { expecting } from "@heddle/core/settings"
import * as Schema from "effect/Schema"
import { define, type Registry } from "./definition.ts"

/** The handlers that every agent file can name. */
export const builtIn: Registry = {
  instructions: define({
    description: "Adds a section to the instructions.",
    options: Schema.Struct({ text: Schema.NonEmptyString.annotations(expecting("a text that is not empty")) }),
    make: ({ text }) => Handler.instructions(text)
  })
}
