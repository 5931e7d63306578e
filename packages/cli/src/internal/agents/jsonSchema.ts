/** The front matter, for editors. */
import * as JSONSchema from "effect/JSONSchema"
import { FrontMatter, innerTexts } from "./frontMatter.ts"

/** Plain data. */
type Json = { readonly [key: string]: unknown }

/** The JSON Schema of the front matter, with which editors complete and check it. */
export const jsonSchema = (): Json => {
  const { $defs: defs = {}, $schema, ...root } = JSONSchema.make(FrontMatter)
  return { $schema, title: "An agent of heddle: the front matter of its file", ...tidy(root, defs) }
}

/** As an editor wants it: without references, and with no descriptions but ours, which keys have. `path` is that of the key, if it is the value of one. */
const tidy = (node: unknown, defs: Json, path = "", isKey = false): Json => {
  const { $ref, allOf, description, properties, required, ...others } = record(node)
  const rest = Object.entries(others).filter(([key]) => key !== "$id" && key !== "title")
  // Beside a reference, draft-07 reads nothing else.
  const target = typeof $ref === "string" ? tidy(defs[$ref.replace(/^.*\//, "")], defs, path) : {}
  const parts = Array.isArray(allOf) ? allOf.map((part) => tidy(part, defs, path)) : []
  const keys = Object.entries(record(properties))
  const text = innerTexts[path] ?? description
  return {
    ...Object.assign({}, target, ...parts),
    ...Object.fromEntries(rest.map(([key, value]) => [key, tidied(key, value, defs, path)])),
    ...(isKey && text !== undefined && { description: text }),
    ...(keys.length > 0 && {
      properties: Object.fromEntries(
        keys.map(([key, value]) => [key, tidy(value, defs, path === "" ? key : `${path}.${key}`, true)])
      )
    }),
    ...(Array.isArray(required) && required.length > 0 && { required })
  }
}

const tidied = (key: string, value: unknown, defs: Json, path: string): unknown => {
  if (key === "anyOf" && Array.isArray(value)) return value.map((part) => tidy(part, defs, path))
  const isSchema = ["additionalProperties", "items", "propertyNames"].includes(key) && typeof value === "object"
  if (isSchema) return tidy(value, defs, path)
  if (key !== "patternProperties") return value
  return Object.fromEntries(Object.entries(record(value)).map(([pattern, part]) => [pattern, tidy(part, defs, path)]))
}

const record = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {})
