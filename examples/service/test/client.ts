import { Effect } from "effect"
import { type IncomingMessage, request } from "node:http"
import { text } from "node:stream/consumers"

/** What to send. `body` may come in several pieces, without a `content-length`. */
export interface Send {
  readonly path?: string
  readonly method?: string
  readonly token?: string
  readonly body?: string | Uint8Array | ReadonlyArray<string>
}

/** Sends a request on a connection of its own and waits for the head of the response. */
export const send = (port: number, { body = "", method = "POST", path = "/runs", token }: Send) =>
  Effect.async<IncomingMessage, Error>((resume) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false })
    sent.on("response", (response) => resume(Effect.succeed(response)))
    sent.on("error", (error) => resume(Effect.fail(error)))
    if (Array.isArray(body)) body.forEach((piece) => sent.write(piece))
    else if (body.length > 0) return void sent.end(body)
    sent.end()
  })

/** The rest of a response. */
export const rest = (response: IncomingMessage) => Effect.tryPromise(() => text(response))

/** Hangs up. */
export const drop = (response: IncomingMessage) => Effect.sync(() => void response.destroy())

/** The events in the text of a response. */
export const events = (text: string): ReadonlyArray<{ readonly _tag: string } & Record<string, unknown>> =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(/^event: \w+\ndata: (.*)$/.exec(event)![1]!))
