/**
 * A pipeline, compiled to the functions that the loop calls. Done once for a
 * pipeline without state, and once a run for one whose hooks are built there.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Call from "../Call.ts"
import * as ChatModel from "../ChatModel.ts"
import type { AnyHooks } from "../Handler.ts"
import * as History from "../History.ts"
import * as Message from "../Message.ts"
import * as Tool from "../Tool.ts"
import { CurrentRun, type Place } from "./currentRun.ts"
import { entered, within } from "./run.ts"
import { Blameless } from "./sink.ts"
import { defect, markBase, wayOut } from "./wayOut.ts"

/** The hooks of one handler, ready to be called. */
export interface Resolved {
  readonly name: string
  readonly hooks: AnyHooks
  /** The context that the handler sees, where it is not that of the loop: a handler does not see what is provided after it. */
  readonly context?: Context.Context<unknown>
}

type AnyCall<Part, A> = Call.Call<Part, A, unknown, unknown>

/** The hooks of a pipeline, as the loop calls them. */
export interface LoopHooks {
  readonly beforeModel: Rewrite | undefined
  readonly afterModel: Rewrite | undefined
  readonly callModel: (request: ChatModel.ModelRequest) => AnyCall<ChatModel.ModelPart, ChatModel.ModelReply>
  readonly callTool: (request: Tool.ToolRequest) => AnyCall<Tool.ToolPart, Message.ToolOutcome>
}

/** A change of the history by all hooks of one kind. */
type Rewrite = (history: History.History) => OrEffect<History.History>

type OrEffect<A> = A | Effect.Effect<A, unknown, unknown>

/** What a failure becomes on its way out of a handler. */
type Out = (cause: Cause.Cause<unknown>) => Effect.Effect<never, unknown>

/**
 * Calls a hook with what it changes, and goes on with its result. What it throws,
 * and what `check` does not take for a result, becomes a defect that names handler
 * and hook.
 */
export const invoke = <A, B>(
  handler: string,
  place: Place,
  out: Out,
  hook: (input: A) => unknown,
  input: A,
  check: (result: unknown, input: A) => result is A,
  then: (result: A) => OrEffect<B>,
  context?: Context.Context<unknown>
): OrEffect<B> => {
  let result: unknown
  try {
    result = hook(input)
  } catch (thrown) {
    return defect(handler, place, "threw", thrown)
  }
  if (check(result, input)) return then(result)
  if (!Effect.isEffect(result)) return defect(handler, place, `returned ${describe(result)}`)
  const effect = result as Effect.Effect<unknown, unknown, unknown>
  const onSuccess = (value: unknown): Effect.Effect<B, unknown, unknown> => {
    if (!check(value, input)) return defect(handler, place, `returned ${describe(value)}`)
    const next = then(value)
    return Effect.isEffect(next) ? next : Effect.succeed(next)
  }
  // What `then` fails with is not this hook's: the way out is for what stands before it.
  return context === undefined
    ? Effect.matchCauseEffect(effect, { onFailure: out, onSuccess })
    : Effect.flatMap(within(Effect.catchAllCause(effect, out), context), onSuccess)
}

const describe = (value: unknown): string => {
  if (value instanceof Promise) return "a promise: an Effect is what waits here"
  if (value === null || typeof value !== "object") return typeof value === "function" ? "a function" : String(value)
  return Array.isArray(value)
    ? "an array that is no history"
    : `an object with ${Object.keys(value).join(", ") || "no keys"}`
}

/** Calls a wrap and gives what it returns the way out of its handler. */
export const invokeWrap = <Request, Part, A>(
  handler: string,
  place: Place,
  hook: (request: Request, next: never) => unknown,
  request: Request,
  next: unknown,
  out: Out = wayOut(handler, place)
): AnyCall<Part, A> => {
  let call: unknown
  try {
    call = hook(request, next as never)
  } catch (thrown) {
    return Call.fromEffect(defect(handler, place, "threw", thrown))
  }
  if (!Call.isCall(call)) return Call.fromEffect(defect(handler, place, `returned ${describe(call)}`))
  const returned = call as AnyCall<Part, A>
  return Call.fromSink((sink) => {
    const guarded = new Blameless(sink)
    return Effect.catchAllCause(intoSafely(returned, guarded), (cause) =>
      guarded.broken ? Effect.failCause(cause) : out(cause)
    )
  })
}

/** A call is taken apart by the part functions of its handler, which may throw. */
const intoSafely = <Part, A>(
  call: AnyCall<Part, A>,
  sink: Call.Sink<Part, A>
): Effect.Effect<void, unknown, unknown> => {
  try {
    return Call.into(call, sink)
  } catch (thrown) {
    return Effect.die(thrown)
  }
}

/** Whether `after` is a history. Messages that stand where they stood are not looked at again. */
const isHistoryAfter = (after: unknown, before: History.History): after is History.History =>
  after === before || (Array.isArray(after) && after.every((m, i) => m === before[i] || Message.isMessage(m)))

/** Composes changes of the history: each takes what the one before gave. */
const chain = (resolved: ReadonlyArray<Resolved>, place: "beforeModel" | "afterModel"): Rewrite | undefined =>
  resolved.reduceRight<Rewrite | undefined>((next, { context, hooks, name }) => {
    const hook = hooks[place]
    if (hook === undefined) return next
    const then = next ?? ((history: History.History) => history)
    const out = wayOut(name, place)
    return (history) => invoke(name, place, out, hook, history, isHistoryAfter, then, context)
  }, undefined)

/** Composes wraps, the first outermost. One that does not see the loop's context runs in its own, and what it reaches through `next` in the loop's. */
const onion = <Request, Part, A>(
  resolved: ReadonlyArray<Resolved>,
  place: "wrapModelCall" | "wrapToolCall",
  base: (request: Request) => AnyCall<Part, A>,
  loopContext: Context.Context<unknown> | undefined
): ((request: Request) => AnyCall<Part, A>) =>
  resolved.reduceRight<(request: Request) => AnyCall<Part, A>>((next, { context, hooks, name }) => {
    const hook = hooks[place] as ((request: Request, next: unknown) => AnyCall<Part, A>) | undefined
    if (hook === undefined) return next
    const out = wayOut(name, place)
    if (context === undefined || loopContext === undefined) {
      return (request) => invokeWrap(name, place, hook, request, next, out)
    }
    const inner = (request: Request) => Call.around(next(request), (effect) => within(effect, loopContext))
    return (request) =>
      Call.around(invokeWrap<Request, Part, A>(name, place, hook, request, inner, out), (effect) =>
        within(effect, context)
      )
  }, base)

/** The model itself. It notes on the reply which tools it was offered, and says `Finish` where the model forgot to. */
const baseModel: LoopHooks["callModel"] = (request) =>
  Call.fromSink((sink) => {
    const noting = new Noting(sink, request.tools)
    const call = Effect.contextWithEffect((context: Context.Context<ChatModel.ChatModel>) => {
      const cell = Context.get(context, CurrentRun)
      if (cell !== undefined) cell.offered = request.tools
      const model = Context.get(context, ChatModel.ChatModel)
      return Effect.flatMap(Call.into(model.call(request), noting), () => noting.finish() ?? Effect.void)
    })
    return Effect.catchAllCause(call, noting.out)
  })

/** Notes on the reply which tools it was offered, and whether it came to its end. */
class Noting extends Blameless<ChatModel.ModelPart, ChatModel.ModelReply> {
  private finished = false
  private calls = false
  private readonly offered: ChatModel.ModelRequest["tools"]

  constructor(outer: Call.Sink<ChatModel.ModelPart, ChatModel.ModelReply>, offered: ChatModel.ModelRequest["tools"]) {
    super(outer)
    this.offered = offered
  }
  override emit(part: ChatModel.ModelPart | Call.Reset): Call.Wait {
    if (part._tag === "Finish") {
      this.finished = true
      return super.emit({ ...part, offered: this.offered })
    }
    if (part._tag === "Reset") this.finished = this.calls = false
    else if (part._tag === "ToolCall") this.calls = true
    return super.emit(part)
  }
  override whole(reply: ChatModel.ModelReply): Call.Wait {
    this.finished = true
    return super.whole({ ...reply, offered: this.offered })
  }
  /** Says `Finish` where the model forgot to. */
  finish(): Call.Wait {
    if (!this.finished) return this.emit({ _tag: "Finish", reason: this.calls ? "tool-calls" : "stop" })
  }
  /** A failure of the model is nobody's of the handlers; one of a reader of its parts is for that to say. */
  readonly out = (cause: Cause.Cause<unknown>) => (this.broken ? Effect.failCause(cause) : markBase(cause))
}

/** A handler sees its own services, and the run as it is now. */
const bound = (handler: Resolved, loopContext: Context.Context<unknown> | undefined): Resolved => {
  if (handler.context === undefined || loopContext === undefined) return handler
  const cell = Context.get(loopContext, CurrentRun)
  return cell === undefined ? handler : { ...handler, context: entered(handler.context, cell) }
}

/** Compiles hooks. `loopContext` is the context of the loop, where some handler provides a service. */
export const compile = (handlers: ReadonlyArray<Resolved>, loopContext?: Context.Context<unknown>): LoopHooks => {
  const resolved = handlers.map((handler) => bound(handler, loopContext))
  return {
    beforeModel: chain(resolved, "beforeModel"),
    afterModel: chain(resolved, "afterModel"),
    callModel: onion(resolved, "wrapModelCall", baseModel, loopContext),
    callTool: onion(resolved, "wrapToolCall", Tool.execute, loopContext)
  }
}
