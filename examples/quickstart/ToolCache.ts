/**
 * A cache of tool calls, shared by all runs on purpose: a handler that is a
 * service. Runs that make the same call at the same time share one.
 */
import { Call, Handler, type Message, Tool } from "@heddle/core"
import { Cache, Cause, type Context, type Duration, Effect, Equal, Exit, Hash, Layer } from "effect"

/** One call: equal to another with the same tool and arguments, whoever makes it. */
class Key<E> implements Equal.Equal {
  readonly id: string
  /** What does the work. */
  readonly work: Effect.Effect<Message.ToolOutcome, E>
  /** Whether this very call did the work, and not an equal one. */
  worked = false
  constructor(id: string, work: Effect.Effect<Message.ToolOutcome, E>) {
    this.id = id
    this.work = work
  }
  [Equal.symbol](that: unknown): boolean {
    return that instanceof Key && that.id === this.id
  }
  [Hash.symbol](): number {
    return Hash.string(this.id)
  }
}

type Outcomes = Cache.Cache<Key<Handler.Upstream>, Message.ToolOutcome, Handler.Upstream>

const outcome = (cache: Outcomes, key: Key<Handler.Upstream>): Effect.Effect<Message.ToolOutcome, Handler.Upstream> =>
  cache.get(key).pipe(
    Effect.onExit((exit) =>
      key.worked && !(Exit.isSuccess(exit) && exit.value._tag === "Succeeded") ? cache.invalidate(key) : Effect.void
    ),
    Effect.catchAllCause((cause) =>
      // The run that did the work for both was cancelled, and this one was not.
      Cause.isInterruptedOnly(cause) && !key.worked ? outcome(cache, key) : Effect.failCause(cause)
    )
  )

/** Keeps what tools answered that change nothing. Failures are not kept. */
export class ToolCache extends Handler.Tag("ToolCache")<ToolCache>() {
  static readonly layer = (options: { readonly capacity: number; readonly timeToLive: Duration.DurationInput }) =>
    Layer.effect(
      ToolCache,
      Effect.map(
        Cache.make({
          ...options,
          lookup: (key: Key<Handler.Upstream>) => {
            key.worked = true
            return key.work
          }
        }),
        (cache): Handler.Hooks => ({
          wrapToolCall: (request, next) =>
            request.tool?.annotations.readOnly
              ? Call.fromEffect(
                  Effect.contextWithEffect((context: Context.Context<never>) =>
                    // The work is done in the context of the run that asks, not of the layer.
                    outcome(
                      cache,
                      new Key(
                        JSON.stringify([request.name, request.arguments]),
                        Effect.provide(Tool.run(next(request)), context)
                      )
                    )
                  )
                )
              : next(request)
        })
      )
    )
}
