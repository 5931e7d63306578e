/**
 * JSON that fits a schema: from clues where there are any, else the smallest
 * value that is allowed. A `pattern` that no clue satisfies cannot be met.
 */
import { terms } from "@heddle/core/words"
import { alternatives, choices, isObject, type JsonObject, limit, properties, resolve, typeOf } from "./json.ts"

/** What is known of a value, by the name and the description of its place: the best guess first. */
export interface Clues {
  readonly strings: (name: string, description: string) => ReadonlyArray<string>
  readonly numbers: (name: string, description: string) => ReadonlyArray<number>
  readonly booleans: (name: string, description: string) => boolean | undefined
  /** Texts to choose among named values by, the most telling first. */
  readonly texts: ReadonlyArray<string>
}

/** No clues: the smallest value that fits. */
const noClues: Clues = { strings: () => [], numbers: () => [], booleans: () => undefined, texts: [] }

/** The value whose name the first telling text has most of. */
export const choose = (values: ReadonlyArray<unknown>, texts: ReadonlyArray<string>): unknown => {
  for (const text of texts) {
    const said = new Set(terms(text))
    let best: { readonly value: unknown; readonly share: number } | undefined
    for (const value of values) {
      const names = terms(String(value))
      const share = names.filter((name) => said.has(name)).length / Math.max(1, names.length)
      if (share > (best?.share ?? 0)) best = { value, share }
    }
    if (best !== undefined) return best.value
  }
  return undefined
}

/** Whether a text fits a string schema. */
export const fitsString = (text: string, schema: JsonObject): boolean => {
  const { pattern } = schema
  if (text.length < (limit(schema, "minLength") ?? 0)) return false
  if (typeof pattern !== "string") return true
  try {
    return new RegExp(pattern, "u").test(text)
  } catch {
    return true
  }
}

const string = (schema: JsonObject, candidates: ReadonlyArray<string>): string => {
  const longest = limit(schema, "maxLength") ?? Infinity
  const found = candidates.map((text) => text.slice(0, longest)).find((text) => fitsString(text, schema))
  return found ?? "-".repeat(Math.min(limit(schema, "minLength") ?? 0, 10_000))
}

/** Whether a number is within the limits of a schema. */
export const fitsNumber = (n: number, schema: JsonObject): boolean =>
  (typeOf(schema) !== "integer" || Number.isInteger(n)) &&
  n >= (limit(schema, "minimum") ?? -Infinity) &&
  n <= (limit(schema, "maximum") ?? Infinity) &&
  n > (limit(schema, "exclusiveMinimum") ?? -Infinity) &&
  n < (limit(schema, "exclusiveMaximum") ?? Infinity) &&
  (limit(schema, "multipleOf") === undefined || Number.isInteger(n / limit(schema, "multipleOf")!))

const number = (schema: JsonObject, candidates: ReadonlyArray<number>): number => {
  const step = limit(schema, "multipleOf") ?? 1
  const up = (n: number | undefined, over: number) =>
    n === undefined ? [] : [n, (Math.floor(n / step) + over) * step, n + over / 2]
  const down = (n: number | undefined) =>
    n === undefined ? [] : [n, Math.floor(n / step) * step, Math.ceil(n / step - 1) * step]
  const tried = [
    ...candidates,
    0,
    ...up(limit(schema, "minimum"), 1),
    ...up(limit(schema, "exclusiveMinimum"), 1),
    ...down(limit(schema, "maximum")),
    ...down(limit(schema, "exclusiveMaximum"))
  ]
  return tried.find((n) => fitsNumber(n, schema)) ?? 0
}

/** A value that fits `schema`. */
export const fit = (schema: unknown, root: unknown, clues: Clues, name = "", depth = 0): unknown => {
  const self = resolve(schema, root)
  const named = choices(self)
  if (named !== undefined) return choose(named, clues.texts) ?? named[0]
  const options = alternatives(self, root)
  if (options.length > 1 || options[0] !== self) {
    // At the bottom of a schema that holds itself only what ends it will do.
    const ending = depth > 8 ? options.findLast((one) => typeOf(one) !== "object") : undefined
    return fit(ending ?? options[0], root, clues, name, depth + 1)
  }
  const description = typeof self["description"] === "string" ? self["description"] : ""
  switch (typeOf(self)) {
    case "string":
      return string(self, clues.strings(name, description))
    case "number":
    case "integer":
      return number(self, clues.numbers(name, description))
    case "boolean":
      return clues.booleans(name, description) ?? false
    case "array":
      return array(self, root, clues, name, description, depth)
    case "null":
      return null
    case "object":
      return object(self, root, clues, depth)
    default:
      return clues.strings(name, description)[0] ?? {}
  }
}

const array = (
  self: JsonObject,
  root: unknown,
  clues: Clues,
  name: string,
  description: string,
  depth: number
): unknown => {
  const { items, prefixItems } = self
  const tuple = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : undefined
  const least = limit(self, "minItems") ?? tuple?.length ?? 0
  if (tuple !== undefined) return tuple.slice(0, least).map((item) => fit(item, root, clues, name, depth + 1))
  const item = resolve(items, root)
  const most = Math.min(limit(self, "maxItems") ?? Infinity, 100)
  const known =
    choices(item) !== undefined
      ? []
      : typeOf(item) === "string"
        ? clues.strings(name, description).filter((text) => fitsString(text, item))
        : typeOf(item) === "number" || typeOf(item) === "integer"
          ? clues.numbers(name, description).filter((n) => fitsNumber(n, item))
          : []
  const out: Array<unknown> = Array.from(new Set<unknown>(known)).slice(0, most)
  while (out.length < Math.min(least, 100)) out.push(fit(item, root, depth > 8 ? noClues : clues, name, depth + 1))
  return out
}

const object = (self: JsonObject, root: unknown, clues: Clues, depth: number): JsonObject =>
  depth > 32
    ? {}
    : Object.fromEntries(
        properties(self, root)
          .filter(
            (property) =>
              property.required ||
              (depth < 3 && !isObject(property.schema["properties"]) && isKnown(property.schema, clues, property))
          )
          .map((property) => [property.name, fit(property.schema, root, clues, property.name, depth + 1)])
      )

/** Whether there is a clue for a property that may be left out. */
const isKnown = (
  schema: JsonObject,
  clues: Clues,
  { description, name }: { readonly name: string; readonly description: string }
): boolean => {
  const named = choices(schema)
  if (named !== undefined) return choose(named, clues.texts) !== undefined
  switch (typeOf(schema)) {
    case "string":
      return clues.strings(name, description).length > 0
    case "number":
    case "integer":
      return clues.numbers(name, description).some((n) => fitsNumber(n, schema))
    case "boolean":
      return clues.booleans(name, description) !== undefined
    default:
      return false
  }
}
