/**
 * Handlers that change nothing: one that logs every hook, one that does not.
 */
import { Call, Handler } from "@heddle/core"
import * as Effect from "effect/Effect"
import type { Point } from "./world.ts"

const passing = <C extends Call.Any>(call: C, name: string, point: Point): C =>
  Call.around(call, (effect) => Effect.onExit(Effect.zipRight(point(`${name}>`), effect), () => point(`${name}<`))) as C

/** A handler that forwards everything and logs every hook. */
export const probe = (name: string, point: Point): Handler.Handler =>
  Handler.make(name, {
    wrapAgent: (run, next) => passing(next(run), `${name}.wrapAgent`, point),
    beforeAgent: (run) =>
      Effect.as(
        Effect.acquireRelease(point(`${name}.acquire`), () => point(`${name}.release`)),
        run
      ),
    beforeModel: (history) => Effect.as(point(`${name}.beforeModel`), history),
    wrapModelCall: (request, next) => passing(next(request), `${name}.wrapModelCall`, point),
    afterModel: (history) => Effect.as(point(`${name}.afterModel`), history),
    wrapToolCall: (request, next) => passing(next(request), `${name}.wrapToolCall`, point)
  })

/** A handler that forwards everything. */
export const identity = (name: string): Handler.Handler =>
  Handler.make(name, {
    wrapAgent: (run, next) => next(run),
    beforeAgent: (run) => run,
    beforeModel: (history) => Effect.succeed(history),
    wrapModelCall: (request, next) => Call.map(next(request), (part) => part),
    afterModel: (history) => history,
    wrapToolCall: (request, next) => next(request)
  })
