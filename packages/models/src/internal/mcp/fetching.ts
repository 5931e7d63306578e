/**
 * Requests over HTTP that are watched: how much comes back, and whether the answer
 * came before the end. The SDK's transport waits for ever where it did not.
 */
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { RequestId } from "@modelcontextprotocol/sdk/types.js"
import { TooLarge } from "./failure.ts"

/** Who is told of answers that do not come. */
interface Options {
  readonly fetch: FetchLike
  /** Bytes of one message. */
  readonly limit: number
  readonly onLost: (id: RequestId, tooLarge?: string) => void
}

/** Fetching, and giving up what is fetched. */
interface Fetching {
  readonly fetch: FetchLike
  /** Ends the request of a call that was cancelled: the server is not bound to. */
  readonly drop: (id: RequestId) => void
  /** Says that streams that have ended early will not be taken up again. */
  readonly noResuming: () => void
}

/** How long what was read last may take on its way through the SDK, in milliseconds. */
const grace = 50

/** Watches the answers to requests. */
export const watching = ({ fetch, limit, onLost }: Options): Fetching => {
  const going = new Map<RequestId, () => void>()
  const resuming = new Set<RequestId>()
  return {
    drop: (id) => {
      resuming.delete(id)
      going.get(id)?.()
    },
    noResuming: () => {
      for (const id of resuming) onLost(id)
      resuming.clear()
    },
    fetch: async (url, init) => {
      const id = requestId(init?.body)
      const abort = new AbortController()
      const follow = () => abort.abort(init?.signal?.reason)
      if (init?.signal?.aborted === true) follow()
      init?.signal?.addEventListener("abort", follow)
      if (id !== undefined) going.set(id, () => abort.abort())
      const over = () => {
        init?.signal?.removeEventListener("abort", follow)
        if (id !== undefined) going.delete(id)
      }
      try {
        const response = await fetch(url, { ...init, signal: abort.signal })
        const { body, status } = response
        if (body === null || status < 200 || status === 204 || status === 205 || status === 304) {
          over()
          return response
        }
        const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true
        const watched = measured(body, {
          measure: isEvents ? eventSizes() : total(),
          limit,
          onEnd: ({ resumable, tooLarge }) => {
            over()
            if (id === undefined || !isEvents) return
            if (resumable && tooLarge === undefined) resuming.add(id)
            else setTimeout(() => onLost(id, tooLarge), grace)
          }
        })
        if (id !== undefined) going.set(id, watched.drop(isEvents ? answered(id) : undefined))
        return new Response(watched.body, response)
      } catch (error) {
        over()
        throw error
      }
    }
  }
}

/** An event with an answer: with it the SDK does not try to take up the stream again. Nobody waits for the answer any more. */
const answered = (id: RequestId): Uint8Array =>
  new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n\n`)

const requestId = (body: unknown): RequestId | undefined => {
  if (typeof body !== "string") return undefined
  try {
    const { id, method } = JSON.parse(body) as { readonly id?: RequestId; readonly method?: unknown }
    return typeof method === "string" ? id : undefined
  } catch {
    return undefined
  }
}

/** How many bytes the message has that is being read, and whether the stream can be taken up again. */
interface Measure {
  readonly add: (chunk: Uint8Array) => number
  readonly resumable: () => boolean
}

const total = (): Measure => {
  let size = 0
  return { add: (chunk) => (size += chunk.length), resumable: () => false }
}

const newline = 10
const carriageReturn = 13
const idField = [105, 100, 58]

/** A message of an event stream ends with an empty line. A stream whose events have ids can be taken up again. */
const eventSizes = (): Measure => {
  let size = 0
  let column = 0
  let isId = true
  let hasIds = false
  return {
    resumable: () => hasIds,
    add: (chunk) => {
      let largest = 0
      for (const byte of chunk) {
        size++
        if (byte === newline) {
          largest = Math.max(largest, size)
          if (column === 0) size = 0
          column = 0
          isId = true
        } else if (byte !== carriageReturn) {
          if (isId && column < idField.length) {
            isId = byte === idField[column]
            hasIds ||= isId && column === idField.length - 1
          }
          column++
        }
      }
      return Math.max(largest, size)
    }
  }
}

interface Measured {
  readonly body: ReadableStream<Uint8Array>
  /** What ends the body early, with some last bytes if there are any. */
  readonly drop: (last: Uint8Array | undefined) => () => void
}

/** A body that is read no further when a message is too large, and whose end is told. */
const measured = (
  body: ReadableStream<Uint8Array>,
  options: {
    readonly measure: Measure
    readonly limit: number
    readonly onEnd: (end: { readonly resumable: boolean; readonly tooLarge?: string }) => void
  }
): Measured => {
  const { limit, measure, onEnd } = options
  const reader = body.getReader()
  let isOver = false
  const end = (tooLarge?: string) => {
    if (isOver) return
    isOver = true
    onEnd({ resumable: measure.resumable(), ...(tooLarge !== undefined && { tooLarge }) })
  }
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const out = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (isOver) return
        if (done) {
          end()
          controller.close()
        } else if (measure.add(value) > limit) {
          const error = new TooLarge(`sent a message of more than ${limit} bytes.`)
          end(error.message)
          controller.error(error)
          await reader.cancel(error)
        } else controller.enqueue(value)
      } catch (error) {
        if (isOver) return
        end()
        controller.error(error)
      }
    },
    cancel: (reason) => {
      isOver = true
      return reader.cancel(reason)
    }
  })
  return {
    body: out,
    drop: (last) => () => {
      if (isOver) return
      isOver = true
      if (last !== undefined) controller?.enqueue(last)
      controller?.close()
      void reader.cancel().catch(() => {})
    }
  }
}
