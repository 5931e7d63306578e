/**
 * The ways to a server.
 */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Redacted from "effect/Redacted"
import type { HttpOptions, Limits, Secret, StdioOptions } from "../../mcp.ts"
import { watching } from "./fetching.ts"
import { soon, Watched } from "./watched.ts"

/** A way that was opened. */
interface Opened {
  readonly transport: Transport
  /** Ends a server that has not got as far as to answer. */
  readonly giveUp: () => void
  /** The transport, if it is watched already. */
  readonly watched?: Watched
  /** Says goodbye before the transport is closed. */
  readonly leave?: () => Promise<unknown>
}

/** A way to a server. */
export interface Way {
  /** What must not be seen. */
  readonly secrets: ReadonlyArray<string>
  readonly open: (limits: Limits) => Promise<Opened>
}

const reveal = (record: Readonly<Record<string, Secret>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(record).map(([key, secret]) => [key, Redacted.isRedacted(secret) ? Redacted.value(secret) : secret])
  )

const secretsIn = (record: Readonly<Record<string, Secret>> = {}): ReadonlyArray<string> =>
  Object.values(record).flatMap((secret) => (Redacted.isRedacted(secret) ? [Redacted.value(secret)] : []))

/** Characters from which on a piece of a path is taken for a key: a shorter one may be a word. */
const shortestKey = 16

/** What a server may repeat of a URL that nobody is to see: the whole, what stands behind the host, and the keys in it. */
const secretsOfUrl = (url: string): ReadonlyArray<string> => {
  if (!URL.canParse(url)) return [url]
  const { href, pathname, search, searchParams } = new URL(url)
  const inQuery = search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1))
  const inPath = pathname.split("/").filter((piece) => piece.length >= shortestKey)
  // What is in a query is written in one way and read in another.
  return [url, href, pathname + search, ...inPath, ...inQuery, ...searchParams.values()]
}

/** A program that is started. */
export const overStdio = ({ args = [], command, cwd, env, stderr = "drop" }: StdioOptions): Way => ({
  secrets: secretsIn(env),
  open: async (limits) => {
    // Only here: there are no programs to start in a browser.
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js")
    const transport = new StdioClientTransport({
      command,
      args: Array.from(args),
      env: reveal(env),
      stderr: stderr === "drop" ? "ignore" : stderr === "print" ? "inherit" : "pipe",
      maxBufferSize: limits.message,
      ...(cwd !== undefined && { cwd })
    })
    if (typeof stderr === "function") {
      const decoder = new TextDecoder()
      transport.stderr?.on("data", (chunk: Uint8Array) => stderr(decoder.decode(chunk, { stream: true })))
    }
    return {
      transport,
      giveUp: () => {
        if (transport.pid === null) return
        try {
          process.kill(transport.pid)
        } catch {
          // It has ended by itself.
        }
      }
    }
  }
})

/** A server that is reached over HTTP. */
export const overHttp = ({ fetch = globalThis.fetch, headers, url }: HttpOptions): Way => ({
  secrets: [...secretsIn(headers), ...(Redacted.isRedacted(url) ? secretsOfUrl(String(Redacted.value(url))) : [])],
  open: async (limits) => {
    const fetching = watching({ fetch, limit: limits.message, onLost: (id, tooLarge) => watched.lost(id, tooLarge) })
    const inner = new StreamableHTTPClientTransport(new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url), {
      fetch: fetching.fetch,
      requestInit: { headers: reveal(headers) }
    })
    // The SDK's own class fits its interface only where an optional property may be `undefined`.
    const watched = new Watched(inner as Transport)
    watched.ondropped = fetching.drop
    watched.onreport = (error) => {
      if (/Maximum reconnection attempts/.test(error.message)) fetching.noResuming()
    }
    return {
      transport: inner as Transport,
      watched,
      giveUp: () => {},
      leave: () => soon(inner.terminateSession().catch(() => {}))
    }
  }
})
