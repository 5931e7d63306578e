/**
 * One connection to a server, from the handshake until it is closed or lost.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type Progress, ResultSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Limits, Options, ServerInfo } from "../../mcp.ts"
import type { ToolDefinition } from "../../ToolProvider.ts"
import type { Failure, Teller } from "./failure.ts"
import { reader } from "./listing.ts"
import { Rest } from "./rest.ts"
import type { Way } from "./transports.ts"
import { Watched } from "./watched.ts"

/** A connection. */
export interface Connection {
  readonly info: ServerInfo
  /** Whether it can be used, as far as is known. */
  readonly isOpen: () => boolean
  /** The tools. They are asked for when they may have changed, though not at once again after a failure. */
  readonly list: Effect.Effect<ReadonlyArray<ToolDefinition>, Failure>
  /** Runs a tool for its result as the server says it. Interruption cancels it there. */
  readonly call: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
    onProgress?: (progress: Progress) => void
  ) => Effect.Effect<unknown, Failure>
}

/** Gives up what takes too long; the error says what was being done: "did not answer in time when it was …". */
export type InTime = <A, R>(doing: string, effect: Effect.Effect<A, Failure, R>) => Effect.Effect<A, Failure, R>

/** What a connection is opened with. */
export interface Opening {
  readonly options: Options
  readonly limits: Limits
  readonly way: Way
  readonly tell: Teller
  /** Is told when the list of tools may have changed. */
  readonly onChange: () => void
  readonly inTime: InTime
}

/** The SDK's own limit of time, which is ours to set by interruption: the longest that a timer has, in milliseconds. */
const noTimeout = 2 ** 31 - 1

const wentAtOnce =
  "went away before it had answered. What it writes to its error output may say why: see the option `stderr`."

/** Connects. The connection is closed with the scope. */
export const open = ({
  inTime,
  limits,
  onChange,
  options,
  tell,
  way
}: Opening): Effect.Effect<Connection, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    let answered = false
    let version = 0
    let isForgotten = false
    let isDeaf = false
    let tooLarge: string | undefined
    const client = new Client(options.clientInfo ?? { name: "heddle", version: "0" })
    const changed = () => {
      version++
      onChange()
    }
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed)
    const { watched } = yield* Effect.acquireRelease(
      Effect.map(Effect.tryPromise({ try: () => way.open(limits), catch: tell.ofCause }), (opened) => ({
        ...opened,
        watched: opened.watched ?? new Watched(opened.transport)
      })),
      ({ giveUp, leave, watched }) =>
        Effect.promise(async () => {
          if (!answered) giveUp()
          else if (!watched.closed) await leave?.()
          await watched.close().catch(() => {})
        })
    )
    Object.assign(client, {
      onclose: onChange,
      onerror: (error: Error) => {
        // Of what the SDK reports, it only says so in words.
        if (/exceeded maximum size/.test(error.message)) {
          tooLarge = `sent a message of more than ${limits.message} bytes.`
          watched.allLost(tooLarge)
        } else if (/Maximum reconnection attempts/.test(error.message)) isDeaf = true
        // While the stream of news was away, the list may have changed.
        else if (/SSE stream disconnected/.test(error.message)) changed()
      }
    })
    const ofCause = (cause: unknown): Failure =>
      tooLarge !== undefined
        ? tell.failure("InvalidResponse", tooLarge)
        : watched.closed
          ? tell.failure("Unavailable", answered ? "went away." : wentAtOnce, { passing: true })
          : tell.ofCause(cause, watched.sessionId !== undefined)
    const asking = (method: string, params: Record<string, unknown>, onprogress?: (progress: Progress) => void) =>
      Effect.tryPromise({
        try: (signal) =>
          client.request({ method, params }, ResultSchema, {
            signal,
            timeout: noTimeout,
            ...(onprogress && { onprogress })
          }),
        catch: ofCause
      }).pipe(
        Effect.tapError((failure) =>
          Effect.sync(() => {
            if (failure.forgotten) isForgotten = true
          })
        )
      )

    yield* Effect.tryPromise({
      // A class that has its session behind a getter fits the interface only where an optional property may be `undefined`.
      try: () => client.connect(watched as Transport, { timeout: noTimeout }),
      catch: ofCause
    })
    answered = true

    let known: { readonly version: number; readonly tools: ReadonlyArray<ToolDefinition> } | undefined
    const hasTools = client.getServerCapabilities()?.tools !== undefined
    const read = reader({ server: options.name, ask: (params) => asking("tools/list", params), limits, tell })
    const rest = new Rest()
    const listing = yield* Effect.makeSemaphore(1)
    const list = Effect.suspend(() => {
      if (!hasTools) return Effect.succeed([])
      if (known?.version === version && !isDeaf) return Effect.succeed(known.tools)
      // What changes while it is being read is read the next time.
      const asked = version
      return Effect.tap(rest.after(inTime("it was asked for its tools", read)), (tools) => {
        known = { version: asked, tools }
      })
    })

    const { name = options.name, version: serverVersion = "" } = client.getServerVersion() ?? {}
    const instructions = client.getInstructions()
    return {
      info: { name, version: serverVersion, ...(instructions !== undefined && { instructions }) },
      isOpen: () => !watched.closed && !isForgotten && tooLarge === undefined,
      list: listing.withPermits(1)(list),
      call: (tool, args, onProgress) => asking("tools/call", { name: tool, arguments: args }, onProgress)
    }
  })
