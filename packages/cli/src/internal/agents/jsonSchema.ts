/** The front matter, for editors. */
import * as JSONSchema from "effect/JSONSchema"
import { FrontMatter } from "./frontMatter.ts"

/** The JSON Schema of the front matter, with which editors complete and check it. */
export const jsonSchema = (): JSONSchema.JsonSchema7Root => JSONSchema.make(FrontMatter)
