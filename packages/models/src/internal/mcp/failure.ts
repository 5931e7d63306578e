/**
 * What goes wrong with a server, as an error of ours that holds no secret.
 */
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Data from "effect/Data"
import { type Reason, ToolProviderError } from "../../ToolProvider.ts"

/** A failure, and what may be done about it. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly error: ToolProviderError
  /** Whether it may be otherwise in a moment. */
  readonly passing: boolean
  /** Whether the server has forgotten who we are: what was asked has not been done. */
  readonly forgotten: boolean
}> {}

/** How failures of one server are told. */
export interface Teller {
  readonly failure: (
    reason: Reason,
    message: string,
    about?: { readonly passing?: boolean; readonly forgotten?: boolean }
  ) => Failure
  readonly ofCause: (cause: unknown) => Failure
}

/** Codes of answers that we give in the place of the server. */
export const lostCode = -1
export const tooLargeCode = -2

/** A message has more bytes than are taken. */
export class TooLarge extends Error {}

/** Characters of what a server says that are repeated in an error. */
const longestSaid = 1000

/** Characters of a piece of a secret that is a secret itself: `Bearer` is none. */
const shortestSecret = 7

/** Tells failures of the server of a name. What it says itself is cut, and without secrets. */
export const teller = (name: string, secrets: ReadonlyArray<string>): Teller => {
  // Of `Bearer abc` a server may repeat `abc`.
  const kept = secrets
    .flatMap((secret) => [secret, ...secret.split(/\s+/).filter((piece) => piece.length >= shortestSecret)])
    .filter((secret) => secret !== "")
    .toSorted((a, b) => b.length - a.length)
  const clean = (text: string) => {
    const safe = kept.reduce((text, secret) => text.replaceAll(secret, "<redacted>"), text)
    return safe.length > longestSaid ? `${safe.slice(0, longestSaid)}…` : safe
  }
  const failure: Teller["failure"] = (reason, message, { forgotten = false, passing = false } = {}) =>
    new Failure({
      passing,
      forgotten,
      error: new ToolProviderError({ provider: name, reason, message: clean(`The MCP server "${name}" ${message}`) })
    })
  const ofHttp = (status: number | undefined): Failure => {
    if (status === 401 || status === 403)
      return failure("Unauthorized", `refuses the credentials (HTTP ${status}). Check the headers it is sent.`)
    if (status === undefined || status < 100)
      return failure("InvalidResponse", "answered with something else than MCP. Check the URL.")
    const forgotten = status === 400 || status === 404
    return failure("Unavailable", `answered with HTTP ${status}.`, { forgotten, passing: status >= 429 })
  }
  return {
    failure,
    ofCause: (cause) => {
      if (cause instanceof Failure) return cause
      if (cause instanceof TooLarge) return failure("InvalidResponse", cause.message)
      if (cause instanceof StreamableHTTPError) return ofHttp(cause.code)
      if (cause instanceof McpError) {
        if (cause.code === tooLargeCode) return failure("InvalidResponse", cause.message.replace(/^.*?: /, ""))
        if (cause.code === lostCode)
          return failure("Unavailable", "went away before it had answered.", { passing: true })
        return failure("Rejected", `refused: ${cause.message}`)
      }
      const { code, message, name: kind } = describe(cause)
      if (kind === "UnauthorizedError") return ofHttp(401)
      if (kind === "ZodError" || kind === "SyntaxError" || /protocol version/.test(message))
        return failure("InvalidResponse", "answered with something else than MCP.")
      // A command that is not there will not be there in a moment.
      if (code === "ENOENT" || code === "EACCES")
        return failure("Unavailable", `could not be started (${code}). Check the command and the folder.`)
      if (code === "ERR_INVALID_URL") return failure("Unavailable", "cannot be reached: its URL is none.")
      return failure("Unavailable", `cannot be reached${code === "" ? "" : ` (${code})`}.`, { passing: true })
    }
  }
}

/** What is known of an error. Its other properties, such as the arguments of a command, may be secret. */
const describe = (cause: unknown): { readonly code: string; readonly message: string; readonly name: string } => {
  if (!(cause instanceof Error)) return { code: "", message: "", name: "" }
  const { code } = cause as { readonly code?: unknown }
  const inner = cause.cause instanceof Error ? describe(cause.cause).code : ""
  return { code: typeof code === "string" ? code : inner, message: cause.message, name: cause.name }
}
