/**
 * What can be put around a model: another one to fall back to, tries, time limits, a
 * choice by the request. Each is a function from a model to a model, so they are put
 * together with `flow`, the innermost first, and interrupting a call ends all of them.
 * Those that remember something have modules of their own: `CircuitBreaker`,
 * `RateLimit` and `UsageMeter`.
 *
 * @example
 * ```ts
 * import { CircuitBreaker, ModelDecorator, OfflineModel } from "@heddle/models"
 * import { Effect, flow } from "effect"
 *
 * const Live = OfflineModel.layer.pipe(
 *   ModelDecorator.decorate(
 *     Effect.gen(function* () {
 *       const breaker = yield* CircuitBreaker.make({ failures: 5, openFor: "30 seconds" })
 *       return flow(
 *         ModelDecorator.timeout({ firstPart: "20 seconds", total: "2 minutes" }),
 *         breaker.decorate,
 *         ModelDecorator.retry({ times: 3 }),
 *         ModelDecorator.fallback(OfflineModel.make())
 *       )
 *     })
 *   )
 * )
 * ```
 */
import { Call, ChatModel, Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { positive } from "./internal/positive.ts"

/** Makes another model of a model. */
export interface Decorator {
  (model: ChatModel.Service): ChatModel.Service
}

/** Puts something around the model of a layer. An Effect that makes it is run when the layer is built: what it remembers is that of the layer. */
export const decorate: {
  <E2 = never, R2 = never>(
    decorator: Decorator | Effect.Effect<Decorator, E2, R2>
  ): <E, R>(
    self: Layer.Layer<ChatModel.ChatModel, E, R>
  ) => Layer.Layer<ChatModel.ChatModel, E | E2, R | Exclude<R2, Scope.Scope>>
  <E, R, E2 = never, R2 = never>(
    self: Layer.Layer<ChatModel.ChatModel, E, R>,
    decorator: Decorator | Effect.Effect<Decorator, E2, R2>
  ): Layer.Layer<ChatModel.ChatModel, E | E2, R | Exclude<R2, Scope.Scope>>
} = dual(
  2,
  <E, R, E2, R2>(
    self: Layer.Layer<ChatModel.ChatModel, E, R>,
    decorator: Decorator | Effect.Effect<Decorator, E2, R2>
  ): Layer.Layer<ChatModel.ChatModel, E | E2, R | Exclude<R2, Scope.Scope>> =>
    Layer.flatMap(self, (context) =>
      Layer.scoped(
        ChatModel.ChatModel,
        Effect.map(Effect.isEffect(decorator) ? decorator : Effect.succeed(decorator), (put) =>
          put(Context.get(context, ChatModel.ChatModel))
        )
      )
    )
)

// -----------------------------------------------------------------------------
// when a call fails
// -----------------------------------------------------------------------------

/** Whether the same request may well be answered a little later: `RateLimited`, `Overloaded`, `Timeout` and `Network`. */
export const isTransient = ({ reason }: Errors.ModelError): boolean =>
  reason === "RateLimited" || reason === "Overloaded" || reason === "Timeout" || reason === "Network"

/** Whether another model may answer where this one fails: all but `BadRequest` and `ContentFilter`, which are about the request. A model that is gone is `Authentication`. */
const isOfTheModel = ({ reason }: Errors.ModelError): boolean => reason !== "BadRequest" && reason !== "ContentFilter"

/** When to ask the next model. */
export interface FallbackOptions {
  /** Not asked for a failure of which this does not hold. @default all but BadRequest and ContentFilter */
  readonly when?: (error: Errors.ModelError) => boolean
}

/**
 * Asks another model when this one fails. What the first has said is taken back by a
 * `Reset`. The error is that of the model that was asked last. The other is given the
 * same request: `ModelRegistry.named` sees to it that it has a name of its own.
 */
export const fallback =
  (next: ChatModel.Service, { when = isOfTheModel }: FallbackOptions = {}): Decorator =>
  (model) => ({
    call: (request) =>
      Call.orElse(model.call(request), (error): ChatModel.ModelCall =>
        when(error) ? next.call(request) : Call.fail(error)
      )
  })

/** How a model is asked again. */
export interface RetryOptions {
  /** More calls after the first one. @default 4 */
  readonly times?: number
  /** Which failures. @default isTransient */
  readonly while?: (error: Errors.ModelError) => boolean
  /** The first wait, which is doubled for each one after, and made up to a fifth longer or shorter by chance. @default "500 millis" */
  readonly baseDelay?: Duration.DurationInput
  /** The longest wait. A provider that wants a longer one (`retryAfter`) is not asked again. @default "1 minute" */
  readonly maxDelay?: Duration.DurationInput
}

/**
 * Asks again after a failure that may pass, no sooner than the provider says. What a
 * failed attempt has said is taken back by a `Reset`. The error is that of the last
 * attempt. Throws a `DefinitionError` for options that make no sense.
 */
export const retry = (options: RetryOptions = {}): Decorator => {
  const times = whole("times", options.times ?? 4, 0)
  const { while: may = isTransient } = options
  const baseDelay = positive("baseDelay", options.baseDelay ?? "500 millis")
  const maxDelay = positive("maxDelay", options.maxDelay ?? "1 minute")
  const wanted = ({ retryAfter = 0 }: Errors.ModelError) => Duration.millis(retryAfter)
  const schedule = Schedule.exponential(baseDelay).pipe(
    Schedule.jittered,
    Schedule.intersect(Schedule.identity<Errors.ModelError>()),
    Schedule.modifyDelay(([, error], delay) => Duration.max(Duration.min(delay, maxDelay), wanted(error)))
  )
  return (model) => ({
    call: (request) =>
      Call.retry(model.call(request), {
        times,
        while: (error) => may(error) && Duration.lessThanOrEqualTo(wanted(error), maxDelay),
        schedule
      })
  })
}

// -----------------------------------------------------------------------------
// how long a call takes, and where it goes
// -----------------------------------------------------------------------------

/** How long a call may take. Both begin with the call, and what its reader takes counts. */
export interface TimeoutOptions {
  /** Until the model has said anything, a thought too. It is asked for its parts then, even where only the reply is wanted. */
  readonly firstPart?: Duration.DurationInput
  readonly total?: Duration.DurationInput
}

/** Fails with a `Timeout`, after interrupting the call, when the model takes too long. */
export const timeout = (options: TimeoutOptions): Decorator => {
  const firstPart = options.firstPart === undefined ? undefined : positive("firstPart", options.firstPart)
  const total = options.total === undefined ? undefined : positive("total", options.total)
  return (model) => ({
    call: (request) => {
      const call = model.call(request)
      const begun = firstPart === undefined ? call : beginningWithin(call, firstPart)
      return total === undefined ? begun : Call.around(begun, within(total, "has not finished"))
    }
  })
}

const within = (duration: Duration.Duration, what: string) =>
  Effect.timeoutFail({
    duration,
    onTimeout: () =>
      new Errors.ModelError({
        reason: "Timeout",
        message: `The model ${what} within ${Duration.format(duration)}.`
      })
  })

const beginningWithin = (call: ChatModel.ModelCall, duration: Duration.Duration): ChatModel.ModelCall =>
  Call.fromSink((sink) =>
    Effect.suspend(() => {
      const begun = Effect.unsafeMakeLatch()
      const told = Call.tap(call, () => void begun.unsafeOpen())
      const watch = Effect.zipRight(within(duration, "has said nothing")(begun.await), Effect.never)
      return Effect.raceFirst(Call.into(told, sink), watch)
    })
  )

/** A model that chooses one for each request. */
export const route = (
  choose: (request: ChatModel.ModelRequest) => ChatModel.Service | Effect.Effect<ChatModel.Service, Errors.ModelError>
): ChatModel.Service => ({
  call: (request) =>
    Call.unwrap(
      Effect.suspend(() => {
        const chosen = choose(request)
        return Effect.map(Effect.isEffect(chosen) ? chosen : Effect.succeed(chosen), (model) => model.call(request))
      })
    )
})
