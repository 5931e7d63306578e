/**
 * A language model of @effect/ai as a model of ours.
 */
import type { AiError } from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import type * as AiTool from "@effect/ai/Tool"
import { Call, type ChatModel, Errors, Instructions } from "@heddle/core"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { failures, type Failures } from "./errors.ts"
import { type AnyTools, permissive, toolkitOf } from "./offer.ts"
import { toPrompt } from "./prompt.ts"
import { type Reader, reader, type TheirPart } from "./reply.ts"
import { finish, unread } from "./unread.ts"

/** How a language model of @effect/ai is asked. */
export interface Options {
  /** What the provider's own services say for a request: temperature and the like. */
  readonly config?: (options: ChatModel.ModelOptions) => Context.Context<never>
  /** Tools that the provider runs itself, such as its web search. */
  readonly providerTools?: ReadonlyArray<AiTool.Any>
  /**
   * How long the provider may say nothing, which is the whole time for a reply in one piece: the call fails with a
   * `Timeout` then. `Infinity` for as long as it likes. @default "5 minutes"
   */
  readonly patience?: Duration.DurationInput
  /**
   * The key that the provider was given, for one: errors have it neither in their message nor in their cause, whatever
   * a server repeats. The adapter knows it by itself only where the error has the request.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** A request in their words. */
interface Asked {
  readonly options: LanguageModel.GenerateTextOptions<AnyTools>
  readonly offered: ReadonlySet<string>
  /** The JSON Schema that the answer is to be asked for with. */
  readonly output: object | undefined
  readonly context: Context.Context<never>
  readonly patience: Duration.Duration
  readonly failures: Failures
}

const ask = (
  request: ChatModel.ModelRequest,
  { config, patience = "5 minutes", providerTools = [] }: Options,
  failures: Failures
): Asked => {
  const toolkit = toolkitOf(request.tools, providerTools)
  const names = Object.keys(toolkit.tools)
  const choosing = names.length > 0 && request.toolChoice !== "none"
  // Providers give structured output by forcing a call of their own: then no tool can be called.
  const inWords = choosing ? request.output : undefined
  return {
    options: {
      prompt: toPrompt(
        inWords === undefined ? request.instructions : inform(request.instructions, inWords),
        request.history
      ),
      disableToolCallResolution: true,
      ...(names.length > 0 && { toolkit, toolChoice: request.toolChoice })
    },
    offered: new Set(names),
    output: choosing ? undefined : request.output,
    context: config?.(request.options) ?? Context.empty(),
    patience: Duration.decode(patience),
    failures
  }
}

const inform = (instructions: Instructions.Instructions, output: object) =>
  Instructions.append(
    instructions,
    `When you answer, answer with JSON alone, without a code fence. It must fit this JSON Schema:\n${JSON.stringify(output)}`,
    "output"
  )

/** The reply in one piece. */
const whole = (
  model: LanguageModel.Service,
  { context, failures, offered, options, output, patience }: Asked
): Effect.Effect<ReadonlyArray<ChatModel.ModelPart>, Errors.ModelError> => {
  const response: Effect.Effect<LanguageModel.GenerateTextResponse<AnyTools>, AiError> = output === undefined
    ? model.generateText(options)
    : // The toolkit is left out: a call forced by the schema is the only one that there can be.
      model.generateObject({ prompt: options.prompt, objectName: "answer", schema: recordSchema(output) })
  return response.pipe(
    Effect.mapInputContext((outer: Context.Context<never>) => Context.merge(outer, context)),
    Effect.map(({ content }): ReadonlyArray<TheirPart> => content),
    Effect.catchAll((error) => salvage(error, offered, failures)),
    (reply) =>
      Duration.isFinite(patience)
        ? Effect.timeoutFail(reply, { duration: patience, onTimeout: () => silent(patience) })
        : reply,
    Effect.flatMap((parts) => readAll(reader(), parts, failures))
  )
}

// It lets everything through, records too, which is what the signature asks for.
const recordSchema = (output: object) => permissive(output) as Schema.Schema<unknown, Record<string, unknown>>

const salvage = (
  error: AiError,
  offered: ReadonlySet<string>,
  { failWith }: Failures
): Effect.Effect<ReadonlyArray<TheirPart>, Errors.ModelError> => {
  const parts = error._tag === "MalformedOutput" ? unread(error, offered) : undefined
  return parts === undefined ? failWith(error) : Effect.succeed(parts)
}

const readAll = (
  target: Reader,
  parts: ReadonlyArray<TheirPart>,
  { fromErrorPart }: Failures
): Effect.Effect<ReadonlyArray<ChatModel.ModelPart>, Errors.ModelError> => {
  const broken = parts.find((part) => part.type === "error")
  return broken === undefined ? Effect.succeed(parts.flatMap(target.read)) : Effect.fail(fromErrorPart(broken.error))
}

/** Sends the reply into a sink as it comes. */
const streamed = (
  model: LanguageModel.Service,
  { context, failures, offered, options, patience }: Asked,
  sink: Call.Sink<ChatModel.ModelPart, ChatModel.ModelReply>
): Effect.Effect<void, Errors.ModelError> => {
  const target = reader()
  const tell = (parts: ReadonlyArray<TheirPart>) =>
    Effect.flatMap(readAll(target, parts, failures), (read) => Call.into(Call.fromIterable(read), sink))
  const parts: Stream.Stream<Response.StreamPart<AnyTools>, AiError> = model.streamText(options)
  const patient = Duration.isFinite(patience) ? Stream.timeoutFail(parts, () => silent(patience), patience) : parts
  return Stream.runForEachChunk(patient, (chunk) => tell(Chunk.toReadonlyArray(chunk))).pipe(
    // What came after a call of an unknown tool is lost, its usage too.
    Effect.catchAll((error) =>
      error._tag === "ModelError"
        ? Effect.fail(error)
        : Effect.flatMap(salvage(error, offered, failures), (parts) => tell(ended(parts)))
    ),
    Effect.flatMap(() => (target.finished() ? Effect.void : Effect.fail(cutOff()))),
    Effect.mapInputContext((outer: Context.Context<never>) => Context.merge(outer, context))
  )
}

const ended = (parts: ReadonlyArray<TheirPart>): ReadonlyArray<TheirPart> =>
  parts.some((part) => part.type === "finish") ? parts : [...parts, finish("tool-calls")]

const silent = (patience: Duration.Duration) =>
  new Errors.ModelError({ reason: "Timeout", message: `The provider said nothing for ${Duration.format(patience)}.` })

const cutOff = () =>
  new Errors.ModelError({ reason: "Network", message: "The stream ended before the model said that it was done." })

/** The model: in one piece unless each part is wanted live, and always so where a schema is asked for by the provider. */
export const make = (model: LanguageModel.Service, options: Options): ChatModel.Service => {
  const told = failures(options.secrets)
  return {
    call: (request) =>
      Call.fromSink((sink) =>
        Effect.suspend(() => {
          const asked = ask(request, options, told)
          return sink.demand === "live" && asked.output === undefined
            ? streamed(model, asked, sink)
            : Effect.flatMap(whole(model, asked), (parts) => Call.into(Call.fromIterable(parts), sink))
        })
      )
  }
}
