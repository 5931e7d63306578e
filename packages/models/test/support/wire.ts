/**
 * A server on the loopback that answers byte by byte as it is told, keeps what it
 * was asked, and knows which connections were closed on it.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Deferred, Effect } from "effect"

/** What was asked. */
export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

/** What is answered. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** What becomes of the response after the body: its proper end, a broken connection, or nothing at all. */
  readonly after?: "end" | "break" | "stall"
}

interface Wire {
  readonly url: string
  readonly asked: ReadonlyArray<Asked>
  /** Done when a client has closed a connection before its response was over. */
  readonly closed: Deferred.Deferred<void>
  /** Done when a response has begun. */
  readonly begun: Deferred.Deferred<void>
}

/** Server-sent events. */
export const sse = (events: ReadonlyArray<unknown>): string =>
  events
    .map((event) => {
      const type = (event as { readonly type?: unknown }).type
      const data = typeof event === "string" ? event : JSON.stringify(event)
      return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${data}\n\n`
    })
    .join("")

const eventStream = { "content-type": "text/event-stream" }

/** Serves until the scope is closed. */
export const serve = (answer: (asked: Asked) => Answer | Promise<Answer>) =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const closed = yield* Deferred.make<void>()
    const begun = yield* Deferred.make<void>()
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", async () => {
        const question = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks).toString() }
        asked.push(question)
        const { body, headers = eventStream, status = 200, after = "end" } = await answer(question)
        response.on("close", () => {
          if (!response.writableFinished && after !== "break") Deferred.unsafeDone(closed, Effect.void)
        })
        response.writeHead(status, { ...headers })
        response.flushHeaders()
        if (body.length > 0) response.write(body)
        Deferred.unsafeDone(begun, Effect.void)
        if (after === "end") response.end()
        if (after === "break") setImmediate(() => response.destroy())
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    // A server that listens on a port has an address with one.
    const { port } = server.address() as AddressInfo
    const wire: Wire = { url: `http://127.0.0.1:${port}`, asked, closed, begun }
    return wire
  })

/** Passes everything on to another server. */
export const passTo =
  (url: string) =>
  async ({ body, headers, path }: Asked): Promise<Answer> => {
    const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey } = headers
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        ...(authorization && { authorization }),
        ...(typeof apiKey === "string" && { "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
        ...(typeof googleKey === "string" && { "x-goog-api-key": googleKey })
      }
    })
    const retryAfter = response.headers.get("retry-after")
    return {
      status: response.status,
      headers: {
        "content-type": response.headers.get("content-type") ?? "application/json",
        ...(retryAfter !== null && { "retry-after": retryAfter })
      },
      body: new Uint8Array(await response.arrayBuffer())
    }
  }
