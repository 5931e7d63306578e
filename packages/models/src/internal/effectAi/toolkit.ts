/**
 * A toolkit of @effect/ai as tools of ours, and back.
 */
import * as AiError from "@effect/ai/AiError"
import * as AiTool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import { Call, Message, Tool, Tools } from "@heddle/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { type AnyTools, description, jsonSchema, parameters, permissive } from "./offer.ts"

/** A handler as it runs: a name and what a model gave for arguments. */
type Handle = (name: string, params: unknown) => Effect.Effect<AiTool.HandlerResult<AiTool.Any>, unknown, unknown>

const annotations = (tool: AiTool.Any): Tool.Annotations => {
  // A tool that a provider defines has none.
  const said = tool.annotations ?? Context.empty()
  const readOnly = Context.get(said, AiTool.Readonly)
  return {
    readOnly,
    destructive: !readOnly && Context.get(said, AiTool.Destructive),
    idempotent: Context.get(said, AiTool.Idempotent)
  }
}

/** What the toolkit itself, not a handler, fails with: arguments or a result that do not fit. */
const isToolkits = (error: unknown): error is AiError.MalformedInput | AiError.MalformedOutput =>
  AiError.isAiError(error) &&
  (error._tag === "MalformedInput" || error._tag === "MalformedOutput") &&
  error.module === "Toolkit"

const fromTool = (tool: AiTool.Any, handle: Handle, allReturn: boolean): Tool.Any => {
  const encode = Schema.encodeUnknown(tool.failureSchema as Schema.Schema<unknown>) // its context is that of the tool
  const failed = (error: unknown) => Message.failed(`Tool "${tool.name}" failed.`, error)
  const run = (params: unknown): Effect.Effect<Message.ToolOutcome, unknown, unknown> =>
    handle(tool.name, params).pipe(
      Effect.map(({ encodedResult, isFailure }) =>
        isFailure ? failed(encodedResult) : Message.succeeded(encodedResult)
      ),
      Effect.catchAll((error): Effect.Effect<Message.ToolOutcome, unknown> => {
        if (!isToolkits(error)) return allReturn ? Effect.orDie(Effect.map(encode(error), failed)) : Effect.fail(error)
        if (error._tag === "MalformedInput") return Effect.die(error)
        const problem = ParseResult.isParseError(error.cause) ? error.cause.message : String(error.description)
        return Effect.succeed(Message.failed(`The arguments do not fit the parameters of "${tool.name}".\n${problem}`))
      })
    )
  return Tool.fromCall({
    name: tool.name,
    description: description(tool),
    annotations: annotations(tool),
    parameters: permissive(jsonSchema(tool)),
    execute: (params) => Call.fromEffect(run(params))
  })
}

/** The tools of a toolkit that it has handlers for. */
export const fromToolkit = (
  toolkit: Toolkit.WithHandler<AnyTools>,
  allReturn: boolean
): Tools.Tools<unknown, unknown> =>
  Tools.make(
    ...Object.values(toolkit.tools)
      .filter((tool) => !AiTool.isProviderDefined(tool) || tool.requiresHandler)
      // The names are those of the toolkit, and arguments are checked by it.
      .map((tool) => fromTool(tool, toolkit.handle as unknown as Handle, allReturn))
  )

const theirs = (tool: Tool.Any) =>
  AiTool.make(tool.name, { description: tool.description, success: Schema.Unknown, failure: Schema.Unknown })
    .setParameters(parameters(tool.jsonSchema))
    .annotate(AiTool.Readonly, tool.annotations.readOnly)
    .annotate(AiTool.Destructive, tool.annotations.destructive)
    .annotate(AiTool.Idempotent, tool.annotations.idempotent)

/** Our tools as a toolkit with handlers, which run in a context. Calls are numbered: a handler there is told no id. */
export const toToolkit = (
  tools: Tools.Tools<unknown, unknown>,
  context: Context.Context<never>
): Toolkit.WithHandler<AnyTools> => {
  let calls = 0
  const handle: Handle = (name, params) =>
    Effect.suspend(() => {
      const asked = { name, arguments: params, tool: tools.get(name), offered: tools.names }
      return Tool.run(Tool.execute({ ...asked, id: `${name}-${++calls}` }))
    }).pipe(
      // What the tools need is in the context in which the toolkit was made.
      Effect.mapInputContext(
        (outer: Context.Context<never>) => Context.merge(context, outer) as Context.Context<unknown>
      ),
      Effect.map((outcome) => {
        const isFailure = outcome._tag !== "Succeeded"
        const result = isFailure ? Message.renderOutcome(outcome) : outcome.result
        return { isFailure, result: result as never, encodedResult: result } // `Unknown` is the schema of both
      })
    )
  return { tools: Object.fromEntries(Array.from(tools, (tool) => [tool.name, theirs(tool)])), handle: handle as never }
}
