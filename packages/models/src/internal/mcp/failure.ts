/**
 * What goes wrong with a server, as an error of ours that holds no secret.
 */
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Data from "effect/Data"
import { type Reason, ToolProviderError } from "../../ToolProvider.ts"
import { secretsOf, without } from "../redact.ts"

/** A failure, and what may be done about it. */
export class Failure extends Data.TaggedError("Failure")<{
  readonly error: ToolProviderError
  /** Whether it may be otherwise in a moment. */
  readonly passing: boolean
  /** Whether the server has forgotten who we are, so that another connection is needed. */
  readonly forgotten: boolean
  /** Whether it is sure that what was asked has not been done, so that it can be asked once more. */
  readonly undone: boolean
}> {}

/** How failures of one server are told. */
export interface Teller {
  readonly failure: (
    reason: Reason,
    message: string,
    about?: { readonly passing?: boolean; readonly forgotten?: boolean; readonly undone?: boolean }
  ) => Failure
  /** `hasSession`: whether the server has named a session. */
  readonly ofCause: (cause: unknown, hasSession?: boolean) => Failure
  /** Text of the server without secrets. */
  readonly clean: (text: string) => string
}

/** Codes of answers that we give in the place of the server. */
export const lostCode = -1
export const tooLargeCode = -2

/** A message has more bytes than are taken. */
export class TooLarge extends Error {}

/** Characters of what a server says that are repeated in an error. */
const longestSaid = 1000

/** Characters of a piece of a secret that is a secret itself: `Bearer` is none. */
const shortestPiece = 7

/** Tells failures of the server of a name. What it says itself is cut, and without secrets. */
export const teller = (name: string, secrets: ReadonlyArray<string>): Teller => {
  // Of `Bearer abc` a server may repeat `abc`.
  const pieces = secrets.flatMap((secret) => secret.split(/\s+/).filter((piece) => piece.length >= shortestPiece))
  const kept = secretsOf([...secrets, ...pieces])
  const clean = (text: string) => without(text, kept)
  const failure: Teller["failure"] = (reason, message, about = {}) => {
    const { forgotten = false, passing = false, undone = false } = about
    const said = clean(`The MCP server "${name}" ${message}`)
    const error = new ToolProviderError({
      provider: name,
      reason,
      message: said.length > longestSaid ? `${said.slice(0, longestSaid)}…` : said
    })
    return new Failure({ passing, forgotten, undone, error })
  }
  const ofHttp = (status: number | undefined, body: string, hasSession: boolean): Failure => {
    const said = body === "" ? "" : ` It says: ${messageIn(body) ?? body}`
    if (status === 401 || status === 403)
      return failure("Unauthorized", `refuses the credentials (HTTP ${status}). Check the headers it is sent.${said}`)
    if (status === undefined || status < 100)
      return failure("InvalidResponse", "answered with something else than MCP. Check the URL.")
    // 404 is how the protocol says it; 400 may as well be about the arguments.
    const forgotten = hasSession && (status === 404 || status === 400) && isOfSession(body)
    const about = { forgotten, undone: forgotten && status === 404, passing: status >= 429 }
    return failure("Unavailable", `answered with HTTP ${status}.${said}`, about)
  }
  return {
    clean,
    failure,
    ofCause: (cause, hasSession = false) => {
      if (cause instanceof Failure) return cause
      if (cause instanceof TooLarge) return failure("InvalidResponse", cause.message)
      if (cause instanceof StreamableHTTPError) return ofHttp(cause.code, bodyOf(cause), hasSession)
      if (cause instanceof McpError) {
        if (cause.code === tooLargeCode) return failure("InvalidResponse", cause.message.replace(/^.*?: /, ""))
        if (cause.code === lostCode)
          return failure("Unavailable", "went away before it had answered.", { passing: true })
        return failure("Rejected", `refused: ${cause.message}`)
      }
      const { code, message, name: kind } = describe(cause)
      if (kind === "UnauthorizedError") return ofHttp(401, "", hasSession)
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

/** What the server has said to a request that it refuses. The SDK has it in the message alone. */
const bodyOf = ({ message }: StreamableHTTPError): string => {
  const said = /^.*?Error POSTing to endpoint: ([^]*)$/.exec(message)?.[1]?.trim()
  return said === undefined || said === "null" ? "" : said
}

/** The message of an error of JSON-RPC. */
const messageIn = (body: string): string | undefined => {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly message?: unknown } }
    return typeof error?.message === "string" ? error.message : undefined
  } catch {
    return undefined
  }
}

/** Whether a refusal is about the session, as far as the server says: an error of its own that does not name it is not. */
const isOfSession = (body: string): boolean => /session/i.test(messageIn(body) ?? "session")

/** What is known of an error. Its other properties, such as the arguments of a command, may be secret. */
const describe = (cause: unknown): { readonly code: string; readonly message: string; readonly name: string } => {
  if (!(cause instanceof Error)) return { code: "", message: "", name: "" }
  const { code } = cause as { readonly code?: unknown }
  const inner = cause.cause instanceof Error ? describe(cause.cause).code : ""
  return { code: typeof code === "string" ? code : inner, message: cause.message, name: cause.name }
}
