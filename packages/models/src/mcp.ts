/**
 * Tools of servers that speak the Model Context Protocol, with the official SDK,
 * `@modelcontextprotocol/sdk`, which has to be installed. A server is a program that is
 * started and spoken to over its input and output, or one that is reached over HTTP.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { ToolProvider } from "@heddle/models"
 * import * as Mcp from "@heddle/models/mcp"
 * import { Context, Effect, Layer } from "effect"
 *
 * class Files extends Context.Tag("Files")<Files, ToolProvider.ToolProvider>() {
 *   static readonly Live = Layer.scoped(
 *     Files,
 *     Mcp.stdio({ name: "files", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] })
 *   )
 * }
 *
 * const agent = Agent.make({
 *   name: "librarian",
 *   handlers: ToolProvider.handler(Files, { allow: ["read_*", "list_*"] })
 * })
 *
 * const program = Agent.run(agent, "What is in here?").pipe(Effect.provide(Files.Live)) // needs a ChatModel
 * ```
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { make } from "./internal/mcp/client.ts"
import { overHttp, overStdio } from "./internal/mcp/transports.ts"
import type { ToolProvider, ToolProviderError } from "./ToolProvider.ts"

/** What a server says of itself. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  /** How its tools are to be used, for the instructions of an agent. */
  readonly instructions?: string
}

/**
 * A client of one server. It connects when it is first used, and again when the
 * connection was lost; it is closed, and a program that it started is ended, when the
 * scope that it was made in closes.
 */
export interface McpClient extends ToolProvider {
  /** Connects unless it is connected, for those who want to know at once. */
  readonly connect: Effect.Effect<ServerInfo, ToolProviderError>
}

/** How much is taken from a server. */
export interface Limits {
  /** Tools. A longer list is an `InvalidResponse`. @default 1000 */
  readonly tools: number
  /** Characters of a description. The rest is cut off. @default 10_000 */
  readonly description: number
  /** Characters of the JSON Schema of a tool. A tool with a longer one is left out. @default 100_000 */
  readonly schema: number
  /** Characters of a result. A longer one is a failure that the model is told of. @default 1_000_000 */
  readonly result: number
  /** Bytes of a message. A longer one ends the call, and over stdio the connection. @default 33_554_432 */
  readonly message: number
}

/** What is said of any server. */
export interface Options {
  /** What the server is called here, in errors. */
  readonly name: string
  /** How long connecting may take, and asking for the list of tools. @default "30 seconds" */
  readonly timeout?: Duration.DurationInput
  /** What a result has in the place of images, sounds and binary files: their type and size (`"describe"`, the default), or the data in base64 as well. */
  readonly files?: "describe" | "base64"
  readonly limits?: Partial<Limits>
  /** What the server is told of who connects. */
  readonly clientInfo?: { readonly name: string; readonly version: string }
}

/** Text, or text that is not to be seen. What is redacted does not appear in errors, also if the server repeats it. */
export type Secret = string | Redacted.Redacted

/** A server that is a program. */
export interface StdioOptions extends Options {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** Variables of its environment. Besides them it has those that any program needs (`PATH`, `HOME` …), and none else of this one's. */
  readonly env?: Readonly<Record<string, Secret>>
  /** The folder that it runs in; this program's unless said. */
  readonly cwd?: string
  /** What becomes of what it writes to its error output, mostly logs: dropped, printed, or given to a function in pieces of text. @default "drop" */
  readonly stderr?: "drop" | "print" | ((text: string) => void)
}

/** A server that is reached over HTTP. */
export interface HttpOptions extends Options {
  /** One with a key in its query or path can be `Redacted`: then no error repeats what stands behind the host, or the key. */
  readonly url: string | URL | Redacted.Redacted<string | URL>
  readonly headers?: Readonly<Record<string, Secret>>
  /** The function that makes the requests, in the place of the global one. */
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>
}

/** A server that is reached in another way. */
export interface TransportOptions extends Options {
  /** Makes a transport of the SDK, for each connection a new one. */
  readonly transport: () => Transport
}

/** A client of a server that is a program: starts it, and ends it with the scope. */
export const stdio = (options: StdioOptions): Effect.Effect<McpClient, never, Scope.Scope> =>
  make(options, overStdio(options))

/** A client of a server that speaks streamable HTTP. */
export const http = (options: HttpOptions): Effect.Effect<McpClient, never, Scope.Scope> =>
  make(options, overHttp(options))

/** A client of a server that is reached by any transport of the SDK, such as one that asks for credentials by OAuth. */
export const client = (options: TransportOptions): Effect.Effect<McpClient, never, Scope.Scope> =>
  make(options, {
    secrets: [],
    open: async () => ({ transport: options.transport(), giveUp: () => {} })
  })
