/** Whether `output` of an agent's file is a JSON Schema. */
import { unknownName } from "@heddle/core/names"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Problem } from "../../AgentFile.ts"
import { describe } from "../failure.ts"
import { ajvOf } from "./ajv.ts"
import type { Read } from "./parse.ts"

/** What is wrong with it. What can tell takes a moment to load, so that only files that have one are looked at. */
export const outputProblems = ({ data: { output }, path, place }: Read): Effect.Effect<ReadonlyArray<Problem>> => {
  if (!Predicate.isRecord(output) || Array.isArray(output)) return Effect.succeed([])
  const compile = Effect.tryPromise({
    try: async () => {
      const ajv = await ajvOf(output)
      const isSchema: unknown = ajv.validateSchema(output)
      if (isSchema === true) {
        ajv.compile(output)
        return []
      }
      return mistakes(ajv.errors ?? []).map((error) => {
        const inside = error.instancePath.split("/").slice(1).map(unescaped)
        return { inside, message: textOf(error, inside, output) }
      })
    },
    catch: describe
  })
  const all = Effect.catchAll(compile, (message) => Effect.succeed([{ inside: [], message }]))
  return Effect.map(all, (found) => [
    ...new Map(
      found.map(({ inside, message }) => {
        const text = `${["output", ...inside].join(".")}: is no JSON Schema: ${message}`
        const at = ["output", ...inside]
        return [text, { path, ...place(at), severity: "error", message: text } as const]
      })
    ).values()
  ])
}

/** What the library tells of a mistake. */
interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** One for each mistake: what could stand in a place in several ways is told of once for each of them, and so is all around it. */
const mistakes = (errors: ReadonlyArray<SchemaError>): ReadonlyArray<SchemaError> => {
  const byPath = new Map<string, Array<SchemaError>>()
  for (const error of errors) {
    const here = byPath.get(error.instancePath)
    if (here === undefined) byPath.set(error.instancePath, [error])
    else here.push(error)
  }
  const around = new Set<string>()
  for (let path of byPath.keys()) {
    while (path !== "") {
      path = path.slice(0, path.lastIndexOf("/"))
      if (around.has(path)) break
      around.add(path)
    }
  }
  return [...byPath].flatMap(([path, here]) => {
    if (around.has(path)) return []
    // Words that can stand there say more than what else can.
    return here.find(({ keyword }) => keyword === "enum") ?? here[0] ?? []
  })
}

const textOf = ({ message = "makes no sense", params }: SchemaError, path: ReadonlyArray<string>, root: unknown) => {
  const { allowedValues } = params
  if (!Array.isArray(allowedValues)) return message
  const words = allowedValues.filter((word) => typeof word === "string")
  const value = path.reduce<unknown>(
    (inside, key) => (Predicate.isRecord(inside) || Array.isArray(inside) ? Reflect.get(inside, key) : undefined),
    root
  )
  return typeof value === "string"
    ? unknownName(path.at(-1) ?? "value", value, words)
    : `expected one of ${words.join(", ")}`
}

const unescaped = (step: string): string => step.replace(/~1/g, "/").replace(/~0/g, "~")
