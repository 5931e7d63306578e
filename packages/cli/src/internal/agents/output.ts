/** The answer of an agent, by the JSON Schema of its file. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe } from "../failure.ts"

/** A schema that shows the model what the file says, and checks the answer by it. Fails with what is wrong with the file's. */
export const outputOf = (
  jsonSchema: Readonly<Record<string, unknown>>
): Effect.Effect<Schema.Schema<unknown>, string> =>
  Effect.tryPromise({
    try: async () => {
      const is2020 = String(jsonSchema["$schema"] ?? "").includes("2020-12")
      const { Ajv } = is2020 ? { Ajv: (await import("ajv/dist/2020.js")).Ajv2020 } : await import("ajv")
      const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false })
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
