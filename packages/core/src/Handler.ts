/**
 * A handler: a named value with hooks into an agent's run. Every hook is
 * optional; what a hook fails with and needs is read off its type.
 *
 * @example
 * ```ts
 * import { Call, Handler, Message } from "@heddle/core"
 *
 * const readOnly = Handler.make("read-only", {
 *   wrapToolCall: (request, next) =>
 *     request.tool?.annotations.destructive
 *       ? Call.succeed(Message.denied("only reading is allowed"))
 *       : next(request)
 * })
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { DefinitionError } from "./Errors.ts"
import { Finish } from "./internal/finish.ts"
import {
  type Definition,
  definition,
  DefinitionKey,
  fromDefinition,
  type Handler,
  stateless
} from "./internal/handler.ts"
import type { AnyHooks, HookName, Hooks, HooksContext, HooksError, Known } from "./internal/hooks.ts"
import { requireName } from "./internal/name.ts"

export {
  type AnyHooks,
  hookNames,
  type HookName,
  type Hooks,
  type HooksContext,
  type HooksError,
  type Known,
  type OrEffect,
  type Upstream
} from "./internal/hooks.ts"
export {
  type Any,
  type Context,
  type Definition,
  definition,
  type Error,
  fromDefinition,
  type Handler,
  type Info,
  isHandler,
  type Source,
  TypeId
} from "./internal/handler.ts"
export {
  afterAgent,
  afterModel,
  beforeAgent,
  beforeModel,
  catchError,
  fromMiddleware,
  instructions,
  mapInstructions,
  mapTools,
  type Middleware,
  onExit,
  provide,
  type RunExit,
  tools,
  tracing,
  wrapAgent,
  wrapModelCall,
  wrapToolCall
} from "./internal/shorthand.ts"

/** A stateless handler: one set of hooks, shared by all runs. */
export const make = <const H extends AnyHooks>(
  name: string,
  hooks: Known<H>
): Handler<never, HooksError<H>, HooksContext<H>> => stateless(name, hooks)

/**
 * A handler whose hooks are built afresh for each run, in the run's scope, so
 * that its state cannot leak from one run into another.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Effect, Ref } from "effect"
 *
 * const counter = Handler.effect(
 *   "counter",
 *   Effect.map(Ref.make(0), (calls) => ({
 *     afterModel: (history) => Effect.as(Ref.update(calls, (n) => n + 1), history)
 *   }))
 * )
 * ```
 */
export const effect = <const H extends AnyHooks, E, R>(
  name: string,
  hooks: Effect.Effect<Known<H>, E, R>
): Handler<never, E | HooksError<H>, Exclude<R, Scope.Scope> | HooksContext<H>> =>
  fromDefinition({ name, source: { _tag: "PerRun", hooks }, info: {} })

/** The class of a handler that is a service: a tag of hooks, and a handler that needs itself. */
export interface TagClass<Self, Name extends string, E> extends Context.Tag<Self, Hooks<E>>, Handler<never, E, Self> {
  new (_: never): Context.TagClassShape<Name, Hooks<E>>
}

/**
 * A handler that is a service: its hooks come from a `Layer`, built once for
 * the application and swapped in a test by another layer. `E` is what its hooks
 * fail with.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Effect, Layer, Ref } from "effect"
 *
 * class Meter extends Handler.Tag("Meter")<Meter>() {
 *   static readonly Live = Layer.effect(
 *     Meter,
 *     Effect.map(Ref.make(0), (calls) => ({
 *       afterModel: (history) => Effect.as(Ref.update(calls, (n) => n + 1), history)
 *     }))
 *   )
 * }
 * ```
 */
export const Tag =
  <const Name extends string>(name: Name) =>
  <Self, E = never>(): TagClass<Self, Name, E> => {
    const tag = Context.Tag(name)<Self, Hooks<E>>()
    const handler: Definition = {
      name: requireName("A handler", name),
      source: { _tag: "Service", hooks: tag as unknown as Effect.Effect<AnyHooks, unknown, unknown>, key: name },
      info: { needs: [name] }
    }
    return Object.assign(tag, { [DefinitionKey]: handler }) as unknown as TagClass<Self, Name, E>
  }

/** The failure by which a hook ends the run with an answer. It leaves the handler as a signal that the error handling of others does not catch. */
export type { Finish } from "./internal/finish.ts"

/** Ends the run with an answer, from any hook. Every handler that was entered is left as usual. */
export const finish = (answer: string): Effect.Effect<never, Finish> => Effect.fail(new Finish(answer))

// -----------------------------------------------------------------------------
// reading and describing
// -----------------------------------------------------------------------------

/**
 * The hooks of a stateless handler, for use as those of another: a tagged one
 * made of `Handler.onExit`, for example. Throws a `DefinitionError` for a handler
 * whose hooks are not known before a run.
 */
export const hooks = <E, R>(self: Handler<never, E, R>): Hooks<E, R> => {
  const { name, source } = definition(self)
  if (source._tag !== "Stateless") {
    throw new DefinitionError(`The hooks of handler "${name}" are not known before a run.`)
  }
  // What the hooks of a handler fail with and need is what the handler says.
  return source.hooks as Hooks<E, R>
}

/** What `Pipeline.explain` is to say of a handler that it cannot see: types are gone when a program runs. */
export interface Declaration<E, R> {
  /** The tags of the services that it needs. */
  readonly needs?: ReadonlyArray<{ readonly key: string; readonly Identifier: R }>
  /** The errors that it may fail with. */
  readonly fails?: ReadonlyArray<abstract new (...args: never) => E>
  /** The hooks, of a handler that is built for each run or by a layer. */
  readonly hooks?: ReadonlyArray<HookName>
}

/**
 * The same handler, telling `Pipeline.explain` what it needs and may fail with.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Schema } from "effect"
 *
 * class Denied extends Schema.TaggedError<Denied>()("Denied", {}) {}
 *
 * const guard = Handler.declare(
 *   Handler.beforeAgent((run) => (run.history.length > 100 ? new Denied() : run), "guard"),
 *   { fails: [Denied] }
 * )
 * ```
 */
export const declare = <P, E, R, H>(self: Handler<P, E, R, H>, declaration: Declaration<E, R>): Handler<P, E, R, H> => {
  const { info, ...rest } = definition(self)
  const { fails, hooks, needs } = declaration
  return fromDefinition({
    ...rest,
    info: {
      ...info,
      ...(needs && { needs: needs.map((tag) => tag.key) }),
      ...(fails && { fails: fails.map((error) => error.name) }),
      ...(hooks && { hooks })
    }
  })
}
