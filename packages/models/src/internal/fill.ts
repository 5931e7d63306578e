/**
 * The arguments of a tool, from what the question says and from what earlier
 * tools have found.
 */
import type { Message, Tool } from "@heddle/core"
import { stem, terms, words } from "@heddle/core/words"
import { type Clues, choose, fit, fitsNumber, fitsString } from "./fit.ts"
import { found, isPathName } from "./found.ts"
import { alternatives, choices, type JsonObject, properties, type Property, resolve, typeOf } from "./json.ts"
import * as mentions from "./mentions.ts"

/** Where arguments come from: from nowhere (there are none), the question as a whole, something in it, or an earlier result. */
type Grounds = "none" | "question" | "mention" | "result"

/** Arguments and where they come from. */
export interface Filling {
  readonly arguments: JsonObject
  readonly grounds: Grounds
}

/** What arguments are made of. */
export interface Material {
  readonly question: string
  /** The calls of this exchange whose results may be used. */
  readonly calls: ReadonlyArray<Message.ToolCall>
}

interface Found {
  readonly value: unknown
  readonly grounds: Grounds
}

const kind = (words: string) => new Set(words.split(" ").map(stem))
const searchNames = kind("query search term keyword pattern topic phrase q find")
const askNames = kind("question input prompt text message request content task instruction ask")

const has = (kinds: ReadonlySet<string>, text: string) => words(text).some((word) => kinds.has(stem(word)))

const mention = (values: ReadonlyArray<unknown>): ReadonlyArray<Found> =>
  values.map((value) => ({ value, grounds: "mention" }))

const strings = (
  { description, name, required, schema }: Property,
  { calls, question }: Material
): ReadonlyArray<Found> => {
  const whole = (value: string): ReadonlyArray<Found> => (value === "" ? [] : [{ value, grounds: "question" }])
  const results = (): ReadonlyArray<Found> =>
    required ? found(name, question, calls).map((value) => ({ value, grounds: "result" })) : []
  const { format } = schema
  if (format === "email") return mention(mentions.emails(question))
  if (format === "date" || format === "date-time") return mention(mentions.dates(question))
  if (format === "uri") return [...mention(mentions.urls(question)), ...results()]
  if (isPathName(name)) {
    return [...mention(mentions.urls(question).concat(mentions.paths(question))), ...results()]
  }
  if (has(searchNames, name)) {
    return [...mention(mentions.quoted(question).slice(0, 1)), ...whole(mentions.keywords(question))]
  }
  if (has(kind("expression formula"), name)) return mention(mentions.expressions(question))
  if (has(askNames, name)) return whole(question)
  const next = mentions.after(question, name)
  const near = [...mentions.quoted(question), ...(next === undefined ? [] : [next]), ...mentions.names(question)]
  if (!required) return mention(near.slice(0, next === undefined ? 0 : 1))
  const last = mentions.object(question)
  return [
    ...mention(mentions.quoted(question)),
    ...results(),
    ...mention(near),
    ...(has(searchNames, description) || has(askNames, description) ? whole(mentions.keywords(question)) : []),
    ...mention(last === undefined ? [] : [last])
  ]
}

const numbers = ({ name, required, schema }: Property, question: string): ReadonlyArray<number> => {
  const near = Number(mentions.after(question, name) ?? Number.NaN)
  const all = required ? mentions.numbers(question) : []
  return (Number.isNaN(near) ? all : [near, ...all]).filter((n) => fitsNumber(n, schema))
}

/** Whether a question names a thing, and does not say that it wants none of it. */
const flag = ({ name }: Property, question: string): boolean | undefined => {
  const asked = words(question).map(stem)
  const wanted = terms(name)
  const at = asked.indexOf(wanted[0] ?? "")
  if (at < 0 || !wanted.every((term) => asked.includes(term))) return undefined
  return !asked.slice(Math.max(0, at - 2), at).some((word) => ["no", "not", "without", "never"].includes(word))
}

/** What a property may be, the best first. Numbers that another property has taken are not offered again. */
const candidates = (
  property: Property,
  material: Material,
  root: unknown,
  taken: Set<number>
): ReadonlyArray<Found> => {
  const { question } = material
  const named = choices(property.schema)
  if (named !== undefined) {
    if (named.length === 1 && property.required) return [{ value: named[0], grounds: "none" }]
    const value = choose(named, [question])
    return value === undefined ? [] : mention([value])
  }
  for (const schema of alternatives(property.schema, root)) {
    const one = { ...property, schema }
    if (schema !== property.schema && choices(schema) !== undefined) {
      const known = candidates(one, material, root, taken)
      if (known.length > 0) return known
    }
    switch (typeOf(schema)) {
      case "string": {
        const known = strings(one, material).filter(({ value }) => fitsString(String(value), schema))
        if (known.length > 0) return known
        break
      }
      case "number":
      case "integer": {
        const n =
          numbers(one, question).find((n) => !taken.has(n)) ?? (one.required ? numbers(one, question)[0] : undefined)
        if (n === undefined) break
        taken.add(n)
        return mention([n])
      }
      case "boolean": {
        const value = flag(one, question)
        if (value !== undefined) return mention([value])
        break
      }
      case "array": {
        const item = resolve(schema["items"], root)
        if (typeOf(item) === "number" || typeOf(item) === "integer") {
          const all = mentions.numbers(question).filter((n) => fitsNumber(n, item))
          if (all.length > 0 && property.required) return mention([all])
        } else if (typeOf(item) === "string") {
          const all = candidates({ ...one, schema: item }, material, root, taken)
          if (all.length > 0) return [{ value: [all[0]!.value], grounds: all[0]!.grounds }]
        }
        break
      }
      case "object": {
        const inner = fillObject(schema, root, material)
        if (inner.length > 0 && (property.required || inner[0]!.grounds === "mention")) {
          return inner.map(({ arguments: value, grounds }) => ({ value, grounds }))
        }
      }
    }
  }
  return []
}

const strength: Record<Grounds, number> = { none: 0, question: 1, mention: 2, result: 3 }
const stronger = (a: Grounds, b: Grounds) => (strength[b] > strength[a] ? b : a)

const fillObject = (schema: JsonObject, root: unknown, material: Material, forced = false): ReadonlyArray<Filling> => {
  const taken = new Set<number>()
  let fillings: ReadonlyArray<{
    readonly entries: ReadonlyArray<readonly [string, unknown]>
    readonly grounds: Grounds
  }> = [{ entries: [], grounds: "none" }]
  for (const property of properties(schema, root)) {
    let known = candidates(property, material, root, taken)
    if (known.length === 0 && property.required) {
      if (!forced) return []
      known = [
        { value: fit(property.schema, root, fromQuestion(material.question), property.name), grounds: "question" }
      ]
    }
    if (known.length === 0) continue
    // Several results give several calls; of anything else the best guess is taken.
    const first = known[0]!
    const used = first.grounds === "result" ? known.filter((one) => one.grounds === "result") : [first]
    fillings = fillings
      .flatMap(({ entries, grounds }) =>
        used.map((one) => ({
          entries: [...entries, [property.name, one.value] as const],
          grounds: stronger(grounds, one.grounds)
        }))
      )
      .slice(0, 8)
  }
  return fillings.map(({ entries, grounds }) => ({ arguments: Object.fromEntries(entries), grounds }))
}

const fromQuestion = (question: string): Clues => ({
  strings: () => (question === "" ? [] : [question]),
  numbers: () => mentions.numbers(question),
  booleans: () => undefined,
  texts: [question]
})

/** The arguments that a tool may be called with, the best first; none when a required one is not known. */
export const fill = (tool: Tool.Any, material: Material): ReadonlyArray<Filling> =>
  fillObject(resolve(tool.jsonSchema, tool.jsonSchema), tool.jsonSchema, material)

/** Arguments for a tool that must be called: what is not known is the question, or the smallest value that fits. */
export const fillForced = (tool: Tool.Any, material: Material): Filling =>
  fillObject(resolve(tool.jsonSchema, tool.jsonSchema), tool.jsonSchema, material, true)[0]!
