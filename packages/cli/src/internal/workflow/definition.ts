/**
 * Reads the definition of a workflow, with everything that is wrong with it.
 */
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import { Agent } from "@heddle/core"
import { MemoryData } from "@heddle/memory"
import { RagData } from "@heddle/rag"
import type { WorkflowErrors } from "@heddle/workflow"
import * as Effect from "effect/Effect"
import type { Problem } from "../../AgentFile.ts"
import type { Agents } from "../agents/Agents.ts"
import type { Environment } from "../Environment.ts"
import { CliError } from "../failure.ts"
import { fileText } from "../given.ts"
import { problemText, sorted } from "../problems.ts"
import type { Place } from "../yaml/places.ts"
import { placesOfPaths } from "./places.ts"

/** A definition that was read, and of which nothing more is known. */
export interface Source {
  readonly file: string
  readonly text: string
  readonly data: unknown
  /** The names that stand where an agent is named. */
  readonly agents: ReadonlySet<string>
}

/** What reads YAML and expressions takes longer to load than all the rest. */
const library = Effect.map(
  Effect.promise(() => import("@heddle/workflow/definition")),
  ({ WorkflowDefinition }) => WorkflowDefinition
)

/** Reads a file. `status`: that of a file with mistakes. */
export const read = (file: string, status: number): Effect.Effect<Source, CliError, Environment | FileSystem | Path> =>
  Effect.gen(function* () {
    const text = yield* fileText(file)
    const { parse } = yield* library
    const data = yield* Effect.catchTag(parse(text), "InvalidDefinition", ({ problems }) =>
      refused(file, problems.map(inText(file)), status)
    )
    return { file, text, data, agents: agentsIn(data) }
  })

/** Makes a workflow of what was read. `built` are the agents that it runs; without it, it can be looked at only. */
export const compile = <R>(
  source: Source,
  agents: Agents,
  options: { readonly built?: Readonly<Record<string, Agent.Agent<unknown, unknown, R>>>; readonly status: number }
) =>
  Effect.gen(function* () {
    const { data, file, text } = source
    const { compile } = yield* library
    // The others are there to be told of where a name is wrong. An agent with errors is, too: those are told, not that it is missing.
    const names = [...agents.all.keys(), ...agents.broken.keys()]
    const others = Object.fromEntries(names.map((name) => [name, Agent.make({ name })]))
    const registry = {
      agents: { ...others, ...options.built } as Readonly<Record<string, Agent.Agent<unknown, unknown, R>>>,
      agentOptions: [MemoryData.callOptions, RagData.callOptions]
    }
    const broken = agents.problems.filter(
      ({ path, severity }) =>
        severity === "error" && [...source.agents].some((name) => agents.broken.get(name) === path)
    )
    const compiled = yield* Effect.either(compile(data, registry))
    if (compiled._tag === "Right" && broken.length === 0) return compiled.right
    const problems = compiled._tag === "Right" ? [] : compiled.left.problems
    const placeOf = placesOfPaths(text)
    return yield* refused(file, [...problems.map(inData(file, placeOf)), ...broken], options.status)
  })

/** The agents that a definition names, wherever it does. */
const agentsIn = (data: unknown): ReadonlySet<string> => {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const open = [data]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== "object" || value === null || seen.has(value)) continue
    seen.add(value)
    const { agent } = value as { readonly agent?: unknown }
    if (typeof agent === "string") names.add(agent)
    open.push(...Object.values(value))
  }
  return names
}

// -----------------------------------------------------------------------------
// what is wrong
// -----------------------------------------------------------------------------

/** What is wrong with the text, which the message says the place of, if there is one. */
const inText =
  (path: string) =>
  ({ message }: WorkflowErrors.Problem): Problem => {
    const [, said = message, line = 1, column = 1] = /^([\s\S]*?):? at line (\d+), column (\d+)$/.exec(message) ?? []
    return { path, line: Number(line), column: Number(column), severity: "error", message: said }
  }

const inData =
  (file: string, placeOf: (path: WorkflowErrors.Problem["path"]) => Place) =>
  ({ message, path }: WorkflowErrors.Problem): Problem => {
    const where = path.reduce<string>(
      (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`),
      ""
    )
    return { path: file, ...placeOf(path), severity: "error", message: where === "" ? message : `${where}: ${message}` }
  }

const refused = (file: string, problems: ReadonlyArray<Problem>, status: number) => {
  const message = [`The file "${file}" is no workflow:`, ...sorted(problems).map(problemText)].join("\n")
  return Effect.fail(new CliError({ message, status }))
}
