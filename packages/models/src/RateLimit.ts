/**
 * Keeps calls within the requests and tokens that a provider allows for a time: they
 * wait for their turn, or fail at once where that would take too long.
 *
 * It is a bucket, as providers have it: it holds what is allowed for one window, and
 * is filled evenly. Tokens are known when a call has ended, and are made up for by
 * those that come after; with an `estimate` they are reserved before.
 *
 * A limit is one bucket, for all models that it is put around.
 *
 * @example
 * ```ts
 * import { ModelDecorator, OfflineModel, RateLimit } from "@heddle/models"
 * import { Effect } from "effect"
 *
 * const limit = RateLimit.make({ requests: 60, tokens: 100_000, window: "1 minute", maxWait: "20 seconds" })
 * const Live = OfflineModel.layer.pipe(ModelDecorator.decorate(Effect.map(limit, ({ decorate }) => decorate)))
 * ```
 */
import { Call, type ChatModel, Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { count, tellingPaid } from "./internal/paid.ts"
import { positive } from "./internal/positive.ts"
import type { Decorator } from "./ModelDecorator.ts"

/** A limit. */
export interface RateLimit {
  /** A call that would have to wait for too long fails with a `RateLimited`, which says in `retryAfter` how long. */
  readonly decorate: Decorator
}

/** What is allowed. */
export interface Options {
  /** Calls in a window. @default Infinity */
  readonly requests?: number
  /** Tokens of requests and replies in a window. @default Infinity */
  readonly tokens?: number
  /** @default "1 minute" */
  readonly window?: Duration.DurationInput
  /** The tokens that a request is likely to take, for those that are under way at once. @default none */
  readonly estimate?: (request: ChatModel.ModelRequest) => number
  /** The longest that a call waits, and so how many may wait at once. @default "1 minute" */
  readonly maxWait?: Duration.DurationInput
}

/** A limit, of which nothing is used. Throws a `DefinitionError` for options that make no sense. */
export const make = (options: Options): Effect.Effect<RateLimit> => {
  const limits = {
    requests: whole("requests", options.requests ?? Infinity, 1),
    tokens: whole("tokens", options.tokens ?? Infinity, 1)
  }
  const window = Duration.toMillis(positive("window", options.window ?? "1 minute"))
  const maxWait = Duration.toMillis(positive("maxWait", options.maxWait ?? "1 minute"))
  const { estimate = () => 0 } = options
  return Effect.map(Effect.clock, (clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    const requests = new Bucket(limits.requests, window, now)
    const tokens = new Bucket(limits.tokens, window, now)
    const take = (now: number, times: number, estimated: number) => {
      requests.take(now, times)
      tokens.take(now, times * estimated)
    }
    /** Takes a place in the queue, and waits for it. A place that is given up is free for those who come then. */
    const turn = (clock: Clock.Clock, estimated: number) =>
      Effect.uninterruptibleMask((restore) => {
        take(clock.unsafeCurrentTimeMillis(), 1, estimated)
        const wait = Math.max(requests.wait, tokens.wait)
        if (wait === 0) return Effect.void
        const giveUp = Effect.sync(() => take(clock.unsafeCurrentTimeMillis(), -1, estimated))
        return wait > maxWait
          ? Effect.zipRight(giveUp, tooLong(wait))
          : Effect.onInterrupt(restore(Effect.sleep(wait)), () => giveUp)
      })
    return {
      decorate: (model) => ({
        call: (request) =>
          Call.unwrap(
            Effect.flatMap(Effect.clock, (clock) => {
              const estimated = count(estimate(request))
              // What is known takes the place of what was estimated.
              let known = estimated
              const paid = ({ inputTokens, outputTokens }: ChatModel.Usage) => {
                tokens.take(clock.unsafeCurrentTimeMillis(), inputTokens + outputTokens - known)
                known = 0
              }
              return Effect.as(turn(clock, estimated), tellingPaid(model.call(request), paid))
            })
          )
      })
    }
  })
}

const tooLong = (wait: number): Effect.Effect<never, Errors.ModelError> =>
  new Errors.ModelError({
    reason: "RateLimited",
    message: `The rate limit of this program lets no call through before ${Duration.format(Duration.millis(wait))}.`,
    retryAfter: wait
  })

/** What is left of a limit. Below 0 it has been promised to those who wait. */
class Bucket {
  private left: number
  private filledAt: number
  private readonly limit: number
  private readonly window: number

  constructor(limit: number, window: number, now: number) {
    this.left = this.limit = limit
    this.window = window
    this.filledAt = now
  }

  take(now: number, amount: number): void {
    if (this.limit === Infinity) return
    const filled = (Math.max(0, now - this.filledAt) * this.limit) / this.window
    this.left = Math.min(this.limit, this.left + filled) - amount
    this.filledAt = now
  }

  /** Milliseconds until all that was taken is there. */
  get wait(): number {
    return this.left >= 0 ? 0 : Math.ceil((-this.left * this.window) / this.limit)
  }
}
