/** The servers of the Model Context Protocol that an agent file names. */
import type { Handler } from "@heddle/core"
import { ToolProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Service, variable } from "../Environment.ts"
import type { FrontMatter } from "./frontMatter.ts"
import { choosing } from "./globs.ts"
import { placeOf } from "./secrets.ts"

type McpServer = NonNullable<FrontMatter["mcp"]>[string]

type Values = Readonly<Record<string, Redacted.Redacted | string>>
type Value = string | { readonly from: string; readonly prefix?: string }

/** A server, with what it is told. Nothing has been started or called. */
export interface Server {
  readonly name: string
  /** How it is reached, without what may be secret. */
  readonly at: string
  /** Stands before the names of its tools. */
  readonly prefix: string
  /** The variables of the environment that it is given values of. */
  readonly variables: ReadonlyArray<string>
  readonly reach:
    | { readonly command: string; readonly args: ReadonlyArray<string>; readonly env: Values }
    | { readonly url: string; readonly headers: Values }
  /** Whether the agent has a tool, by the name that the server has for it. */
  readonly has: (tool: string) => boolean
}

/** A server of an agent file, or all that is wrong with it. `offers` says which of all tools, by the names that a model sees, the agent has. */
export const serverOf = (
  name: string,
  said: McpServer,
  environment: Pick<Service, "variables">,
  offers: (tool: string) => boolean
): Server | ReadonlyArray<string> => {
  const problems: Array<string> = []
  const values = (key: string, record: Readonly<Record<string, Value>> = {}): Values =>
    Object.fromEntries(
      Object.entries(record).map(([field, value]) => {
        if (typeof value === "string") return [field, value]
        const found = variable(environment, value.from)
        if (found === undefined) {
          problems.push(`mcp.${name}.${key}.${field}: the environment variable ${value.from} is not set`)
        }
        return [field, Redacted.make(`${value.prefix ?? ""}${found ?? ""}`)]
      })
    )
  const reach =
    "url" in said
      ? { url: said.url, headers: values("headers", said.headers) }
      : { command: said.command, args: said.args ?? [], env: values("env", said.env) }
  const given = Object.values(("url" in said ? said.headers : said.env) ?? {})
  if (problems.length > 0) return problems
  const prefix = `${name}_`
  const isChosen = choosing(said)
  return {
    name,
    at: placeOf(said),
    prefix,
    variables: given.flatMap((value) => (typeof value === "string" ? [] : [value.from])),
    reach,
    has: (tool) => isChosen(tool) && offers(`${prefix}${tool}`)
  }
}

/** A client of a server. It connects when a run needs its tools; what it has started is ended with the scope. */
export const connected = (server: Server, cwd: string): Effect.Effect<ToolProvider.ToolProvider, never, Scope.Scope> =>
  // The SDK takes a moment to load, and most agents have no servers.
  Effect.flatMap(
    Effect.promise(() => import("@heddle/models/mcp")),
    (mcp) => {
      const options = { name: server.name, clientInfo: { name: "heddle", version: "0.0.0" } }
      return "url" in server.reach
        ? mcp.http({ ...options, ...server.reach })
        : mcp.stdio({ ...options, ...server.reach, cwd })
    }
  )

/** A server that nobody connects to, for whoever wants to know what there would be. */
export const unconnected = ({ name }: Server): ToolProvider.ToolProvider => ({
  name,
  definitions: { list: Effect.succeed([]), changes: Stream.empty },
  execution: {
    execute: () => {
      throw new Error("There are no tools, so none is called.")
    }
  }
})

/** Gives an agent the tools of a server. One that is not there is a warning. */
export const handlerOf = (server: Server, provider: ToolProvider.ToolProvider): Handler.Handler =>
  ToolProvider.handler(provider, {
    name: server.name,
    prefix: server.prefix,
    allow: ({ name }) => server.has(name),
    onUnavailable: "warn"
  })
