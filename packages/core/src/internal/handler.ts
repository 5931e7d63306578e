/**
 * What a handler is made of.
 */
import type { Tag } from "effect/Context"
import type * as Effect from "effect/Effect"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type { AnyHooks, HookName } from "./hooks.ts"
import { requireName } from "./name.ts"

/** @internal */
export const TypeId: unique symbol = Symbol.for("@heddle/core/Handler")

/**
 * A handler. `Provides`: the services that all after it can use. `E`: what it
 * fails with. `R`: what it needs. `Handles`: the errors from within that it
 * answers, so that they leave the type.
 */
export interface Handler<out Provides = never, out E = never, out R = never, out Handles = never> extends Pipeable {
  readonly [TypeId]: {
    readonly _Provides: (_: never) => Provides
    readonly _E: (_: never) => E
    readonly _R: (_: never) => R
    readonly _Handles: (_: never) => Handles
  }
}

/** Any handler. */
export type Any = Handler<unknown, unknown, unknown, unknown>

/** What a handler fails with. */
export type Error<H> = H extends Handler<infer _P, infer E, infer _R, infer _H> ? E : never
/** What a handler needs. */
export type Context<H> = H extends Handler<infer _P, infer _E, infer R, infer _H> ? R : never

/** How a handler comes by its hooks. */
export type Source =
  | { readonly _tag: "Stateless"; readonly hooks: AnyHooks }
  | { readonly _tag: "PerRun"; readonly hooks: Effect.Effect<AnyHooks, unknown, unknown> }
  | { readonly _tag: "Service"; readonly hooks: Effect.Effect<AnyHooks, unknown, unknown>; readonly key: string }
  | {
      readonly _tag: "Provide"
      readonly tag: Tag<unknown, unknown>
      readonly service: Effect.Effect<unknown, unknown, unknown>
    }

/** What a handler says about itself beyond its types, for `Pipeline.explain`. */
export interface Info {
  /** The hooks, where they are not known before they are built. */
  readonly hooks?: ReadonlyArray<HookName>
  readonly needs?: ReadonlyArray<string>
  readonly fails?: ReadonlyArray<string>
  readonly handles?: ReadonlyArray<string>
}

/** What a handler is made of. */
export interface Definition {
  readonly name: string
  readonly source: Source
  readonly info: Info
}

/** @internal */
export const DefinitionKey: unique symbol = Symbol.for("@heddle/core/Handler/Definition")

class HandlerImpl<P, E, R, H> implements Handler<P, E, R, H>, Pipeable {
  declare readonly [TypeId]: Handler<P, E, R, H>[typeof TypeId]
  readonly [DefinitionKey]: Definition
  readonly name: string
  constructor(definition: Definition) {
    this.name = requireName("A handler", definition.name)
    this[DefinitionKey] = definition
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is a handler. */
export const isHandler = (u: unknown): u is Any =>
  ((typeof u === "object" && u !== null) || typeof u === "function") && DefinitionKey in u

/** What a handler is made of, for those who inspect or rewrite handlers. */
export const definition = (self: Any): Definition =>
  (self as HandlerImpl<unknown, unknown, unknown, unknown>)[DefinitionKey]

/** A handler from its definition. The types are the caller's word. */
export const fromDefinition = <P = never, E = never, R = never, H = never>(
  definition: Definition
): Handler<P, E, R, H> => new HandlerImpl(definition)

/** A handler that is the same for all runs. The types are the caller's word. */
export const stateless = <P, E, R, H = never>(name: string, hooks: object, info: Info = {}): Handler<P, E, R, H> =>
  fromDefinition({ name, source: { _tag: "Stateless", hooks: hooks as AnyHooks }, info })
