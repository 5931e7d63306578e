/**
 * How a run gets through its handlers to the loop and out again. Handlers are
 * entered in pipeline order, each inside the one before: its hooks are built,
 * then its `wrapAgent`, then its `beforeAgent`.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import type { AgentEvent } from "../AgentEvent.ts"
import type { AgentCall, AgentResult, RunConfig } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import type { AnyHooks, Definition } from "../Handler.ts"
import * as History from "../History.ts"
import { isInstructions } from "../Instructions.ts"
import * as Instructions from "../Instructions.ts"
import * as Message from "../Message.ts"
import { isTools } from "../Tools.ts"
import { compile, invoke, invokeWrap, type LoopHooks, type Resolved } from "./compile.ts"
import { Cell } from "./currentRun.ts"
import { finished } from "./finish.ts"
import { type AgentSink, loop } from "./loop.ts"
import { Attempt, entered, within } from "./run.ts"
import { defect, leaving, wayOut } from "./wayOut.ts"

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

/** What a run begins with. */
export interface Beginning {
  readonly config: RunConfig
  readonly attempt: Attempt
  readonly sink: AgentSink
  readonly cell: Cell
}

/** A run, in a context of its own. `begin` makes what it begins with of the context around it. */
export const enter = (ready: Ready, begin: (context: Context.Context<unknown>) => Beginning): Leg =>
  Effect.withFiberRuntime((fiber) => {
    const context = fiber.getFiberRef(FiberRef.currentContext) as Context.Context<unknown>
    const { attempt, cell, config, sink } = begin(context)
    const path = new Path(ready, attempt, sink, cell)
    return path.run(() => path.next(0, config, []), { inside: entered(context, cell), outside: context })
  })

/** The contexts of a run as a whole. */
interface Contexts {
  readonly inside: Context.Context<unknown>
  readonly outside: Context.Context<unknown>
}

/** What there is to put back when an attempt is left. */
interface WayBack {
  readonly before: Pick<Cell, "attempt" | "instructions" | "metadata">
  readonly contexts: Contexts | undefined
  readonly around: Attempt | undefined
  readonly restore: (leg: Leg) => Leg
}

const enterContext = (context: Context.Context<unknown>, then: Leg): Leg =>
  Effect.zipRight(FiberRef.set(FiberRef.currentContext, context), then)

/** The way of one attempt through the handlers. */
class Path {
  readonly ready: Ready
  readonly attempt: Attempt
  readonly sink: AgentSink
  readonly cell: Cell

  constructor(ready: Ready, attempt: Attempt, sink: AgentSink, cell: Cell) {
    this.ready = ready
    this.attempt = attempt
    this.sink = sink
    this.cell = cell
  }

  /**
   * Runs the attempt, and ends it however it ends: what it acquired is released,
   * a finish becomes its result. The contexts are those of a run as a whole.
   */
  run(leg: () => Leg, contexts?: Contexts, around?: Attempt): Leg {
    const { attempt, cell } = this
    const before = { attempt: cell.attempt, instructions: cell.instructions, metadata: cell.metadata }
    cell.forget()
    return Effect.uninterruptibleMask((restore) => {
      cell.attempt = attempt
      const onFailure = (cause: Cause.Cause<unknown> | undefined) =>
        this.close(cause, { before, contexts, around, restore })
      const going = Effect.matchCauseEffect(restore(Effect.suspend(leg)), {
        onSuccess: () => onFailure(undefined),
        onFailure
      })
      return contexts === undefined ? going : enterContext(contexts.inside, going)
    })
  }

  /** Releases what was acquired, and leaves the attempt. */
  private close(cause: Cause.Cause<unknown> | undefined, way: WayBack): Leg {
    const closing = this.attempt.close(cause === undefined ? Exit.void : Exit.failCause(cause))
    if (closing === undefined) return this.leave(cause, way)
    return Effect.flatMap(Effect.exit(closing), (closed) => {
      if (Exit.isSuccess(closed)) return this.leave(cause, way)
      return this.leave(cause === undefined ? closed.cause : Cause.sequential(cause, closed.cause), way)
    })
  }

  /** Puts back what was before the attempt, and ends as it ended; a finish gives the result. */
  private leave(cause: Cause.Cause<unknown> | undefined, { around, before, contexts, restore }: WayBack): Leg {
    const { attempt, cell } = this
    const end = cause === undefined ? Effect.void : this.end(cause, contexts === undefined, restore)
    cell.attempt = before.attempt
    cell.instructions = before.instructions
    cell.metadata = before.metadata
    around?.follow(attempt)
    return contexts === undefined ? end : enterContext(contexts.outside, end)
  }

  private end(cause: Cause.Cause<unknown>, isInside: boolean, restore: WayBack["restore"]): Leg {
    const answer = finished(cause)
    return answer === undefined
      ? Effect.zipRight(isInside ? this.farewell(cause) : Effect.void, Effect.failCause(cause))
      : Effect.suspend(() => restore(this.sink.whole(this.attempt.answered(answer)) ?? Effect.void))
  }

  /** Tells the handlers around an attempt inside of a run that it gave no result. */
  private farewell(cause: Cause.Cause<unknown>): Effect.Effect<void> {
    const { attempt, cell, sink } = this
    if (sink.demand === "value") return Effect.void
    return sink.emit(lastEvent(cause, attempt, cell)) ?? Effect.void
  }

  /** Enters handler `i` and all after it, then the loop. */
  next(i: number, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    this.cell.follow(config)
    const handler = this.ready.handlers[i]
    if (handler === undefined) return this.loop(config, resolved)
    const { name, source } = handler
    switch (source._tag) {
      case "Stateless":
        return this.hooks(i, name, source.hooks, config, resolved)
      case "Service":
      case "PerRun":
        return Effect.flatMap(leaving(source.hooks, name, "effect"), (hooks) =>
          isObject(hooks)
            ? this.hooks(i, name, hooks, config, resolved)
            : defect(name, "effect", "was built without hooks")
        )
      case "Provide":
        return Effect.flatMap(leaving(source.service, name, "provide"), (service) =>
          Effect.flatMap(Effect.context<unknown>(), (context) =>
            within(
              // What is before sees the context as it was.
              this.next(
                i + 1,
                config,
                resolved.map((r) => (r.context === undefined ? { ...r, context } : r))
              ),
              Context.add(context, source.tag, service)
            )
          )
        )
    }
  }

  /** Goes through the hooks of handler `i`: `wrapAgent` around all that follows, then `beforeAgent`. */
  private hooks(i: number, name: string, hooks: AnyHooks, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    // The hooks of a pipeline without state are compiled already.
    const known = this.ready.hooks === undefined ? [...resolved, { name, hooks }] : resolved
    const { wrapAgent } = hooks
    if (wrapAgent === undefined) return this.before(i, name, hooks, config, known)
    let called = false
    const next = (config: RunConfig): AgentCall<AgentResult, unknown, unknown> =>
      Call.fromSink((sink) => {
        const attempt = (cell: Cell) => {
          const path = new Path(this.ready, new Attempt(config), sink, cell)
          // What follows goes on from where it has come to.
          return path.run(() => path.before(i, name, hooks, config, known), undefined, this.attempt)
        }
        if (!called) {
          called = true
          return attempt(this.cell)
        }
        // This attempt may go on beside the first.
        const cell = new Cell(this.cell.instructions, this.cell, this.attempt)
        return Effect.flatMap(Effect.context<unknown>(), (context) => within(attempt(cell), entered(context, cell)))
      })
    return Call.into(
      invokeWrap<RunConfig, AgentEvent, AgentResult>(name, "wrapAgent", wrapAgent, config, next),
      this.sink
    )
  }

  private before(i: number, name: string, hooks: AnyHooks, config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    this.cell.follow(config)
    const { beforeAgent } = hooks
    if (beforeAgent === undefined) return this.next(i + 1, config, resolved)
    const out = wayOut(name, "beforeAgent")
    const leg = invoke(name, "beforeAgent", out, beforeAgent, config, isRunConfig, (after) =>
      this.next(i + 1, attributed(config, after, name), resolved)
    )
    // What follows is a leg in any case.
    return leg as Leg
  }

  private loop(config: RunConfig, resolved: ReadonlyArray<Resolved>): Leg {
    const { attempt, cell, ready, sink } = this
    attempt.begin(config)
    const plan = { config, output: ready.output }
    if (ready.hooks !== undefined) return loop({ ...plan, hooks: ready.hooks }, attempt, sink, cell)
    if (resolved.every((r) => r.context === undefined))
      return loop({ ...plan, hooks: compile(resolved) }, attempt, sink, cell)
    return Effect.flatMap(Effect.context<unknown>(), (context) =>
      loop({ ...plan, hooks: compile(resolved, context) }, attempt, sink, cell)
    )
  }
}

/** The event that says why an attempt gave no result. */
export const lastEvent = (cause: Cause.Cause<unknown>, attempt: Attempt, cell: Cell): AgentEvent => {
  if (Cause.isInterruptedOnly(cause)) return { _tag: "Cancelled", ...attempt.soFar }
  const error = Cause.squash(cause)
  return { _tag: "Failed", error, cause, ...attempt.soFar, ...cell.originOf(error) }
}

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null

const isRunConfig = (u: unknown): u is RunConfig =>
  isObject(u) &&
  "instructions" in u &&
  isInstructions(u.instructions) &&
  "tools" in u &&
  isTools(u.tools) &&
  "history" in u &&
  History.isHistory(u.history) &&
  "input" in u &&
  Message.isMessage(u.input) &&
  "options" in u &&
  isObject(u.options) &&
  isOptions(u.options)

const isOptions = (options: object): boolean => {
  const { maxSteps, toolConcurrency } = options as Partial<RunConfig["options"]>
  return maxSteps !== undefined && maxSteps >= 0 && toolConcurrency !== undefined && toolConcurrency >= 1
}

/** Sections that a handler added without a source get its name. */
const attributed = (before: RunConfig, after: RunConfig, name: string): RunConfig => {
  if (before.instructions === after.instructions) return after
  const instructions = Instructions.attribute(after.instructions, name)
  return instructions === after.instructions ? after : { ...after, instructions }
}
