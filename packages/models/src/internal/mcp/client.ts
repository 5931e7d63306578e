/**
 * A client of a server: a provider of its tools over a connection that comes and goes.
 */
import { Call, type Tool } from "@heddle/core"
import type { Progress } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Limits, McpClient, Options } from "../../mcp.ts"
import type { ToolCall, ToolProviderError } from "../../ToolProvider.ts"
import { type Connection, type InTime, open } from "./connection.ts"
import { outcome } from "./content.ts"
import { type Failure, teller } from "./failure.ts"
import { reconnecting } from "./reconnecting.ts"
import type { Way } from "./transports.ts"

const defaults: Limits = {
  tools: 1000,
  description: 10_000,
  schema: 100_000,
  result: 1_000_000,
  message: 32 * 1024 * 1024
}

/** Pieces of news that wait for their reader. The oldest are dropped: what counts is how far it is. */
const newsBuffer = 64

/** Makes a client of a server that is reached in a way. */
export const make = (options: Options, way: Way): Effect.Effect<McpClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { name, timeout = "30 seconds" } = options
    const limits = { ...defaults, ...options.limits }
    const tell = teller(name, way.secrets)
    const changes = yield* Effect.acquireRelease(PubSub.sliding<void>(1), PubSub.shutdown)
    const onChange = () => void changes.unsafeOffer(undefined)
    const inTime: InTime = (doing, effect) =>
      Effect.timeoutFail(effect, {
        duration: timeout,
        onTimeout: () => tell.failure("Timeout", `did not answer in time when ${doing}.`)
      })
    const connection = yield* reconnecting(
      inTime("it was connected to", open({ options, limits, way, tell, onChange, inTime })),
      tell,
      onChange
    )

    /** Uses the connection; once more with another, if the server has forgotten this one. */
    const using = <A>(
      use: (connection: Connection) => Effect.Effect<A, Failure>
    ): Effect.Effect<A, ToolProviderError> =>
      Effect.flatMap(connection, use).pipe(
        Effect.catchIf(
          (failure) => failure.undone,
          () => Effect.flatMap(connection, use)
        ),
        Effect.mapError(({ error }) => error)
      )

    const execute = (call: ToolCall): Tool.ToolRun<ToolProviderError> =>
      Call.fromSink((sink) => {
        const called = (onProgress?: (progress: Progress) => void) =>
          using((connection) =>
            Effect.flatMap(connection.call(call.name, call.arguments, onProgress), (result) => {
              const done = outcome(call.name, result, { limits, files: options.files, clean: tell.clean })
              return done === undefined
                ? tell.failure(
                    "InvalidResponse",
                    `gave a result of ${JSON.stringify(tell.clean(call.name))} that is none.`
                  )
                : Effect.succeed(done)
            })
          )
        // Nobody wants news, so the server need not send any.
        if (sink.demand === "value") return Effect.flatMap(called(), (done) => sink.whole(done) ?? Effect.void)
        return withNews(called, (value) => sink.emit({ _tag: "Progress", value }) ?? Effect.void).pipe(
          Effect.flatMap((done) => sink.whole(done) ?? Effect.void)
        )
      })

    return {
      name,
      definitions: {
        list: using((connection) => connection.list),
        changes: Stream.fromPubSub(changes)
      },
      execution: { execute },
      connect: using((connection) => Effect.succeed(connection.info))
    }
  })

/** Runs work that tells news, showing them to `see` in their order, and all that are left before it ends. */
const withNews = <News, A, E>(
  work: (tell: (news: News) => void) => Effect.Effect<A, E>,
  see: (news: News) => Effect.Effect<void>
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const queue = yield* Queue.sliding<News | typeof over>(newsBuffer)
    const fiber = yield* Effect.fork(
      Effect.ensuring(
        work((news) => queue.unsafeOffer(news)),
        Queue.offer(queue, over)
      )
    )
    const seeing = Effect.gen(function* () {
      for (let news = yield* Queue.take(queue); news !== over; news = yield* Queue.take(queue)) yield* see(news)
      return yield* Fiber.join(fiber)
    })
    return yield* Effect.ensuring(seeing, Fiber.interrupt(fiber))
  })

const over: unique symbol = Symbol("over")
