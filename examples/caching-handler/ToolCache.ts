/**
 * A handler with state that all runs share on purpose: it remembers what tool
 * calls gave. Its state is in a `Cache`, which runs a lookup once however many
 * ask for it at the same time; so there is no lock here, and nothing to forget.
 */
import { Call, Handler, type Message, Tool } from "@heddle/core"
import { Cache, Cause, type Duration, Effect, Equal, Exit, Hash, Layer } from "effect"

type Outcome = Exit.Exit<Message.ToolOutcome, Handler.Upstream>

/** A tool call: equal to those of the same tool with the same arguments. Whoever comes first runs it. */
class Question implements Equal.Equal {
  readonly tool: Tool.Any
  readonly arguments: string
  readonly ask: Effect.Effect<Outcome>
  constructor(tool: Tool.Any, args: unknown, ask: Effect.Effect<Outcome>) {
    this.tool = tool
    this.arguments = JSON.stringify(args)
    this.ask = ask
  }
  [Equal.symbol](that: unknown) {
    return that instanceof Question && that.tool === this.tool && that.arguments === this.arguments
  }
  [Hash.symbol]() {
    return Hash.string(this.arguments)
  }
}

const isKept = (outcome: Outcome) => Exit.isSuccess(outcome) && outcome.value._tag === "Succeeded"

/**
 * Answers the calls of tools that only read from a cache. A tool whose answer
 * depends on more than its arguments, such as on who asks, is none for it.
 */
export class ToolCache extends Handler.Tag("ToolCache")<ToolCache>() {
  /** Remembers up to `capacity` outcomes for `timeToLive`. Failures are not remembered. */
  static readonly layer = (options: { readonly capacity: number; readonly timeToLive: Duration.DurationInput }) =>
    Layer.effect(
      ToolCache,
      Effect.gen(function* () {
        const cache = yield* Cache.make({ ...options, lookup: (question: Question) => question.ask })

        // Interrupted: the run that had asked first was cancelled, so ask anew. (When it is our own run, nothing more runs here.)
        const find = (question: Question): Effect.Effect<Outcome> =>
          Effect.catchAllCause(cache.get(question), (cause) =>
            Cause.isInterruptedOnly(cause) ? find(question) : Effect.failCause(cause)
          )

        const answer = (question: Question) =>
          find(question).pipe(
            Effect.tap(() => cache.invalidateWhen(question, (outcome) => !isKept(outcome))),
            Effect.flatten
          )

        return {
          wrapToolCall: (request, next) =>
            request.tool?.annotations.readOnly
              ? Call.fromEffect(
                  // A cache looks up in the context in which it was made; the tool wants that of its run.
                  Effect.flatMap(Effect.context<never>(), (context) =>
                    answer(
                      new Question(
                        request.tool!,
                        request.arguments,
                        Effect.exit(Effect.provide(Tool.run(next(request)), context))
                      )
                    )
                  )
                )
              : next(request)
        }
      })
    )

  /** Remembers nothing. */
  static readonly Off = Layer.succeed(ToolCache, {})
}
