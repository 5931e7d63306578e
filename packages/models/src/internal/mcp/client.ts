/**
 * A client of a server: connects when it is used, and again when that was lost.
 */
import { Call, type Tool } from "@heddle/core"
import type { Progress } from "@modelcontextprotocol/sdk/types.js"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Limits, McpClient, Options } from "../../mcp.ts"
import type { ToolCall, ToolProviderError } from "../../ToolProvider.ts"
import { type Connection, open } from "./connection.ts"
import { outcome } from "./content.ts"
import { type Failure, teller } from "./failure.ts"
import type { Way } from "./transports.ts"

const defaults: Limits = {
  tools: 1000,
  description: 10_000,
  schema: 100_000,
  result: 1_000_000,
  message: 32 * 1024 * 1024
}

/** When to try again to connect, if it may be otherwise in a moment. */
const again = Schedule.intersect(Schedule.exponential("200 millis"), Schedule.recurs(2))

/** How long nobody tries again after the given number of failures in a row, in milliseconds: a second, doubled each time up to a minute. */
const rest = (failures: number): number => Math.min(60_000, 1000 * 2 ** (failures - 1))

/** Pieces of news that wait for their reader. The oldest are dropped: what counts is how far it is. */
const newsBuffer = 64

/** Makes a client of a server that is reached in a way. */
export const make = (options: Options, way: Way): Effect.Effect<McpClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { name, timeout = "30 seconds" } = options
    const limits = { ...defaults, ...options.limits }
    const tell = teller(name, way.secrets)
    const scope = yield* Effect.scope
    const changes = yield* Effect.acquireRelease(PubSub.sliding<void>(1), PubSub.shutdown)
    const lock = yield* Effect.makeSemaphore(1)
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
      })
    )

    const onChange = () => void changes.unsafeOffer(undefined)
    const inTime = <A, E, R>(doing: string, effect: Effect.Effect<A, E, R>) =>
      Effect.timeoutFail(effect, {
        duration: timeout,
        onTimeout: () => tell.failure("Timeout", `did not answer in time when ${doing}.`)
      })

    /** A connection with a scope of its own, closed if it does not come about. */
    const opened = Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Scope.fork(scope, { _tag: "Sequential" }), (own) =>
        restore(inTime("it was connected to", open({ options, limits, way, tell, onChange }))).pipe(
          Scope.extend(own),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
          Effect.map((connection) => ({ connection, own }))
        )
      )
    )
    let current: { readonly connection: Connection; readonly own: Scope.CloseableScope } | undefined
    let failed: { readonly failure: Failure; readonly times: number; readonly until: number } | undefined
    const connect = Effect.gen(function* () {
      if (failed !== undefined && (yield* Clock.currentTimeMillis) < failed.until) return yield* failed.failure
      const before = current
      current = undefined
      if (before !== undefined) yield* Scope.close(before.own, Exit.void)
      current = yield* Effect.retry(opened, { schedule: again, while: (failure) => failure.passing }).pipe(
        Effect.tapError((failure) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const times = (failed?.times ?? 0) + 1
            failed = { failure, times, until: now + rest(times) }
          })
        )
      )
      failed = undefined
      if (before !== undefined) onChange()
      return current.connection
    })
    const connection = lock.withPermits(1)(
      Effect.suspend(() => {
        if (isClosed) return tell.failure("Unavailable", "is not connected any more: its scope is closed.")
        return current?.connection.isOpen() === true ? Effect.succeed(current.connection) : connect
      })
    )

    /** Uses the connection; once more with another, if the server has forgotten this one. */
    const using = <A>(
      use: (connection: Connection) => Effect.Effect<A, Failure>
    ): Effect.Effect<A, ToolProviderError> =>
      Effect.flatMap(connection, use).pipe(
        Effect.catchIf(
          (failure) => failure.forgotten,
          () => Effect.flatMap(connection, use)
        ),
        Effect.mapError(({ error }) => error)
      )

    const execute = (call: ToolCall): Tool.ToolRun<ToolProviderError> =>
      Call.fromSink((sink) => {
        const called = (onProgress?: (progress: Progress) => void) =>
          using((connection) =>
            Effect.flatMap(connection.call(call.name, call.arguments, onProgress), (result) => {
              const done = outcome(call.name, result, limits, options.files)
              return done === undefined
                ? tell.failure("InvalidResponse", `gave a result of ${JSON.stringify(call.name)} that is none.`)
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
        list: using((connection) => inTime("it was asked for its tools", connection.list)),
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
