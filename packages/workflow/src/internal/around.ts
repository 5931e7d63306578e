/**
 * What is put around a node: a history policy, and what to do when it fails.
 */
import type { Call } from "@heddle/core"
import { Errors } from "@heddle/core"
import * as Duration from "effect/Duration"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import type { HistoryPolicy, Known, Needs } from "../HistoryPolicy.ts"
import type { NodeTimeout } from "../WorkflowErrors.ts"
import { checkedPolicy } from "./history.ts"
import { around, compile, label, makeNode } from "./node.ts"
import { type Any, type ContextOf, count, type ErrorOf, impl, type Node, typed, type ValueOf } from "./nodeType.ts"
import * as Run from "./attempts.ts"
import { call } from "./runners.ts"

/** Says how much of earlier runs the node, and what is inside of it, sees. */
export const withHistory: {
  <const P extends HistoryPolicy>(
    policy: P & Known<P>
  ): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In, Out, E, R | Needs<P>>
  <In, Out, E, R, const P extends HistoryPolicy>(
    self: Node<In, Out, E, R>,
    policy: P & Known<P>
  ): Node<In, Out, E, R | Needs<P>>
} = dual(2, (self: Any, policy: HistoryPolicy) => {
  const node = impl(self)
  return makeNode({ ...node, policy: { ...node.policy, ...checkedPolicy(policy, `Node "${label(node)}"`) } })
})

/** Runs the node again when it fails, as `times`, `while` and `schedule` say; `times` or `schedule` must be given. */
export const retry: {
  <E, R2 = never>(
    options: Call.RetryOptions<E, R2>
  ): <In, Out, R>(self: Node<In, Out, E, R>) => Node<In, Out, E, R | NoInfer<R2>>
  <In, Out, E, R, R2 = never>(
    self: Node<In, Out, E, R>,
    options: Call.RetryOptions<E, R2>
  ): Node<In, Out, E, R | NoInfer<R2>>
} = dual(2, (self: Any, options: Call.RetryOptions<never, unknown>) => {
  const node = impl(self)
  const where = `Retry of "${label(node)}"`
  const { schedule, times } = options ?? {}
  if (times !== undefined) count(where, "times", times, 0)
  else if (schedule === undefined) throw new Errors.DefinitionError(`${where} needs "times" or a "schedule".`)
  return around(node, times === undefined ? "retry" : `retry ${times}×`, (runner) => Run.retry(runner, options))
})

/** Interrupts the node and fails when it takes too long. With `retry` inside, all attempts together. */
export const timeout: {
  (after: Duration.DurationInput): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In, Out, E | NodeTimeout, R>
  <In, Out, E, R>(self: Node<In, Out, E, R>, after: Duration.DurationInput): Node<In, Out, E | NodeTimeout, R>
} = dual(2, (self: Any, after: Duration.DurationInput) => {
  const node = impl(self)
  const duration = Duration.decodeUnknown(after)
  const millis = Option.isSome(duration) ? Duration.toMillis(duration.value) : Number.NaN
  if (!(millis > 0)) {
    throw new Errors.DefinitionError(`The timeout of "${label(node)}" must be a duration of more than 0, not ${after}.`)
  }
  return around(node, `timeout ${Duration.format(millis)}`, (runner, { name }) => Run.timeout(name, runner, millis))
})

/** Passes the input on in place of an output when the node fails. */
export const orSkip = <In, Out, E, R>(self: Node<In, Out, E, R>): Node<In, Out | In, never, R> =>
  typed(around(impl(self), "skip on failure", Run.orSkip))

/** Runs another node with the same input when the node fails, or asks a function of the error and the input. */
export const orElse: {
  <In2, Out2, E2, R2>(
    fallback: Node<In2, Out2, E2, R2>
  ): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In & In2, Out | Out2, E2, R | R2>
  <In, E, X>(
    fallback: (error: E, input: In) => X
  ): <Out, R>(self: Node<In, Out, E, R>) => Node<In, Out | ValueOf<X>, ErrorOf<X>, R | ContextOf<X>>
  <In, Out, E, R, In2, Out2, E2, R2>(
    self: Node<In, Out, E, R>,
    fallback: Node<In2, Out2, E2, R2>
  ): Node<In & In2, Out | Out2, E2, R | R2>
  <In, Out, E, R, X>(
    self: Node<In, Out, E, R>,
    fallback: (error: E, input: In) => X
  ): Node<In, Out | ValueOf<X>, ErrorOf<X>, R | ContextOf<X>>
} = dual(2, (self: Any, fallback: Any | ((error: unknown, input: unknown) => unknown)) => {
  if (typeof fallback === "function") {
    return around(impl(self), "fallback", (runner) =>
      Run.orElse(runner, (error, input) => call(fallback, error, input))
    )
  }
  const node = impl(fallback)
  const wrap: Parameters<typeof around>[2] = (runner, env) => {
    const other = compile(node, env)
    return Run.orElse(runner, (_, input, at) => other(input, at))
  }
  return around(impl(self), "fallback", wrap, [{ role: "fallback", isFallback: true, node }])
})
