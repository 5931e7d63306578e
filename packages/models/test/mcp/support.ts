/**
 * Servers to test with, and waiting for what they log.
 */
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Message, Tool } from "@heddle/core"
import { ToolProvider } from "@heddle/models"
import * as Mcp from "@heddle/models/mcp"
import { Data, Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { makeServer, type Mode } from "./server.ts"

/** What a server has logged. */
export class Log {
  text = ""
  readonly add = (text: string): void => {
    this.text += text
  }
  count(line: string): number {
    return this.text.split("\n").filter((one) => one === line).length
  }
}

class NotYet extends Data.TaggedError("NotYet") {}

/** Waits until something is so, for as long as the test may take. */
export const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : new NotYet())).pipe(
    Effect.retry(Schedule.spaced("5 millis")),
    Effect.orDie
  )

/** A client of our server as a program. */
export const program = (mode: string, log = new Log(), more: Partial<Mcp.StdioOptions> = {}) =>
  Mcp.stdio({
    name: "odd",
    command: process.execPath,
    args: ["--import", "tsx", fileURLToPath(new URL("./stdio.ts", import.meta.url)), mode],
    stderr: log.add,
    ...more
  })

/** A client of our server in this program. */
export const inMemory = (mode: Mode, log = new Log(), more: Partial<Mcp.Options> = {}) =>
  Mcp.client({
    name: "odd",
    transport: () => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair()
      void makeServer(mode, (line) => log.add(`${line}\n`)).connect(theirs)
      return ours
    },
    ...more
  })

export interface Web {
  readonly url: string
  readonly log: Log
  readonly requests: Array<{ readonly method: string; readonly headers: IncomingMessage["headers"] }>
  /** Forgets all sessions. */
  readonly forget: () => void
  /** Cuts all connections. */
  readonly cut: () => void
  /** Is asked first: a status to answer with, in the place of the server. */
  refuse: (request: IncomingMessage) => number | undefined
  /** What is said with it. */
  refusal: string
}

/** Our server over HTTP on the loopback. */
export const web = (
  mode: Mode = "plain",
  options: {
    readonly json?: boolean
    readonly resumable?: boolean
    readonly forgotten?: 400 | 404
    readonly stateless?: boolean
  } = {}
) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<{ readonly web: Web; readonly server: HttpServer }> => {
      const log = new Log()
      const sessions = new Map<string, StreamableHTTPServerTransport>()
      const server = createServer(async (request, response) => {
        web.requests.push({ method: request.method ?? "", headers: request.headers })
        log.add(`${request.method}\n`)
        response.on("close", () => {
          if (!response.writableFinished) log.add("cut off\n")
        })
        const status = web.refuse(request)
        if (status !== undefined) return void response.writeHead(status).end(web.refusal)
        const id = request.headers["mcp-session-id"]
        let session = typeof id === "string" ? sessions.get(id) : undefined
        if (id !== undefined && session === undefined) return void response.writeHead(options.forgotten ?? 404).end()
        if (session === undefined) {
          const made = new StreamableHTTPServerTransport({
            ...(options.stateless !== true && { sessionIdGenerator: randomUUID }),
            enableJsonResponse: options.json ?? false,
            ...(options.resumable === true && {
              eventStore: {
                storeEvent: async () => randomUUID(),
                replayEventsAfter: async (id: string) => id
              }
            }),
            onsessioninitialized: (id) => void sessions.set(id, made)
          })
          session = made
          // The SDK's own class fits its interface only where an optional property may be `undefined`.
          await makeServer(mode, (line) => log.add(`${line}\n`)).connect(made as Transport)
        }
        await session.handleRequest(request, response)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const web: Web = {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
        log,
        requests: [],
        forget: () => sessions.clear(),
        cut: () => server.closeAllConnections(),
        refuse: () => undefined,
        refusal: "go away, Bearer hush-hush"
      }
      return { web, server }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map(({ web }) => web))

/** Runs a tool of a provider, by the provider's own name of it. */
export const call = (provider: ToolProvider.ToolProvider, name: string, args: Readonly<Record<string, unknown>> = {}) =>
  Tool.run(provider.execution.execute({ id: "c", name, arguments: args }))

export const namesOf = (provider: ToolProvider.ToolProvider) =>
  Effect.map(provider.definitions.list, (tools) => tools.map((tool) => tool.name))

export const text = (provider: ToolProvider.ToolProvider, name: string, args?: Readonly<Record<string, unknown>>) =>
  Effect.map(call(provider, name, args), Message.renderOutcome)
