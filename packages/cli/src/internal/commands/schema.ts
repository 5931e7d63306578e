/** `heddle schema`: the JSON Schema of an agent's front matter, for editors. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { jsonSchema } from "../agents/jsonSchema.ts"
import { Output } from "../Output.ts"

/** `heddle schema` */
export const schema = Command.make("schema", {}, () =>
  Effect.flatMap(Output, ({ out }) => out.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`))
).pipe(Command.withDescription("Prints the JSON Schema of an agent's front matter, for editors."))
