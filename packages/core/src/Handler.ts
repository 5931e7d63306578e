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
import * as Exit from "effect/Exit"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import type * as Scope from "effect/Scope"
import type { AgentCall, AgentResult, RunConfig } from "./AgentRun.ts"
import * as Call from "./Call.ts"
import type * as ChatModel from "./ChatModel.ts"
import type { History } from "./History.ts"
import * as Instructions from "./Instructions.ts"
import { Finish } from "./internal/finish.ts"
import { requireName } from "./internal/name.ts"
import { Attempt } from "./internal/run.ts"
import type * as Tool from "./Tool.ts"
import * as Tools from "./Tools.ts"

// -----------------------------------------------------------------------------
// hooks
// -----------------------------------------------------------------------------

/**
 * Whatever the inside of a pipeline may fail with, as a handler sees it through
 * `next`. Look at it with `instanceof`, pass it on, or replace it; it never
 * counts as the handler's own error.
 */
export interface Upstream {
  readonly [UpstreamTypeId]: typeof UpstreamTypeId
}
declare const UpstreamTypeId: unique symbol

/** A value, or an Effect that gives it. */
export type OrEffect<A, E = never, R = never> = A | Effect.Effect<A, E, R>

/** Where a handler may take part in a run. `E` is what the hooks fail with, `R` what they need. */
export interface Hooks<out E = never, out R = never> {
  /** Once a run: changes instructions, tools, input, earlier history and options. What it acquires is released when the run ends. */
  readonly beforeAgent?: (run: RunConfig) => OrEffect<RunConfig<E, R>, E, R | Scope.Scope>
  /** Around the whole run. */
  readonly wrapAgent?: (
    run: RunConfig,
    next: (run: RunConfig) => AgentCall<AgentResult, Upstream>
  ) => AgentCall<AgentResult, E | Upstream, R>
  /** Before each model call. The result is kept. */
  readonly beforeModel?: (history: History) => OrEffect<History, E, R>
  /** Around each model call. Changes of the request hold for this call only. */
  readonly wrapModelCall?: (
    request: ChatModel.ModelRequest,
    next: (request: ChatModel.ModelRequest) => ChatModel.ModelCall<Upstream>
  ) => ChatModel.ModelCall<E | Upstream, R>
  /** After each model call, the reply being the last message. The result is kept: calls that it settles do not run. */
  readonly afterModel?: (history: History) => OrEffect<History, E, R>
  /** Around each tool call, of plain and of streaming tools. */
  readonly wrapToolCall?: (
    request: Tool.ToolRequest,
    next: (request: Tool.ToolRequest) => Tool.ToolRun<Upstream>
  ) => Tool.ToolRun<E | Upstream, R>
}

/** The names of the hooks, in the order in which a run first comes to them. */
export const hookNames = [
  "wrapAgent",
  "beforeAgent",
  "beforeModel",
  "wrapModelCall",
  "afterModel",
  "wrapToolCall"
] as const satisfies ReadonlyArray<keyof Hooks>

/** The name of a hook. */
export type HookName = (typeof hookNames)[number]

type ResultE<T> =
  T extends Effect.Effect<infer A, infer E, infer _R>
    ? E | ResultE<A>
    : T extends Call.Call<infer _P, infer _A, infer E, infer _R>
      ? E
      : T extends { readonly tools: Tools.Tools<infer E, infer _R> }
        ? E
        : never

type ResultR<T> =
  T extends Effect.Effect<infer A, infer _E, infer R>
    ? R | ResultR<A>
    : T extends Call.Call<infer _P, infer _A, infer _E, infer R>
      ? R
      : T extends { readonly tools: Tools.Tools<infer _E, infer R> }
        ? R
        : never

type Result<H, K extends keyof H> = NonNullable<H[K]> extends (...args: never) => infer T ? T : never

/** What hooks fail with of their own. */
export type HooksError<H> = Exclude<{ [K in keyof H]: ResultE<Result<H, K>> }[keyof H], Upstream | Finish>
/** What hooks need. `unknown` is what inference makes of an operator that says nothing of its needs: nothing. */
export type HooksContext<H> = { [K in keyof H]: Exclude<Said<ResultR<Result<H, K>>>, Scope.Scope> }[keyof H]
type Said<R> = unknown extends R ? never : R

/** Refuses hooks that do not exist, so that a misspelt one does not compile. */
export type Known<H> = H & { readonly [K in Exclude<keyof H, HookName>]: never }

// -----------------------------------------------------------------------------
// the handler
// -----------------------------------------------------------------------------

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

/** How a handler comes by its hooks. */
export type Source =
  | { readonly _tag: "Stateless"; readonly hooks: AnyHooks }
  | { readonly _tag: "PerRun"; readonly hooks: Effect.Effect<AnyHooks, unknown, unknown> }
  | { readonly _tag: "Service"; readonly hooks: Effect.Effect<AnyHooks, unknown, unknown>; readonly key: string }
  | {
      readonly _tag: "Provide"
      readonly tag: Context.Tag<unknown, unknown>
      readonly service: Effect.Effect<unknown, unknown, unknown>
    }

/** Hooks with any error and any requirement. */
export type AnyHooks = Hooks<unknown, unknown>

/** What a handler says about itself beyond its types, for `Pipeline.explain`. */
export interface Info {
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

const DefinitionKey: unique symbol = Symbol.for("@heddle/core/Handler/Definition")

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

const stateless = <P, E, R, H = never>(name: string, hooks: object, info: Info = {}): Handler<P, E, R, H> =>
  fromDefinition({ name, source: { _tag: "Stateless", hooks: hooks as AnyHooks }, info })

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

// -----------------------------------------------------------------------------
// ending a run early
// -----------------------------------------------------------------------------

/** The failure by which a hook ends the run with an answer. It leaves the handler as a signal that no other handler can catch. */
export type { Finish } from "./internal/finish.ts"

/** Ends the run with an answer, from any hook. Every handler that was entered is left as usual. */
export const finish = (answer: string): Effect.Effect<never, Finish> => Effect.fail(new Finish(answer))

// -----------------------------------------------------------------------------
// short constructors
// -----------------------------------------------------------------------------

const lift = <A, B, E, R>(result: OrEffect<A, E, R>, f: (a: A) => B): OrEffect<B, E, R> =>
  Effect.isEffect(result) ? Effect.map(result as Effect.Effect<A, E, R>, f) : f(result as A)

const asEffect = <A, E, R>(result: OrEffect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.isEffect(result) ? (result as Effect.Effect<A, E, R>) : Effect.succeed(result)

/** Adds a section to the instructions, under the handler's name. */
export const instructions = (text: string, name = "instructions"): Handler =>
  make(name, {
    beforeAgent: (run) => ({ ...run, instructions: Instructions.append(run.instructions, text, name) })
  })

/** Changes the instructions. */
export const mapInstructions = <E = never, R = never>(
  f: (instructions: Instructions.Instructions, run: RunConfig) => OrEffect<Instructions.Instructions, E, R>,
  name = "mapInstructions"
): Handler<never, Exclude<E, Finish>, Exclude<R, Scope.Scope>> =>
  stateless(name, {
    beforeAgent: (run: RunConfig) => lift(f(run.instructions, run), (instructions) => ({ ...run, instructions }))
  })

/** Adds tools. One of the same name takes the place of the earlier. */
export const tools = <const T extends ReadonlyArray<Tool.Any>>(
  ...added: T
): Handler<never, Tool.Error<T[number]>, Tool.Context<T[number]>> => {
  const set = Tools.make(...added)
  return stateless("tools", {
    beforeAgent: (run: RunConfig) => ({ ...run, tools: Tools.concat(run.tools, set) })
  })
}

/** Changes the tools. */
export const mapTools = <E1 = never, R1 = never, E = never, R = never>(
  f: (tools: Tools.Tools, run: RunConfig) => OrEffect<Tools.Tools<E1, R1>, E, R>,
  name = "mapTools"
): Handler<never, E1 | Exclude<E, Finish>, R1 | Exclude<R, Scope.Scope>> =>
  stateless(name, {
    beforeAgent: (run: RunConfig) => lift(f(run.tools, run), (tools) => ({ ...run, tools }))
  })

/** Provides a service to all that comes after it. It is built once a run; what it acquires is released when the run ends. */
export const provide = <I, S, E = never, R = never>(
  tag: Context.Tag<I, S>,
  service: Effect.Effect<S, E, R>
): Handler<I, Exclude<E, Finish>, Exclude<R, Scope.Scope>> =>
  fromDefinition({
    name: `provide(${tag.key})`,
    source: { _tag: "Provide", tag: tag as Context.Tag<unknown, unknown>, service },
    info: {}
  })

type Hook<K extends HookName> = NonNullable<AnyHooks[K]>
type One<K extends HookName, F> = Handler<
  never,
  HooksError<{ readonly [_ in K]: F }>,
  HooksContext<{ readonly [_ in K]: F }>
>

const only =
  <K extends HookName>(hook: K) =>
  <const F extends Hook<K>>(f: F, name: string = hook): One<K, F> =>
    stateless(name, { [hook]: f })

/** A handler of one hook. */
export const beforeAgent = only("beforeAgent")
/** A handler of one hook. */
export const wrapAgent = only("wrapAgent")
/** A handler of one hook. */
export const beforeModel = only("beforeModel")
/** A handler of one hook. */
export const wrapModelCall = only("wrapModelCall")
/** A handler of one hook. */
export const afterModel = only("afterModel")
/** A handler of one hook. */
export const wrapToolCall = only("wrapToolCall")

/** Runs when the run has ended well. */
export const afterAgent = <E = never, R = never>(
  f: (result: AgentResult) => void | Effect.Effect<unknown, E, R>,
  name = "afterAgent"
): Handler<never, E, R> =>
  stateless(name, {
    wrapAgent: (run: RunConfig, next: (run: RunConfig) => AgentCall<AgentResult, Upstream>) =>
      Call.tapValue(next(run), f)
  })

/** How a run ended, with what was said until then. */
export interface RunExit {
  readonly exit: Exit.Exit<AgentResult, unknown>
  readonly history: History
}

/** Runs when the run has ended, however it did. */
export const onExit = <R = never>(
  f: (ended: RunExit) => Effect.Effect<unknown, never, R>,
  name = "onExit"
): Handler<never, never, R> =>
  stateless(name, {
    wrapAgent: (run: RunConfig, next: (run: RunConfig) => AgentCall<AgentResult, Upstream>) =>
      Call.unwrap(
        Effect.sync(() => {
          let history = new Attempt(run).history
          let result: AgentResult | undefined
          return next(run).pipe(
            Call.tap((event) => {
              if (event._tag === "Completed") {
                result = event.result
                history = result.history
              } else if (event._tag === "Failed" || event._tag === "Cancelled") history = event.history
            }),
            Call.onExit((cause) =>
              f({ history, exit: cause === undefined ? Exit.succeed(result!) : Exit.failCause(cause) })
            )
          )
        })
      )
  })

/**
 * Answers errors of a class from within: of the handlers after it, of the tools
 * and of the model. They leave the type of the pipeline.
 *
 * @example
 * ```ts
 * import { Handler } from "@heddle/core"
 * import { Schema } from "effect"
 *
 * class Denied extends Schema.TaggedError<Denied>()("Denied", { who: Schema.String }) {}
 *
 * const polite = Handler.catchError(Denied, (error) => `Sorry, ${error.who}.`)
 * ```
 */
export const catchError = <X extends object, E = never, R = never>(
  error: abstract new (...args: never) => X,
  answer: (error: X) => OrEffect<string, E, R>,
  name = `catchError(${error.name})`
): Handler<never, Exclude<E, Finish>, R, X> =>
  stateless(
    name,
    {
      wrapAgent: (run: RunConfig, next: (run: RunConfig) => AgentCall<AgentResult, Upstream>) =>
        Call.orElse(next(run), (failure): Call.Call<never, AgentResult, E | Upstream, R> =>
          failure instanceof error
            ? Call.fromEffect(asEffect(lift(answer(failure), (text) => new Attempt(run).answered(text))))
            : Call.fail(failure)
        )
    },
    { handles: [error.name] }
  )

/**
 * A flat struct of what most handlers need, under the names that such structs
 * have elsewhere. An agent runs its `middleware` before its `handlers`.
 */
export const fromMiddleware = <const M extends Middleware>(
  middleware: M & { readonly [K in Exclude<keyof M, keyof Middleware>]: never }
): Handler<never, MiddlewareError<M>, MiddlewareContext<M>> => {
  const {
    additionalInstruction: text = "",
    additionalTools,
    beforeChatModel,
    afterChatModel,
    wrapToolCall,
    name = "middleware"
  }: Middleware = middleware
  const set = Tools.make(...(additionalTools ?? []))
  return stateless(name, {
    ...((text !== "" || set.size > 0) && {
      beforeAgent: (run: RunConfig) => ({
        ...run,
        instructions: Instructions.append(run.instructions, text, name),
        tools: Tools.concat(run.tools, set)
      })
    }),
    ...(beforeChatModel && { beforeModel: beforeChatModel }),
    ...(afterChatModel && { afterModel: afterChatModel }),
    ...(wrapToolCall && { wrapToolCall })
  })
}

/** See `fromMiddleware`. */
export interface Middleware {
  readonly name?: string
  readonly additionalInstruction?: string
  readonly additionalTools?: ReadonlyArray<Tool.Any>
  readonly beforeChatModel?: Hook<"beforeModel">
  readonly afterChatModel?: Hook<"afterModel">
  readonly wrapToolCall?: Hook<"wrapToolCall">
}

type MiddlewareTools<M> = M extends { readonly additionalTools: ReadonlyArray<infer T> } ? T : never
type MiddlewareHooks<M> = Pick<M, Extract<keyof M, "beforeChatModel" | "afterChatModel" | "wrapToolCall">>
type MiddlewareError<M> = HooksError<MiddlewareHooks<M>> | Tool.Error<MiddlewareTools<M>>
type MiddlewareContext<M> = HooksContext<MiddlewareHooks<M>> | Tool.Context<MiddlewareTools<M>>
