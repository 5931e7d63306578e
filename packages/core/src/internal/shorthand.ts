/**
 * Handlers for the common cases, in one line each.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { AgentCall, AgentResult, RunConfig } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import { type ModelCall, type ModelRequest, noUsage, type Usage } from "../ChatModel.ts"
import type { History } from "../History.ts"
import * as Instructions from "../Instructions.ts"
import type * as Tool from "../Tool.ts"
import * as Tools from "../Tools.ts"
import type { Finish } from "./finish.ts"
import { fromDefinition, type Handler, stateless } from "./handler.ts"
import type { AnyHooks, HookName, HooksContext, HooksError, OrEffect, Upstream } from "./hooks.ts"
import { Attempt } from "./run.ts"

const lift = <A, B, E, R>(result: OrEffect<A, E, R>, f: (a: A) => B): OrEffect<B, E, R> =>
  Effect.isEffect(result) ? Effect.map(result as Effect.Effect<A, E, R>, f) : f(result as A)

const asEffect = <A, E, R>(result: OrEffect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.isEffect(result) ? (result as Effect.Effect<A, E, R>) : Effect.succeed(result)

/** Adds a section to the instructions, under the handler's name. */
export const instructions = (text: string, name = "instructions"): Handler =>
  stateless(name, {
    beforeAgent: (run: RunConfig) => ({ ...run, instructions: Instructions.append(run.instructions, text, name) })
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
  return stateless(`tools(${set.names.join(", ")})`, {
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

type Inside = (run: RunConfig) => AgentCall<AgentResult, Upstream>

/** Runs when the run has ended well. */
export const afterAgent = <E = never, R = never>(
  f: (result: AgentResult) => void | Effect.Effect<unknown, E, R>,
  name = "afterAgent"
): Handler<never, Exclude<E, Finish>, R> =>
  stateless(name, {
    wrapAgent: (run: RunConfig, next: Inside) => Call.tapValue(next(run), f)
  })

/** How a run ended, with what was said and spent until then. */
export interface RunExit {
  readonly exit: Exit.Exit<AgentResult, unknown>
  readonly history: History
  readonly steps: number
  readonly usage: Usage
}

type SoFar = Omit<RunExit, "exit">

/** Passes a run on, knowing how far it has come once it has ended. */
const following = <C extends Call.Any>(
  run: RunConfig,
  next: Inside,
  then: (call: AgentCall<AgentResult, Upstream>, soFar: () => SoFar & { readonly result?: AgentResult }) => C
) =>
  Call.unwrap(
    Effect.sync(() => {
      let seen: SoFar & { readonly result?: AgentResult } = {
        history: new Attempt(run).history,
        steps: 0,
        usage: noUsage
      }
      const watched = Call.tap(next(run), (event) => {
        if (event._tag === "Completed") seen = { ...event.result, result: event.result }
        else if (event._tag === "Failed" || event._tag === "Cancelled") seen = event
      })
      return then(watched, () => seen)
    })
  )

/** Runs when the run has ended, however it did. */
export const onExit = <R = never>(
  f: (ended: RunExit) => Effect.Effect<unknown, never, R>,
  name = "onExit"
): Handler<never, never, R> =>
  stateless(name, {
    wrapAgent: (run: RunConfig, next: Inside) =>
      following(run, next, (call, soFar) =>
        Call.onExit(call, (cause) => {
          const { history, result, steps, usage } = soFar()
          return f({ history, steps, usage, exit: cause === undefined ? Exit.succeed(result!) : Exit.failCause(cause) })
        })
      )
  })

/**
 * Answers errors of a class from within: of the handlers after it, of the tools
 * and of the model. They leave the type of the pipeline. The error of an answer
 * that does not fit the output schema comes from outside of all handlers.
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
export const catchError = <X extends { readonly _tag: string }, E = never, R = never>(
  error: abstract new (...args: never) => X,
  answer: (error: X) => OrEffect<string, E, R>,
  name = `catchError(${error.name})`
): Handler<never, Exclude<E, Finish>, R, X> =>
  stateless(
    name,
    {
      wrapAgent: (run: RunConfig, next: Inside) =>
        following(run, next, (call, soFar) =>
          Call.orElse(call, (failure): Call.Call<never, AgentResult, E | Upstream, R> => {
            if (!(failure instanceof error)) return Call.fail(failure)
            const attempt = new Attempt(run).continueFrom(soFar())
            return Call.fromEffect(asEffect(lift(answer(failure), (text) => attempt.answered(text))))
          })
        )
    },
    { handles: [error.name] }
  )

/**
 * Opens a span for the run, for each model call and for each tool call, with the
 * attributes that OpenTelemetry has for them. Put it first: what is before it is
 * not in its spans. A failure of a handler is on the innermost span that it
 * happened in, as `heddle.handler` and `heddle.hook`.
 */
export const tracing = (name = "tracing"): Handler =>
  stateless(name, {
    wrapAgent: (run: RunConfig, next: Inside) =>
      Call.around(
        next(run),
        Effect.withSpan(`invoke_agent ${run.agent}`, {
          attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": run.agent }
        })
      ),
    wrapModelCall: (request: ModelRequest, next: (request: ModelRequest) => ModelCall<Upstream>) =>
      next(request).pipe(
        Call.tapValue((reply) =>
          Effect.annotateCurrentSpan({
            "gen_ai.response.finish_reasons": [reply.finishReason],
            "gen_ai.usage.input_tokens": reply.usage.inputTokens,
            "gen_ai.usage.output_tokens": reply.usage.outputTokens
          })
        ),
        Call.around(
          Effect.withSpan("chat", {
            attributes: { "gen_ai.operation.name": "chat", "heddle.purpose": request.purpose }
          })
        )
      ),
    wrapToolCall: (request: Tool.ToolRequest, next: (request: Tool.ToolRequest) => Tool.ToolRun<Upstream>) =>
      next(request).pipe(
        Call.tapValue((outcome) => Effect.annotateCurrentSpan("heddle.outcome", outcome._tag)),
        Call.around(
          Effect.withSpan(`execute_tool ${request.name}`, {
            attributes: {
              "gen_ai.operation.name": "execute_tool",
              "gen_ai.tool.name": request.name,
              "gen_ai.tool.call.id": request.id
            }
          })
        )
      )
  })

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
