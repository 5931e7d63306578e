/**
 * What is done around the runner of a node: again, in time, or something else when it fails.
 */
import type { Call } from "@heddle/core"
import * as Effect from "effect/Effect"
import { NodeTimeout } from "../WorkflowErrors.ts"
import type { Runner, Running } from "./node.ts"
import type { Place } from "./run.ts"

export const retry =
  (runner: Runner, options: Call.RetryOptions<never, unknown>): Runner =>
  (input, outer) =>
    Effect.suspend(() => {
      const at = outer.apart()
      let attempt = 0
      let error: unknown
      const again = Effect.suspend(() => {
        if (attempt++ === 0) return runner(input, at)
        const stopped = at.run.enter()
        if (stopped !== undefined) return stopped
        at.forget()
        return Effect.flatMap(at.run.tell({ _tag: "NodeRetrying", path: at.path, attempt, error }), () =>
          runner(input, at)
        )
      })
      const noticed = Effect.tapError(again, (failure) => Effect.sync(() => (error = failure)))
      // `Effect.retry` reads its result's type off the options' own type, which is `RetryOptions` here.
      return Effect.retry(noticed, options as Call.RetryOptions<unknown, unknown>) as Running
    })

export const timeout =
  (name: string, runner: Runner, after: number): Runner =>
  (input, at) =>
    Effect.timeoutFail(
      Effect.suspend(() => runner(input, at)),
      { duration: after, onTimeout: () => new NodeTimeout({ node: name, after }) }
    )

export const orSkip =
  (runner: Runner): Runner =>
  (input, at) =>
    Effect.catchAll(runner(input, at), (error) =>
      Effect.as(at.run.tell({ _tag: "NodeSkipped", path: at.path, error }), input)
    )

export const orElse =
  (runner: Runner, fallback: (error: unknown, input: unknown, at: Place) => Running): Runner =>
  (input, at) =>
    Effect.catchAll(runner(input, at), (error) =>
      Effect.flatMap(at.run.tell({ _tag: "NodeFellBack", path: at.path, error }), () => fallback(error, input, at))
    )
