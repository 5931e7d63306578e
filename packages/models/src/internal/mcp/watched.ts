/**
 * A transport that knows which requests wait for an answer, so that one whose answer
 * cannot come any more fails at once.
 */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from "@modelcontextprotocol/sdk/types.js"
import { lostCode, tooLargeCode } from "./failure.ts"

/** How long the last messages may take to get out when a connection is closed, in milliseconds. */
const patience = 1000

/** A transport of the SDK around another. */
export class Watched {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  /** Is told of each request that was given up. */
  ondropped?: (id: RequestId) => void
  /** Is told of what the inner transport reports. */
  onreport?: (error: Error) => void
  closed = false
  readonly #inner: Transport
  readonly #waiting = new Set<RequestId>()
  readonly #sending = new Set<Promise<void>>()

  constructor(inner: Transport) {
    this.#inner = inner
  }
  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }
  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }
  start(): Promise<void> {
    const heard: Pick<Transport, "onclose" | "onerror" | "onmessage"> = {
      onclose: () => {
        this.closed = true
        this.onclose?.()
      },
      onerror: (error) => {
        this.onreport?.(error)
        this.onerror?.(error)
      },
      onmessage: (message, extra) => {
        const isAnswer = "id" in message && !("method" in message)
        // An answer that nobody waits for is that to a request that was given up.
        if (isAnswer && message.id !== undefined && !this.#waiting.delete(message.id)) return
        if (!isAnswer) return this.onmessage?.(message, extra)
        // The SDK handles news a turn later than answers, and so would drop those that have come just before.
        void Promise.resolve().then(() => Promise.resolve().then(() => this.onmessage?.(message, extra)))
      }
    }
    Object.assign(this.#inner, heard)
    return this.#inner.start()
  }
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const given = cancelled(message)
    if (given !== undefined) this.#waiting.delete(given)
    else if ("method" in message && "id" in message) this.#waiting.add(message.id)
    const sent = this.#inner.send(message, options)
    this.#sending.add(sent)
    try {
      await sent
    } finally {
      this.#sending.delete(sent)
      if (given !== undefined) this.ondropped?.(given)
    }
  }
  /** Answers a request in the place of the server: no answer will come. */
  lost(id: RequestId, tooLarge?: string): void {
    if (!this.#waiting.delete(id)) return
    const error = { code: tooLarge === undefined ? lostCode : tooLargeCode, message: tooLarge ?? "lost" }
    this.onmessage?.({ jsonrpc: "2.0", id, error })
  }
  /** Answers all requests in the place of the server. */
  allLost(tooLarge?: string): void {
    for (const id of Array.from(this.#waiting)) this.lost(id, tooLarge)
  }
  /** Closes, once what is on its way is out: a cancellation above all. */
  async close(): Promise<void> {
    if (!this.closed) await soon(Promise.allSettled(this.#sending))
    this.closed = true
    await this.#inner.close()
  }
}

/** Waits for a promise, though not for long. */
export const soon = (promise: Promise<unknown>): Promise<unknown> => {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const cancelled = (message: JSONRPCMessage): RequestId | undefined => {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  const id = message.params?.["requestId"]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}
