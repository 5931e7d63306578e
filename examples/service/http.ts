/**
 * `POST /runs` runs the agent and streams what happens as server-sent events;
 * `GET /health` says how many runs are under way. The run lives in the response:
 * when the client goes away, the server interrupts the response, and so the run.
 */
import { Agent, AgentEvent, type Call, type ChatModel, Instructions } from "@heddle/core"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Schema, Stream, SubscriptionRef } from "effect"
import { createServer } from "node:http"
import { agent } from "./agent.ts"
import { Journal } from "./Journal.ts"
import { CurrentUser, Unauthorized, Users } from "./Users.ts"

// -----------------------------------------------------------------------------
// requests
// -----------------------------------------------------------------------------

/** In bytes. */
const maxBody = 64 * 1024

export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", { message: Schema.String }) {}
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", { message: Schema.String }) {}

const RunRequest = Schema.Struct({
  question: Schema.NonEmptyString,
  /** What holds for this run alone. */
  instructions: Schema.optional(Schema.String)
})
const decodeRunRequest = Schema.decodeUnknown(Schema.parseJson(RunRequest))

const tooLarge = new TooLarge({ message: `A body may have ${maxBody} bytes.` })

/**
 * Reads the body, up to the limit. What is over it is read and dropped, since
 * to stop reading would be to hang up before the client has got its answer.
 */
const readBody = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (Number(request.headers["content-length"] ?? 0) > maxBody) return yield* tooLarge
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const { chunks, size } = yield* Stream.runFold(
    request.stream,
    { size: 0, chunks: Array.of<Uint8Array>() },
    (body, chunk) => {
      const size = body.size + chunk.length
      if (size <= maxBody) body.chunks.push(chunk)
      return { size, chunks: body.chunks }
    }
  )
  if (size > maxBody) return yield* tooLarge
  return yield* Effect.try(() => decoder.decode(Buffer.concat(chunks)))
})

const runRequest = Effect.flatMap(readBody, decodeRunRequest).pipe(
  Effect.catchTags({
    ParseError: ({ message }) => new BadRequest({ message }),
    UnknownException: () => new BadRequest({ message: "The body is not UTF-8." }),
    RequestError: () => new BadRequest({ message: "The body could not be read." })
  })
)

/** Who has the token of the `Authorization` header. */
const currentUser = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const token = /^Bearer (\S+)$/i.exec(headers["authorization"] ?? "")?.[1]
  if (token === undefined) return yield* new Unauthorized({ message: "Say who you are: Authorization: Bearer <token>" })
  return yield* (yield* Users).find(token)
})

// -----------------------------------------------------------------------------
// responses
// -----------------------------------------------------------------------------

type Event = AgentEvent.AgentEvent | Call.Reset

const toServerSentEvent = (event: Event) =>
  `event: ${event._tag}\ndata: ${JSON.stringify(AgentEvent.toJson(event))}\n\n`

const postRuns = Effect.gen(function* () {
  const user = yield* currentUser
  const { instructions = "", question } = yield* runRequest
  const context = yield* Effect.context<ChatModel.ChatModel | Journal>()
  const body = Agent.stream(agent, question).pipe(
    Instructions.scoped(Instructions.append(instructions, "request")),
    Stream.provideService(CurrentUser, user),
    Stream.provideContext(context),
    Stream.map(toServerSentEvent),
    // The last event has told the client; the log is told everything.
    Stream.catchAllCause((cause) => Stream.drain(Stream.fromEffect(Effect.logError("A run failed.", cause)))),
    Stream.encodeText
  )
  return HttpServerResponse.stream(body, {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
})

const refuse =
  (status: number) =>
  ({ _tag, message }: { readonly _tag: string; readonly message: string }) =>
    HttpServerResponse.json({ error: { _tag, message } }, { status }).pipe(Effect.orDie)

const getHealth = Effect.gen(function* () {
  const { active } = yield* Journal
  return yield* HttpServerResponse.json({ status: "ok", activeRuns: yield* SubscriptionRef.get(active) })
})

const app = HttpRouter.empty.pipe(
  HttpRouter.get("/health", getHealth),
  HttpRouter.post("/runs", postRuns),
  Effect.catchTags({
    BadRequest: refuse(400),
    Unauthorized: refuse(401),
    RouteNotFound: () => refuse(404)({ _tag: "NotFound", message: "There are POST /runs and GET /health." }),
    TooLarge: refuse(413)
  })
)

/** Serves on a port of this machine. When it is shut down, it hangs up and waits until the runs have been left. */
export const layer = (port: number) => {
  const server = createServer()
  const hangUp = Effect.flatMap(Journal, ({ active }) =>
    Effect.addFinalizer(() => {
      server.close()
      server.closeAllConnections()
      return Journal.until(active, 0)
    })
  )
  return Layer.merge(HttpServer.serve(app), Layer.scopedDiscard(hangUp)).pipe(
    Layer.provideMerge(NodeHttpServer.layerServer(() => server, { port, host: "127.0.0.1" }))
  )
}
