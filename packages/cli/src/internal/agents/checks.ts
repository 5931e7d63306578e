/**
 * What is wrong with an agent's front matter besides its shape: what it says together,
 * and what it names that there is not.
 */
import { whole } from "@heddle/core/glob"
import { unknownName } from "@heddle/core/names"
import { problems } from "@heddle/core/settings"
import { ContextMode, MemoryData } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { Problem } from "../../AgentFile.ts"
import type { Flaw } from "../yaml/flaws.ts"
import type { Path } from "../yaml/readYaml.ts"
import type { Registry } from "./definition.ts"
import { isGlob, isUse } from "./frontMatter.ts"
import { canBeginWith } from "./globs.ts"
import { namedHandler } from "./named.ts"
import { hasSecret, looksSecret } from "./secrets.ts"
import { builtInTools } from "./toolNames.ts"

/** Something that is wrong, or may not be meant. */
export interface Finding extends Flaw {
  readonly severity: Problem["severity"]
}

type Data = Readonly<Record<string, unknown>>

const error = (path: Path, message: string, part: Flaw["part"] = "value"): Finding => ({
  path,
  part,
  message,
  severity: "error"
})
const warning = (path: Path, message: string, part: Flaw["part"] = "value"): Finding => ({
  path,
  part,
  message,
  severity: "warning"
})

/** All of it, of data that may be of a wrong shape. */
export const findings = (data: Data, handlers: Registry | undefined): ReadonlyArray<Finding> => [
  ...together(data),
  ...idle(data),
  ...(handlers === undefined ? [] : ofHandlers(data, handlers)),
  ...ofAgents(data),
  ...ofTools(data),
  ...ofServers(data)
]

const record = (value: unknown): Data => (Predicate.isRecord(value) && !Array.isArray(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const texts = (value: unknown): ReadonlyArray<readonly [number, string]> =>
  list(value).flatMap((one, i) => (typeof one === "string" ? [[i, one] as const] : []))

// -----------------------------------------------------------------------------
// memory and retrieval
// -----------------------------------------------------------------------------

/** Where it is told that something is missing. */
const instead: Readonly<Record<string, string>> = { sharePatterns: "contextMode", summarizeAfter: "contextWindow" }

/**
 * What the decoder of memory finds that the Schema does not see. Its problems are texts
 * that begin with a path. That of retrieval sees no more than the Schema does.
 */
const together = (data: Data): ReadonlyArray<Finding> => {
  const { MemoryData: schema, decode } = MemoryData
  const own = Object.fromEntries(Object.entries(data).filter(([key]) => Object.hasOwn(schema.fields, key)))
  if (Object.keys(own).length === 0) return []
  const decoded = Effect.runSync(Effect.either(decode(own)))
  if (Either.isRight(decoded)) return []
  const ofShape = new Set(problems(schema, own))
  return decoded.left.problems.flatMap((text) => {
    if (ofShape.has(text)) return []
    const path = (/^([A-Za-z.]+): /.exec(text)?.[1] ?? "").split(".").filter((key) => key !== "")
    const [first = ""] = path
    return [error(Object.hasOwn(own, first) ? path : [instead[first] ?? first], text)]
  })
}

const only: Readonly<Record<string, string>> = {
  sharePatterns: "selective",
  shareLookBack: "selective",
  summarizeAfter: "summarized",
  shareToolCalls: "shared",
  report: "hybrid"
}

/** What is said, and not used in the mode that is said. */
const idle = (data: Data): ReadonlyArray<Finding> =>
  Object.entries(only).flatMap(([key, mode]) => {
    const { contextMode: said = "isolated" } = data
    const contextMode = ContextMode.names.find((known) => known === said)
    if (!Object.hasOwn(data, key) || contextMode === mode || contextMode === undefined) return []
    return [warning([key], `${key}: is used in the context mode ${mode} alone, and this one is ${contextMode}`, "key")]
  })

// -----------------------------------------------------------------------------
// handlers
// -----------------------------------------------------------------------------

const ofHandlers = (data: Data, registry: Registry): ReadonlyArray<Finding> =>
  list(data["handlers"]).flatMap((use, i) => {
    if (!isUse(use)) return []
    const made = namedHandler(use, i, registry)
    return Either.isRight(made) ? [] : made.left.map((flaw) => ({ ...flaw, severity: "error" as const }))
  })

// -----------------------------------------------------------------------------
// tools and servers
// -----------------------------------------------------------------------------

/** As tools, they need names of their own. */
const ofAgents = (data: Data): ReadonlyArray<Finding> => {
  const seen = new Set<string>()
  const allowed = texts(record(data["tools"])["allow"]).map(([, glob]) => whole(glob))
  return texts(data["agents"]).flatMap(([i, name]) => {
    const isTwice = seen.has(name)
    seen.add(name)
    if (isTwice) return [error(["agents", i], `agents[${i}]: "${name}" is there twice`)]
    const isTool = builtInTools.some((tool) => tool === name) && allowed.some((fits) => fits(name))
    return isTool ? [error(["agents", i], `agents[${i}]: "${name}" is a tool of this agent as well`)] : []
  })
}

const ofTools = (data: Data): ReadonlyArray<Finding> => {
  const servers = Object.keys(record(data["mcp"]))
  const agents = texts(data["agents"]).map(([, name]) => name)
  const known = [...builtInTools, ...agents]
  const prefixes = servers.map((server) => `${server}_`)
  const isKnown = (glob: string) => known.some(whole(glob)) || prefixes.some(canBeginWith(glob))
  const names = [...known, ...prefixes.map((prefix) => `${prefix}*`)]
  return ["allow", "deny"].flatMap((key) =>
    texts(record(data["tools"])[key]).flatMap(([i, glob]) =>
      !isGlob(glob) || isKnown(glob)
        ? []
        : [warning(["tools", key, i], `tools.${key}[${i}]: ${unknownName("tool", glob, names)}`)]
    )
  )
}

const ofServers = (data: Data): ReadonlyArray<Finding> =>
  Object.entries(record(data["mcp"])).flatMap(([server, said]) => {
    const { args, env, headers, url } = record(said)
    const values = Object.entries({ env, headers }).flatMap(([key, values]) =>
      Object.entries(record(values)).flatMap(([name, value]) =>
        typeof value === "string" && looksSecret(name, value)
          ? [secret(["mcp", server, key, name], variableOf(name, server))]
          : []
      )
    )
    const inArgs = texts(args).flatMap(([i, text]) =>
      hasSecret(text) ? [secret(["mcp", server, "args", i], variableOf("key", server), "env")] : []
    )
    const inUrl =
      typeof url === "string" && hasSecret(url)
        ? [secret(["mcp", server, "url"], variableOf("key", server), "headers")]
        : []
    return [...values, ...inArgs, ...inUrl]
  })

/** The value itself is not said. */
const secret = (path: Path, variable: string, key?: string): Finding => {
  const place = key === undefined ? "" : ` under "${key}"`
  const where = path.map(String).join(".")
  return warning(
    path,
    `${where}: this looks like a secret, and a file is no place for one: name a variable of the environment with { from: ${variable} }${place}`
  )
}

const variableOf = (name: string, server: string): string => {
  const usual = /^[A-Z][A-Z0-9_]*$/.test(name) ? name : `${server}_${/authorization/i.test(name) ? "token" : name}`
  return usual.toUpperCase().replace(/[^A-Z0-9_]/g, "_")
}
