/** Whether `output` of an agent's file is a JSON Schema. */
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
      return (ajv.errors ?? []).map(({ instancePath, message = "makes no sense" }) => ({
        inside: instancePath.split("/").slice(1).map(unescaped),
        message
      }))
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

const unescaped = (step: string): string => step.replace(/~1/g, "/").replace(/~0/g, "~")
