/**
 * How a run gets through its handlers to the loop and out again. Handlers are
 * entered in pipeline order, each inside the one before: its hooks are built,
 * then its `wrapAgent`, then its `beforeAgent`.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { AgentEvent } from "../AgentEvent.ts"
import type { AgentCall, AgentResult, RunConfig } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import type { AnyHooks, Definition } from "../Handler.ts"
import { isInstructions } from "../Instructions.ts"
import * as Instructions from "../Instructions.ts"
import { isTools } from "../Tools.ts"
import { compile, invoke, invokeWrap, type LoopHooks, type Resolved } from "./compile.ts"
import { CurrentRun } from "./currentRun.ts"
import { finished } from "./finish.ts"
import { type AgentSink, loop } from "./loop.ts"
import {
  answered,
  type Attempt,
  entered,
  historySoFar,
  leaving,
  newAttempt,
  type Place,
  within
} from "./run.ts"

type Leg = Effect.Effect<void, unknown, unknown>

/** A pipeline that is ready to run. */
export interface Ready {
  readonly handlers: ReadonlyArray<Definition>
  /** The compiled hooks, where they are the same for all runs. */
  readonly hooks: LoopHooks | undefined
  readonly output: object | undefined
}

/** Makes a pipeline ready. */
export const ready = (handlers: ReadonlyArray<Definition>, output: object | undefined): Ready => {
  const stateless = handlers.flatMap(({ name, source }) =>
    source._tag === "Stateless" ? [{ name, hooks: source.hooks }] : []
  )
  return { handlers, output, hooks: stateless.length === handlers.length ? compile(stateless) : undefined }
}

/** An attempt at a run: it ends with a result, or with one event that says why not. */
export const enter = (ready: Ready, config: RunConfig, sink: AgentSink): Leg =>
  Effect.suspend(() => {
    const path = new Path(ready, newAttempt(config), sink)
    return settled(path, path.next(0, config, []))
  })

const settled = ({ attempt, sink }: Path, leg: Leg): Leg => {
  const answering = Effect.catchAllCause(leg, (cause) => {
    const answer = finished(cause)
    return answer === undefined ? Effect.failCause(cause) : (sink.whole(answered(attempt, answer)) ?? Effect.void)
  })
  return sink.demand === "value"
    ? answering
    : Effect.onExit(answering, (exit) => (Exit.isFailure(exit) ? farewell(exit.cause, attempt, sink) : Effect.void))
}

/** The last event of an attempt that gave no result, unless one further inside has said it already. */
const farewell = (cause: Cause.Cause<unknown>, attempt: Attempt, sink: AgentSink) =>
  Effect.flatMap(CurrentRun, (run) => {
    if (run.said === true) return Effect.void
    const history = historySoFar(attempt)
    if (Cause.isInterruptedOnly(cause)) return sink.emit({ _tag: "Cancelled", history }) ?? Effect.void
    const error = Cause.squash(cause)
    const origin = run.origins?.get(error)
    return (
      sink.emit({
        _tag: "Failed",
        error,
        cause,
        history,
        ...(origin?.handler !== undefined && { handler: origin.handler }),
        ...(origin?.place !== undefined && { hook: origin.place })
      }) ?? Effect.void
    )
  })

/** The way of one attempt through the handlers. */
class Path {
  readonly ready: Ready
  readonly attempt: Attempt
  readonly sink: AgentSink
  /** Holds what hooks acquire; opened by the first that may. */
  scope: Scope.CloseableScope | undefined

  constructor(ready: Ready, attempt: Attempt, sink: AgentSink) {
    this.ready = ready
    this.attempt = attempt
    this.sink = sink
  }

  /** Enters handler `i` and all after it, then the loop. */
  next(i: number, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    const handler = this.ready.handlers[i]
    if (handler === undefined) return this.loop(config, resolved)
    const { name, source } = handler
    switch (source._tag) {
      case "Stateless":
        return this.hooks(i, name, source.hooks, config, resolved)
      case "Service":
        return Effect.flatMap(source.hooks, (hooks) => this.hooks(i, name, hooks, config, resolved))
      case "PerRun":
        return this.scoped(config, name, "effect", source.hooks, (hooks) =>
          isObject(hooks)
            ? this.hooks(i, name, hooks, config, resolved)
            : Effect.die(new TypeError(`Handler "${name}" was built without hooks.`))
        )
      case "Provide":
        return this.scoped(config, name, "provide", source.service, (service) =>
          Effect.flatMap(Effect.context<unknown>(), (context) =>
            within(
              // What is before sees the context as it was.
              this.next(i + 1, config, resolved.map((r) => (r.context === undefined ? { ...r, context } : r))),
              Context.add(context, source.tag, service)
            )
          )
        )
    }
  }

  /** Goes through the hooks of handler `i`: `wrapAgent` around all that follows, then `beforeAgent`. */
  private hooks(i: number, name: string, hooks: AnyHooks, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    const known = [...resolved, { name, hooks }]
    const { wrapAgent } = hooks
    if (wrapAgent === undefined) return this.before(i, name, hooks, config, known)
    const next = (config: RunConfig): AgentCall<AgentResult, unknown, unknown> =>
      Call.fromSink((sink) =>
        Effect.suspend(() => {
          const inside = new Path(this.ready, newAttempt(config), sink)
          return settled(inside, inside.before(i, name, hooks, config, known))
        })
      )
    return Call.into(
      invokeWrap<AgentEvent, AgentResult>(name, "wrapAgent", () => wrapAgent(config, next as Parameters<typeof wrapAgent>[1])),
      this.sink
    )
  }

  private before(i: number, name: string, hooks: AnyHooks, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    const { beforeAgent } = hooks
    if (beforeAgent === undefined) return this.next(i + 1, config, resolved)
    const changed = invoke(name, "beforeAgent", () => beforeAgent(config), isRunConfig)
    return Effect.isEffect(changed)
      ? this.scoped(config, name, undefined, changed, (after) => this.next(i + 1, attributed(after, name), resolved))
      : this.next(i + 1, attributed(changed, name), resolved)
  }

  /** Runs what a handler does on entry in the scope of this attempt, then goes on outside of it. */
  private scoped<A>(
    config: RunConfig,
    name: string,
    place: Place | undefined,
    effect: Effect.Effect<A, unknown, unknown>,
    then: (value: A) => Leg
  ): Leg {
    const named = place === undefined ? effect : leaving(effect, name, place)
    const inScope = (scope: Scope.Scope) =>
      Effect.flatMap(Effect.context<unknown>(), (context) => {
        const run = Context.get(context, CurrentRun)
        return Effect.flatMap(
          within(
            named,
            Context.add(entered(context, { ...run, instructions: config.instructions }), Scope.Scope, scope)
          ),
          then
        )
      })
    if (this.scope !== undefined) return inScope(this.scope)
    return Effect.flatMap(Scope.make(), (scope) => {
      this.scope = scope
      return Effect.onExit(inScope(scope), (exit) => Scope.close(scope, exit))
    })
  }

  private loop(config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    this.attempt.history = newAttempt(config).history
    const { hooks, output } = this.ready
    return Effect.flatMap(Effect.context<unknown>(), (context) => {
      const run = Context.get(context, CurrentRun)
      const same = run.instructions === config.instructions
      const inside = same ? context : entered(context, { ...run, instructions: config.instructions })
      const plan = {
        config,
        output,
        hooks: hooks ?? compile(resolved, resolved.some((r) => r.context !== undefined) ? inside : undefined)
      }
      const leg = loop(plan, this.attempt, this.sink)
      return same ? leg : within(leg, inside)
    })
  }
}

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null

const isRunConfig = (u: unknown): u is RunConfig =>
  isObject(u) &&
  "instructions" in u &&
  isInstructions(u.instructions) &&
  "tools" in u &&
  isTools(u.tools) &&
  "history" in u &&
  Array.isArray(u.history) &&
  "input" in u &&
  isObject(u.input) &&
  "options" in u &&
  isObject(u.options)

/** Sections that a handler added without a source get its name. */
const attributed = (config: RunConfig, name: string): RunConfig => {
  const instructions = Instructions.attribute(config.instructions, name)
  return instructions === config.instructions ? config : { ...config, instructions }
}
