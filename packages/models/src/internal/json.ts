/**
 * Reading JSON values and JSON Schemas that come from anywhere.
 */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object. */
export const isObject = (u: unknown): u is JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

/** A value as text with the keys in one order, so that equal values give equal texts. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    isObject(v) ? Object.fromEntries(Object.entries(v).toSorted(([a], [b]) => (a < b ? -1 : 1))) : v
  ) ?? ""

const at = (root: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), root)

/** A schema with its references followed and its `allOf` put together. What is no schema allows everything. */
export const resolve = (schema: unknown, root: unknown, hops = 16): JsonObject => {
  if (!isObject(schema)) return {}
  const { $ref, allOf, ...rest } = schema
  if (hops === 0) return rest
  const parts: Array<unknown> = Array.isArray(allOf) ? [...allOf] : []
  if (typeof $ref === "string" && $ref.startsWith("#")) {
    try {
      parts.unshift(at(root, $ref.slice(1)))
    } catch {
      // A pointer that is none points at nothing.
    }
  }
  return parts.length === 0 ? schema : Object.assign({}, ...parts.map((part) => resolve(part, root, hops - 1)), rest)
}

/** One property of an object schema. */
export interface Property {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  readonly required: boolean
}

/** The properties of an object schema, the required ones first. */
export const properties = (schema: JsonObject, root: unknown): ReadonlyArray<Property> => {
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})
    .map(([name, property]) => {
      const resolved = resolve(property, root)
      const { description } = resolved
      return {
        name,
        schema: resolved,
        required: required.includes(name),
        description: typeof description === "string" ? description : ""
      }
    })
    .toSorted((a, b) => Number(b.required) - Number(a.required))
}

/** The alternatives of a schema, resolved; the schema alone when it has none. `null` comes last. */
export const alternatives = (schema: JsonObject, root: unknown): ReadonlyArray<JsonObject> => {
  const given = schema["anyOf"] ?? schema["oneOf"]
  if (!Array.isArray(given) || given.length === 0) return [schema]
  const all = given.map((one) => resolve(one, root))
  return [...all.filter((one) => typeOf(one) !== "null"), ...all.filter((one) => typeOf(one) === "null")]
}

/** The type that a schema asks for, as far as it says. */
export const typeOf = (schema: JsonObject): string | undefined => {
  const { type } = schema
  const first: unknown = Array.isArray(type) ? (type.find((t) => t !== "null") ?? type[0]) : type
  if (typeof first === "string") return first
  return isObject(schema["properties"]) ? "object" : "items" in schema ? "array" : undefined
}

/** The values that a schema allows by name, if it does. */
export const choices = (schema: JsonObject): ReadonlyArray<unknown> | undefined =>
  "const" in schema
    ? [schema["const"]]
    : Array.isArray(schema["enum"]) && schema["enum"].length > 0
      ? schema["enum"]
      : undefined

/** A number that a schema says, or `undefined`. */
export const limit = (schema: JsonObject, key: string): number | undefined => {
  const value = schema[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
