/**
 * Stops asking a model that keeps failing. After some failures in a row the circuit
 * is open: calls fail at once. After a while one call is let through to see; when it
 * goes well the circuit is closed again. One that takes as long as the circuit was open
 * is not waited for: another is let through beside it, and the first that ends decides.
 *
 * A breaker is one circuit, for all models that it is put around. Around a model that
 * leads to several, such as that of `ModelRegistry.layerChatModel`, it would shut out
 * all for the failures of one: there, each entry gets its own with the registry's `decorate`.
 *
 * @example
 * ```ts
 * import { CircuitBreaker, ModelDecorator, OfflineModel } from "@heddle/models"
 * import { Effect } from "effect"
 *
 * const Live = OfflineModel.layer.pipe(
 *   ModelDecorator.decorate(
 *     Effect.map(CircuitBreaker.make({ failures: 3, openFor: "10 seconds" }), (breaker) => breaker.decorate)
 *   )
 * )
 * ```
 */
import { Call, Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { positive } from "./internal/positive.ts"
import type { Decorator } from "./ModelDecorator.ts"

/** How the circuit is: closed, with failures in a row; open until a time (milliseconds since the epoch); or half open, while a call that was let through to see has not ended; another is let through from `until` on. */
export type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly until: number }
  | { readonly _tag: "HalfOpen"; readonly until: number }

/** A circuit. */
export interface CircuitBreaker {
  /**
   * While the circuit is open a call fails with an `Overloaded`, which says when to try
   * again in `retryAfter` and what the reason of the last failure was. No more of that
   * one: it may have been somebody else's call.
   */
  readonly decorate: Decorator
  readonly state: Effect.Effect<State>
}

/** When a circuit opens. */
export interface Options {
  /** Failures in a row. @default 5 */
  readonly failures?: number
  /** How long it is open before a call is let through to see, and before another is if that one has not ended. @default "30 seconds" */
  readonly openFor?: Duration.DurationInput
  /**
   * Which failures count. Any other says nothing of the model, as an interruption does not.
   * @default Overloaded, Timeout, Network, InvalidResponse and Unknown
   */
  readonly counts?: (error: Errors.ModelError) => boolean
}

const isDown = ({ reason }: Errors.ModelError): boolean =>
  reason === "Overloaded" ||
  reason === "Timeout" ||
  reason === "Network" ||
  reason === "InvalidResponse" ||
  reason === "Unknown"

/** A circuit, closed. Throws a `DefinitionError` for options that make no sense. */
export const make = (options: Options = {}): Effect.Effect<CircuitBreaker> => {
  const failures = whole("failures", options.failures ?? 5, 1)
  const openFor = Duration.toMillis(positive("openFor", options.openFor ?? "30 seconds"))
  const { counts = isDown } = options
  return Effect.sync(() => {
    const circuit = new Circuit(failures, openFor)
    const enter = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const ticket = circuit.enter(now)
      return ticket === undefined ? circuit.refusal(now) : Effect.succeed(ticket)
    })
    const leave = (ticket: number, exit: Exit.Exit<unknown, Errors.ModelError>) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (Exit.isSuccess(exit)) return circuit.answered(ticket)
        const failure = Cause.failureOption(exit.cause)
        if (failure._tag === "Some" && counts(failure.value)) circuit.failed(ticket, now, failure.value)
        else circuit.abandoned(ticket, now)
      }).pipe(
        // `counts` may throw.
        Effect.onError(() => Effect.map(Clock.currentTimeMillis, (now) => circuit.abandoned(ticket, now)))
      )
    return {
      state: Effect.sync(() => circuit.state),
      decorate: (model) => ({
        call: (request) =>
          Call.fromSink((sink) => Effect.acquireUseRelease(enter, () => Call.into(model.call(request), sink), leave))
      })
    }
  })
}

/** The states and what leads from one to the other. */
class Circuit {
  state: State = { _tag: "Closed", failures: 0 }
  /** Which stay in a state this is. What a call that was begun in another one has come to says nothing of this. */
  private stay = 0
  private lastReason: Errors.ModelErrorReason | undefined = undefined
  private readonly most: number
  private readonly openFor: number

  constructor(most: number, openFor: number) {
    this.most = most
    this.openFor = openFor
  }

  /** A ticket to come back with, if the call is let through. */
  enter(now: number): number | undefined {
    if (this.state._tag === "Closed") return this.stay
    if (now < this.state.until) return undefined
    const halfOpen: State = { _tag: "HalfOpen", until: now + this.openFor }
    // A call that is out to see for long still counts.
    if (this.state._tag === "HalfOpen") this.state = halfOpen
    else this.go(halfOpen)
    return this.stay
  }

  refusal(now: number): Errors.ModelError {
    const last = this.lastReason === undefined ? "" : `, last with ${this.lastReason}`
    return new Errors.ModelError({
      reason: "Overloaded",
      message: `The model is not asked, because it has failed too often${last}.`,
      ...(this.state._tag !== "Closed" && { retryAfter: this.state.until - now })
    })
  }

  answered(ticket: number): void {
    if (ticket !== this.stay) return
    if (this.state._tag === "HalfOpen") this.go({ _tag: "Closed", failures: 0 })
    else this.state = { _tag: "Closed", failures: 0 }
  }

  failed(ticket: number, now: number, error: Errors.ModelError): void {
    if (ticket !== this.stay) return
    this.lastReason = error.reason
    const failures = this.state._tag === "Closed" ? this.state.failures + 1 : this.most
    if (failures >= this.most) this.go({ _tag: "Open", until: now + this.openFor })
    else this.state = { _tag: "Closed", failures }
  }

  /** Nothing was learnt: the next call is let through in the place of one that was to see. */
  abandoned(ticket: number, now: number): void {
    if (ticket === this.stay && this.state._tag === "HalfOpen") this.go({ _tag: "Open", until: now })
  }

  private go(state: State): void {
    this.state = state
    this.stay++
  }
}
