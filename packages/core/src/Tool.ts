/**
 * A tool: a name, a description and schemas that the model is shown, and what
 * to run when the model calls it.
 *
 * @example
 * ```ts
 * import { Tool } from "@heddle/core"
 * import { Effect, Schema } from "effect"
 *
 * class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { city: Schema.String }) {}
 *
 * const weather = Tool.make({
 *   name: "weather",
 *   description: "The weather in a city.",
 *   parameters: Schema.Struct({ city: Schema.String }),
 *   success: Schema.Struct({ celsius: Schema.Number }),
 *   failure: NotFound,
 *   execute: ({ city }) => (city === "Paris" ? Effect.succeed({ celsius: 18 }) : new NotFound({ city }))
 * })
 * ```
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import { type Pipeable, pipeArguments } from "effect/Pipeable"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Call from "./Call.ts"
import { ToolError } from "./Errors.ts"
import { toolName } from "./internal/name.ts"
import * as Message from "./Message.ts"

const TypeId: unique symbol = Symbol.for("@heddle/core/Tool")

/** What a tool does to the world, for handlers that decide by it. All false unless said. */
export interface Annotations {
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
}

/**
 * A tool. `E` is what it fails the run with, `R` what it needs.
 */
export interface Tool<out E = never, out R = never> extends Pipeable {
  readonly [TypeId]: { readonly _E: (_: never) => E; readonly _R: (_: never) => R }
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly jsonSchema: object
  readonly annotations: Annotations
  /** Whether a successful result ends the run as its answer. */
  readonly returnDirectly: boolean
}

/** A tool with any failure and any requirement. */
export type Any = Tool<unknown, unknown>

/** What a tool fails the run with. */
export type Error<T> = T extends Tool<infer E, infer _R> ? E : never
/** What a tool needs. */
export type Context<T> = T extends Tool<infer _E, infer R> ? R : never

/** A tool call on its way to its tool. A handler passes it on, changed if it likes. */
export interface ToolRequest {
  readonly id: string
  readonly name: string
  /** The arguments as the model gave them: JSON, not checked yet. */
  readonly arguments: unknown
  /** The tool that will run; `undefined` when there is none of that name. */
  readonly tool: Any | undefined
  /** The names of the tools that the model was offered. */
  readonly offered: ReadonlyArray<string>
}

/** A piece of a result that is text. */
export interface TextPart {
  readonly _tag: "Text"
  readonly text: string
}
/** News of a tool at work. Not part of its result, and not shown to the model. */
export interface ProgressPart {
  readonly _tag: "Progress"
  readonly value: unknown
}
/** How the call ended, in one piece. */
export interface DonePart {
  readonly _tag: "Done"
  readonly outcome: Message.ToolOutcome
}

/** What a tool call emits. */
export type ToolPart = TextPart | ProgressPart | DonePart

/** The run of a tool call. */
export type ToolRun<E = never, R = never> = Call.Call<ToolPart, Message.ToolOutcome, E, R>

/** The outcome is the last `Done`, or else the text that was emitted. */
export const fold: Call.Fold<ToolPart, Message.ToolOutcome> = {
  make: () => {
    let text = ""
    let outcome: Message.ToolOutcome | undefined
    return {
      add: (part) => {
        if (part._tag === "Text") text += part.text
        else if (part._tag === "Done") outcome = part.outcome
      },
      reset: () => {
        text = ""
        outcome = undefined
      },
      value: () => outcome ?? Message.succeeded(text)
    }
  },
  whole: (outcome) => [{ _tag: "Done", outcome }]
}

/** Runs a tool call for its outcome. */
export const run = <E, R>(self: ToolRun<E, R>): Effect.Effect<Message.ToolOutcome, E, R> => Call.run(self, fold)

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/** What a tool is told besides its arguments. */
export interface ToolContext {
  readonly callId: string
  /** Tells whoever watches the run how the work goes. */
  readonly progress: (value: unknown) => Effect.Effect<void>
}

/** What the model is shown of a tool, and how it behaves. */
export interface Options<P, PI, F, FI, Mode extends FailureMode> {
  /** Letters, digits, `_`, `-` and `.`, 64 at most. */
  readonly name: string
  readonly description: string
  /** The arguments; none unless said. */
  readonly parameters?: Schema.Schema<P, PI>
  /** What the tool may fail with; nothing unless said. */
  readonly failure?: Schema.Schema<F, FI>
  /** Where a failure goes: back to the model (`"return"`, the default), or to the caller of the run (`"fail"`). */
  readonly failureMode?: Mode
  readonly annotations?: Partial<Annotations>
  readonly returnDirectly?: boolean
}

/** Where the declared failure of a tool goes. */
export type FailureMode = "return" | "fail"

/** The error that a tool brings into the type of a run. */
export type Raised<F, Mode extends FailureMode> = Mode extends "fail" ? F : never

/** A body sends what it has to say into the sink itself; what it fails with is sorted by `define`. */
type Body<P> = (params: P, context: ToolContext, sink: ToolSink) => Effect.Effect<void, unknown, unknown>
type ToolSink = Call.Sink<ToolPart, Message.ToolOutcome>

class ToolImpl implements Any {
  declare readonly [TypeId]: Any[typeof TypeId]
  readonly name: string
  readonly description: string
  readonly annotations: Annotations
  readonly returnDirectly: boolean
  readonly parameters: Schema.Schema.AnyNoContext
  readonly execute: (request: ToolRequest) => Call.Call<ToolPart, Message.ToolOutcome, unknown, unknown>
  #jsonSchema: object | undefined

  constructor(
    fields: Pick<ToolImpl, "name" | "description" | "annotations" | "returnDirectly" | "parameters" | "execute">
  ) {
    this.name = fields.name
    this.description = fields.description
    this.annotations = fields.annotations
    this.returnDirectly = fields.returnDirectly
    this.parameters = fields.parameters
    this.execute = fields.execute
  }
  get jsonSchema(): object {
    return (this.#jsonSchema ??= JSONSchema.make(this.parameters))
  }
  pipe() {
    // oxlint-disable-next-line prefer-rest-params -- `pipeArguments` takes `arguments`
    return pipeArguments(this, arguments)
  }
}

/** Whether a value is a tool. */
export const isTool = (u: unknown): u is Any => u instanceof ToolImpl

/** Runs the tool of a request: the innermost step of every tool call. */
export const execute = (request: ToolRequest): ToolRun<unknown, unknown> =>
  request.tool === undefined
    ? Call.succeed(
        Message.failed(
          `There is no tool named ${JSON.stringify(request.name)}. ` +
            (request.offered.length === 0 ? "No tools are offered." : `The tools are: ${request.offered.join(", ")}.`)
        )
      )
    : (request.tool as ToolImpl).execute(request)

// Left to itself an empty struct is anything but null, which providers refuse for arguments.
const noParameters = Schema.Struct({}).annotations({
  jsonSchema: { type: "object", properties: {}, additionalProperties: false }
})
const noAnnotations: Annotations = { readOnly: false, destructive: false, idempotent: false }

class InvalidResult {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

const messageOf = (error: unknown): string =>
  error instanceof globalThis.Error && error.message !== "" ? `: ${error.message}` : ""

const define = <P, PI, F, FI, Mode extends FailureMode>(
  options: Options<P, PI, F, FI, Mode>,
  body: Body<P>
): ToolImpl => {
  const name = toolName(options.name)
  const parameters = (options.parameters ?? noParameters) as Schema.Schema<P, PI>
  const decode = Schema.decodeUnknownEither(parameters, { errors: "all" })
  const encodeFailure = options.failure && Schema.encodeUnknownEither(options.failure)

  const outcomeOf = (callId: string, cause: Cause.Cause<unknown>): Effect.Effect<Message.ToolOutcome, unknown> => {
    const threw = (cause: unknown, reason: ToolError["reason"] = "Threw") =>
      new ToolError({ tool: name, callId, reason, cause })
    // When the whole run is interrupted nobody asks for this; so here the tool gave itself up.
    if (Cause.isInterruptedOnly(cause)) return Effect.succeed(Message.cancelled)
    const failure = Cause.failureOption(cause)
    if (failure._tag === "None") return threw(Cause.squash(cause))
    const error = failure.value
    if (error instanceof InvalidResult) return threw(error.cause, "InvalidResult")
    if (options.failureMode === "fail") return Effect.fail(error)
    const encoded = encodeFailure?.(error)
    return encoded !== undefined && Either.isRight(encoded)
      ? Effect.succeed(Message.failed(`Tool "${name}" failed${messageOf(error)}.`, encoded.right))
      : threw(error)
  }

  return new ToolImpl({
    name,
    description: options.description,
    annotations: { ...noAnnotations, ...options.annotations },
    returnDirectly: options.returnDirectly ?? false,
    parameters,
    execute: (request) =>
      Call.fromSink((sink) => {
        const params = decode(request.arguments)
        if (Either.isLeft(params)) {
          const problem = ParseResult.TreeFormatter.formatErrorSync(params.left)
          const reason = `The arguments do not fit the parameters of "${name}".\n${problem}`
          return sink.whole(Message.failed(reason)) ?? Effect.void
        }
        const guarded = new Blameless(sink)
        const context: ToolContext = {
          callId: request.id,
          progress: (value) => Effect.suspend(() => guarded.emit({ _tag: "Progress", value }) ?? Effect.void)
        }
        return Effect.catchAllCause(
          Effect.suspend(() => body(params.right, context, guarded)),
          (cause) =>
            !guarded.broken
              ? Effect.flatMap(outcomeOf(request.id, cause), (outcome) => sink.whole(outcome) ?? Effect.void)
              : Effect.failCause(cause)
        )
      })
  })
}

/** A sink that remembers when a reader of the parts threw, so that the tool is not blamed for it. */
class Blameless implements ToolSink {
  readonly fold = fold
  readonly demand: Call.Demand
  private readonly outer: ToolSink
  broken = false
  constructor(outer: ToolSink) {
    this.outer = outer
    this.demand = outer.demand
  }
  emit(part: ToolPart | Call.Reset): Call.Wait {
    return this.watch(() => this.outer.emit(part))
  }
  whole(outcome: Message.ToolOutcome): Call.Wait {
    return this.watch(() => this.outer.whole(outcome))
  }
  private watch(send: () => Call.Wait): Call.Wait {
    const note = () => {
      this.broken = true
    }
    try {
      const wait = send()
      return wait && Effect.tapDefect(wait, () => Effect.sync(note))
    } catch (defect) {
      note()
      throw defect
    }
  }
}

/** A tool that answers in one piece. A result without a success schema must be JSON. */
export const make = <
  P = {},
  PI = unknown,
  S = unknown,
  SI = unknown,
  F = never,
  FI = unknown,
  R = never,
  const Mode extends FailureMode = "return"
>(
  options: Options<P, PI, F, FI, Mode> & {
    /** The result, if it is to be checked and encoded. */
    readonly success?: Schema.Schema<S, SI>
    readonly execute: (
      params: NoInfer<P>,
      context: ToolContext
    ) => NoInfer<S> | Effect.Effect<NoInfer<S>, NoInfer<F>, R>
  }
): Tool<Raised<F, Mode>, R> => {
  const encode = options.success && Schema.encodeUnknownEither(options.success)
  return define(options, (params, context, sink) => {
    const result = options.execute(params, context)
    const done = (value: unknown): Effect.Effect<void, InvalidResult> => {
      const encoded = encode?.(value)
      if (encoded !== undefined && Either.isLeft(encoded)) return Effect.fail(new InvalidResult(encoded.left))
      return sink.whole(Message.succeeded(encoded === undefined ? value : encoded.right)) ?? Effect.void
    }
    return Effect.isEffect(result) ? Effect.flatMap(result, done) : done(result)
  }) as unknown as Tool<Raised<F, Mode>, R>
}

/** A tool whose result is text that comes bit by bit. */
export const stream = <
  P = {},
  PI = unknown,
  F = never,
  FI = unknown,
  R = never,
  const Mode extends FailureMode = "return"
>(
  options: Options<P, PI, F, FI, Mode> & {
    readonly execute: (params: NoInfer<P>, context: ToolContext) => Stream.Stream<string, NoInfer<F>, R>
  }
): Tool<Raised<F, Mode>, R> =>
  define(options, (params, context, sink) =>
    Call.into(
      Call.fromStream(Stream.map(options.execute(params, context), (text): ToolPart => ({ _tag: "Text", text }))),
      sink
    )
  ) as unknown as Tool<Raised<F, Mode>, R>

/** A tool that is a call itself, for example the run of an agent. What it fails with fails the run. */
export const fromCall = <P = {}, PI = unknown, E = never, R = never>(
  options: Omit<Options<P, PI, never, never, "fail">, "failure"> & {
    readonly execute: (params: NoInfer<P>, context: ToolContext) => ToolRun<E, R>
  }
): Tool<E, R> =>
  define({ ...options, failureMode: "fail" }, (params, context, sink) =>
    Call.into(options.execute(params, context), sink)
  ) as unknown as Tool<E, R>

// -----------------------------------------------------------------------------
// combinators
// -----------------------------------------------------------------------------

/** The same tool with another name, description, annotations or `returnDirectly`. */
export const update = <E, R>(
  self: Tool<E, R>,
  change: {
    readonly name?: string
    readonly description?: string
    readonly annotations?: Partial<Annotations>
    readonly returnDirectly?: boolean
  }
): Tool<E, R> => {
  const tool = self as unknown as ToolImpl
  return new ToolImpl({
    name: change.name === undefined ? tool.name : toolName(change.name),
    description: change.description ?? tool.description,
    annotations: { ...tool.annotations, ...change.annotations },
    returnDirectly: change.returnDirectly ?? tool.returnDirectly,
    parameters: tool.parameters,
    execute: tool.execute
  }) as unknown as Tool<E, R>
}
