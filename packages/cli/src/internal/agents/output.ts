/** The answer of an agent, by the JSON Schema of its file. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe } from "../failure.ts"
import { ajvOf } from "./ajv.ts"

type JsonSchema = Readonly<Record<string, unknown>>

/** A schema that shows the model what the file says, and checks the answer by it. Fails with what is wrong with the file's. */
export const outputOf = (said: JsonSchema): Effect.Effect<Schema.Schema<unknown>, string> =>
  Effect.tryPromise({
    try: async () => {
      const jsonSchema = "$defs" in said ? withDefinitions(said) : said
      const ajv = await ajvOf(said)
      const validate = ajv.compile(jsonSchema)
      return Schema.Unknown.pipe(
        Schema.filter(
          (answer) => validate(answer) || ajv.errorsText(validate.errors, { dataVar: "answer", separator: "; " }),
          { jsonSchema, title: "the answer that the file describes" }
        )
      )
    },
    catch: describe
  })

/** The same under the older of the two names for definitions: what stands under the newer is taken for its own by what makes JSON Schemas of schemas. */
const withDefinitions = ({ $defs, definitions, ...rest }: JsonSchema): JsonSchema => ({
  ...(renamed(rest) as JsonSchema),
  // There are both where somebody has put two schemas together.
  definitions: { ...(renamed(definitions) as object | undefined), ...(renamed($defs) as object) }
})

const renamed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(renamed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" ? inner.replace(/^#\/\$defs\//, "#/definitions/") : renamed(inner)
    ])
  )
}
