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
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Pipeable } from "effect/Pipeable"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Call from "./Call.ts"
import { toolName } from "./internal/name.ts"
import { anyObject, define, InvalidResult, ToolImpl } from "./internal/tool.ts"
import { fold, type ToolPart, type ToolRun } from "./internal/toolCall.ts"
import * as Message from "./Message.ts"

export { execute, isTool } from "./internal/tool.ts"
export {
  type DonePart,
  fold,
  type ProgressPart,
  type TextPart,
  type ToolPart,
  type ToolRequest,
  type ToolRun
} from "./internal/toolCall.ts"

/** @internal */
export const TypeId: unique symbol = Symbol.for("@heddle/core/Tool")

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

/** Runs a tool call for its outcome. */
export const run = <E, R>(self: ToolRun<E, R>): Effect.Effect<Message.ToolOutcome, E, R> => Call.run(self, fold)

/** What a tool is told besides its arguments. */
export interface ToolContext {
  readonly callId: string
  /** Tells whoever watches the run how the work goes. */
  readonly progress: (value: unknown) => Effect.Effect<void>
}

/** What the model is shown of a tool, and how it behaves. */
export interface Options<P, PI, F, FI, Mode extends FailureMode> {
  /** Letters, digits, `_` and `-`, 64 at most. */
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

const asJson = (value: unknown): Either.Either<unknown, unknown> => {
  if (typeof value === "string") return Either.right(value)
  try {
    JSON.stringify(value)
    return Either.right(value)
  } catch (noJson) {
    return Either.left(noJson)
  }
}

/** A result that is no Effect and no promise: else one whose failure is not declared would pass for a value. */
export type Plain<S> = unknown extends S
  ? | string
    | number
    | boolean
    | null
    | undefined
    | void
    | (object & { readonly [Effect.EffectTypeId]?: never; readonly then?: never })
  : S

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
    ) => Plain<NoInfer<S>> | Effect.Effect<NoInfer<S>, NoInfer<F>, R>
  }
): Tool<Raised<F, Mode>, R> => {
  const encode = options.success && Schema.encodeUnknownEither(options.success)
  return define(options, (params, context, sink) => {
    const result: unknown = options.execute(params, context)
    const done = (value: unknown): Effect.Effect<void, InvalidResult> => {
      const encoded = encode?.(value) ?? asJson(value)
      return Either.isLeft(encoded)
        ? Effect.fail(new InvalidResult(encoded.left))
        : (sink.whole(Message.succeeded(encoded.right)) ?? Effect.void)
    }
    // An Option and an Either are Effects, too; as results they are values.
    return Effect.isEffect(result) && !Option.isOption(result) && !Either.isEither(result)
      ? Effect.flatMap(result as Effect.Effect<unknown, unknown, unknown>, done)
      : done(result)
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

/**
 * A tool whose arguments are known by their JSON Schema alone, for example one of a
 * server. Nothing is checked but that they are an object: that is left to who has
 * the schema. What the call fails with fails the run.
 *
 * @example
 * ```ts
 * import { Call, Message, Tool } from "@heddle/core"
 *
 * const echo = Tool.fromJsonSchema({
 *   name: "echo",
 *   description: "Says what it is told.",
 *   jsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   execute: (args) => Call.succeed(Message.succeeded(String(args["text"])))
 * })
 * ```
 */
export const fromJsonSchema = <E = never, R = never>(
  options: Pick<
    Options<never, never, never, never, "fail">,
    "name" | "description" | "annotations" | "returnDirectly"
  > & {
    /** The JSON Schema of the arguments: what the model is shown, as it is. */
    readonly jsonSchema: object
    readonly execute: (args: Readonly<Record<string, unknown>>, context: ToolContext) => ToolRun<E, R>
  }
): Tool<E, R> =>
  define(
    { ...options, parameters: anyObject, failureMode: "fail" },
    (args, context, sink) => Call.into(options.execute(args, context), sink),
    options.jsonSchema
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
    given: tool.given,
    execute: tool.execute
  }) as unknown as Tool<E, R>
}
