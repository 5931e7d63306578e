/**
 * Handlers that say how long their hooks took. They do what they did before.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Call from "../Call.ts"
import type { Definition } from "./handler.ts"
import { type AnyHooks, hookNames } from "./hooks.ts"
import type { ToolRequest } from "../Tool.ts"
import type { Place } from "./currentRun.ts"

/** One run of one hook. Times are in milliseconds. */
export interface Seen {
  readonly handler: string
  readonly hook: Place
  readonly startedAt: number
  readonly endedAt: number
  /** The time that was the hook's own: without what ran inside `next`. */
  readonly self: number
  /** The tool that a `wrapToolCall` was for. */
  readonly tool?: string
}

type See = (seen: Seen) => void
type Thunk = Effect.Effect<unknown, unknown, unknown>

const millis = (clock: Clock.Clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000n) / 1_000

/** Runs an effect and tells when it started and ended, however it did. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>, tell: (startedAt: number, endedAt: number) => void) =>
  Effect.clockWith((clock) => {
    const startedAt = millis(clock)
    return Effect.onExit(effect, () =>
      // Who looks on must not change what happens.
      Effect.catchAllDefect(
        Effect.sync(() => tell(startedAt, millis(clock))),
        (defect) => Effect.logWarning("An observer of a pipeline threw.", defect)
      )
    )
  })

const around = <C extends Call.Any>(call: C, tell: (startedAt: number, endedAt: number) => void): C =>
  (Call.isCall(call) ? Call.around(call, (effect) => timed(effect, tell)) : call) as C

const plain = (handler: string, hook: Place, see: See, run: (argument: unknown) => unknown) => (argument: unknown) =>
  timed(
    Effect.suspend((): Thunk => {
      const result = run(argument)
      return Effect.isEffect(result) ? (result as Thunk) : Effect.succeed(result)
    }),
    (startedAt, endedAt) => see({ handler, hook, startedAt, endedAt, self: endedAt - startedAt })
  )

type Next = (request: unknown) => Call.Any

const wrap =
  (handler: string, hook: Place, see: See, run: (request: unknown, next: Next) => Call.Any) =>
  (request: unknown, next: Next) => {
    let inside = 0
    const call = run(request, (request) =>
      around(next(request), (startedAt, endedAt) => (inside += endedAt - startedAt))
    )
    const tool = hook === "wrapToolCall" && { tool: (request as ToolRequest).name }
    return around(call, (startedAt, endedAt) =>
      see({ handler, hook, startedAt, endedAt, self: Math.max(0, endedAt - startedAt - inside), ...tool })
    )
  }

const observeHooks = (handler: string, hooks: AnyHooks, see: See): AnyHooks =>
  Object.fromEntries(
    hookNames.flatMap((hook) => {
      const run = hooks[hook]
      return run === undefined
        ? []
        : [[hook, (hook.startsWith("wrap") ? wrap : plain)(handler, hook, see, run as never)]]
    })
  )

/** The same handler, observed. */
export const observe = (definition: Definition, see: See): Definition => {
  const { name, source } = definition
  switch (source._tag) {
    case "Stateless":
      return { ...definition, source: { ...source, hooks: observeHooks(name, source.hooks, see) } }
    case "PerRun":
    case "Service":
      return {
        ...definition,
        source: { ...source, hooks: Effect.map(source.hooks, (hooks) => observeHooks(name, hooks, see)) }
      }
    case "Provide":
      return {
        ...definition,
        source: { ...source, service: plain(name, "provide", see, () => source.service)(undefined) }
      }
  }
}
