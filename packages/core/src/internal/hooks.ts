/**
 * The hooks of a handler, and what can be read off their types.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentCall, AgentResult, RunConfig } from "../AgentRun.ts"
import type * as Call from "../Call.ts"
import type * as ChatModel from "../ChatModel.ts"
import type { History } from "../History.ts"
import type * as Tool from "../Tool.ts"
import type * as Tools from "../Tools.ts"
import type { Finish } from "./finish.ts"

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

/**
 * Where a handler may take part in a run. `E` is what the hooks fail with, `R`
 * what they need. Each may end the run by `finish`, and what it acquires is
 * released when the run ends.
 */
export interface Hooks<out E = never, out R = never> {
  /** Once a run: changes instructions, tools, input, earlier history and options. */
  readonly beforeAgent?: (run: RunConfig) => OrEffect<RunConfig<E, R>, E | Finish, R | Scope.Scope>
  /** Around the whole run. */
  readonly wrapAgent?: (
    run: RunConfig,
    next: (run: RunConfig) => AgentCall<AgentResult, Upstream>
  ) => AgentCall<AgentResult, E | Finish | Upstream, R | Scope.Scope>
  /** Before each model call. The result is kept. */
  readonly beforeModel?: (history: History) => OrEffect<History, E | Finish, R | Scope.Scope>
  /** Around each model call. Changes of the request hold for this call only. */
  readonly wrapModelCall?: (
    request: ChatModel.ModelRequest,
    next: (request: ChatModel.ModelRequest) => ChatModel.ModelCall<Upstream>
  ) => ChatModel.ModelCall<E | Finish | Upstream, R | Scope.Scope>
  /** After each model call, the reply being the last message. The result is kept: calls that it settles do not run. */
  readonly afterModel?: (history: History) => OrEffect<History, E | Finish, R | Scope.Scope>
  /** Around each tool call, of plain and of streaming tools. */
  readonly wrapToolCall?: (
    request: Tool.ToolRequest,
    next: (request: Tool.ToolRequest) => Tool.ToolRun<Upstream>
  ) => Tool.ToolRun<E | Finish | Upstream, R | Scope.Scope>
}

/** Hooks with any error and any requirement. */
export type AnyHooks = Hooks<unknown, unknown>

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
export type HooksError<H> = Exclude<{ [K in keyof H]-?: ResultE<Result<H, K>> }[keyof H], Upstream | Finish>
/** What hooks need. `unknown` is what inference makes of an operator that says nothing of its needs: nothing. */
export type HooksContext<H> = { [K in keyof H]-?: Exclude<Said<ResultR<Result<H, K>>>, Scope.Scope> }[keyof H]
type Said<R> = unknown extends R ? never : R

/** Refuses hooks that do not exist, so that a misspelt one does not compile. */
export type Known<H> = H & { readonly [K in Exclude<keyof H, HookName>]: never }
