/**
 * What a tool is made of, and how it runs.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import { pipeArguments } from "effect/Pipeable"
import * as Schema from "effect/Schema"
import * as Call from "../Call.ts"
import { ToolError } from "../Errors.ts"
import * as Message from "../Message.ts"
import type { Annotations, Any, FailureMode, Options, ToolContext, TypeId } from "../Tool.ts"
import { toolName } from "./name.ts"
import { Blameless } from "./sink.ts"
import { type ToolPart, type ToolRequest, type ToolRun } from "./toolCall.ts"
import { total } from "./total.ts"
import { markBase } from "./wayOut.ts"

/** A body sends what it has to say into the sink itself; what it fails with is sorted by `define`. */
type Body<P> = (params: P, context: ToolContext, sink: ToolSink) => Effect.Effect<void, unknown, unknown>
type ToolSink = Call.Sink<ToolPart, Message.ToolOutcome>

/** A tool. */
export class ToolImpl implements Any {
  declare readonly [TypeId]: Any[typeof TypeId]
  readonly name: string
  readonly description: string
  readonly annotations: Annotations
  readonly returnDirectly: boolean
  readonly parameters: Schema.Schema.AnyNoContext
  /** The JSON Schema, where it does not come from `parameters`. */
  readonly given: object | undefined
  readonly execute: (request: ToolRequest) => Call.Call<ToolPart, Message.ToolOutcome, unknown, unknown>
  #jsonSchema: object | undefined

  constructor(
    fields: Pick<
      ToolImpl,
      "name" | "description" | "annotations" | "returnDirectly" | "parameters" | "given" | "execute"
    >
  ) {
    this.name = fields.name
    this.description = fields.description
    this.annotations = fields.annotations
    this.returnDirectly = fields.returnDirectly
    this.parameters = fields.parameters
    this.given = fields.given
    this.execute = fields.execute
  }
  get jsonSchema(): object {
    return (this.#jsonSchema ??= this.given ?? JSONSchema.make(this.parameters))
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
/** Arguments that are passed on as they are, as long as they are an object. */
export const anyObject = Schema.declare(
  (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null && !Array.isArray(u),
  { message: () => "Expected an object." }
)
const noAnnotations: Annotations = { readOnly: false, destructive: false, idempotent: false }

/** What a body fails with when its result does not fit the success schema. */
export class InvalidResult {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** The message of an error, unless it only repeats the fields, as that of a schema's error without one of its own does. */
const messageOf = (error: unknown): string =>
  error instanceof globalThis.Error && error.message !== "" && !error.message.startsWith("{")
    ? `: ${error.message}`
    : ""

/** A tool of options and a body: decodes the arguments, and sorts what the body fails with. */
export const define = <P, PI, F, FI, Mode extends FailureMode>(
  options: Options<P, PI, F, FI, Mode>,
  body: Body<P>,
  jsonSchema?: object
): ToolImpl => {
  const parameters = (options.parameters ?? noParameters) as Schema.Schema<P, PI>
  const decode = Schema.decodeUnknownEither(parameters, { errors: "all" })
  const encodeFailure = options.failure && total(Schema.encodeUnknownEither(options.failure))

  const outcomeOf = (
    name: string,
    callId: string,
    cause: Cause.Cause<unknown>
  ): Effect.Effect<Message.ToolOutcome, unknown> => {
    const fail = (error: unknown) => markBase(Cause.fail(error))
    const threw = (cause: unknown, reason: ToolError["reason"] = "Threw") =>
      fail(new ToolError({ tool: name, callId, reason, cause }))
    // When the whole run is interrupted nobody asks for this; so here the tool gave itself up.
    if (Cause.isInterruptedOnly(cause)) return Effect.succeed(Message.cancelled)
    const failure = Cause.failureOption(cause)
    if (failure._tag === "None") return threw(Cause.squash(cause))
    const error = failure.value
    if (error instanceof InvalidResult) return threw(error.cause, "InvalidResult")
    if (options.failureMode === "fail") return fail(error)
    const encoded = encodeFailure?.(error)
    return encoded !== undefined && Either.isRight(encoded)
      ? Effect.succeed(Message.failed(`Tool "${name}" failed${messageOf(error)}.`, encoded.right))
      : threw(error)
  }

  return new ToolImpl({
    name: toolName(options.name),
    description: options.description,
    annotations: { ...noAnnotations, ...options.annotations },
    returnDirectly: options.returnDirectly ?? false,
    parameters,
    given: jsonSchema,
    execute: (request) =>
      Call.fromSink((sink) => {
        // A tool may have been given another name.
        const name = request.tool?.name ?? options.name
        const guarded = new Blameless(sink)
        const context: ToolContext = {
          callId: request.id,
          progress: (value) => Effect.suspend(() => guarded.emit({ _tag: "Progress", value }) ?? Effect.void)
        }
        const attempt = Effect.suspend(() => {
          const params = decode(request.arguments)
          if (Either.isRight(params)) return body(params.right, context, guarded)
          const problem = ParseResult.TreeFormatter.formatErrorSync(params.left)
          const reason = `The arguments do not fit the parameters of "${name}".\n${problem}`
          return guarded.whole(Message.failed(reason)) ?? Effect.void
        })
        return Effect.catchAllCause(attempt, (cause) =>
          !guarded.broken
            ? Effect.flatMap(outcomeOf(name, request.id, cause), (outcome) => sink.whole(outcome) ?? Effect.void)
            : Effect.failCause(cause)
        )
      })
  })
}
