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
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { failWith, fromErrorPart } from "./errors.ts"
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
  /** How long the provider may say nothing: the call fails with a `Timeout` then. As long as it likes unless said. */
  readonly patience?: Duration.DurationInput
}

/** A request in their words. */
interface Asked {
  readonly options: LanguageModel.GenerateTextOptions<AnyTools>
  readonly offered: ReadonlySet<string>
  /** The JSON Schema that the answer is to be asked for with. */
  readonly output: object | undefined
  readonly context: Context.Context<never>
  readonly patience: Duration.DurationInput | undefined
}

const ask = (request: ChatModel.ModelRequest, { config, patience, providerTools = [] }: Options): Asked => {
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
    patience
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
  { context, offered, options, output, patience }: Asked
): Effect.Effect<ReadonlyArray<ChatModel.ModelPart>, Errors.ModelError> => {
  const response: Effect.Effect<LanguageModel.GenerateTextResponse<AnyTools>, AiError> = output === undefined
    ? model.generateText(options)
    : // The toolkit is left out: a call forced by the schema is the only one that there can be.
      model.generateObject({ prompt: options.prompt, objectName: "answer", schema: recordSchema(output) })
  return response.pipe(
    Effect.mapInputContext((outer: Context.Context<never>) => Context.merge(outer, context)),
    Effect.map(({ content }): ReadonlyArray<TheirPart> => content),
    Effect.catchAll((error) => salvage(error, offered)),
    (reply) =>
      patience === undefined
        ? reply
        : Effect.timeoutFail(reply, { duration: patience, onTimeout: () => silent(patience) }),
    Effect.flatMap((parts) => {
      const target = reader()
      return Effect.map(
        Effect.forEach(parts, (part) => readPart(target, part)),
        (read) => read.flat()
      )
    })
  )
}

// It lets everything through, records too, which is what the signature asks for.
const recordSchema = (output: object) => permissive(output) as Schema.Schema<unknown, Record<string, unknown>>

const salvage = (
  error: AiError,
  offered: ReadonlySet<string>
): Effect.Effect<ReadonlyArray<TheirPart>, Errors.ModelError> => {
  const parts = error._tag === "MalformedOutput" ? unread(error, offered) : undefined
  return parts === undefined ? failWith(error) : Effect.succeed(parts)
}

const readPart = (
  target: Reader,
  part: TheirPart
): Effect.Effect<ReadonlyArray<ChatModel.ModelPart>, Errors.ModelError> =>
  part.type === "error" ? Effect.fail(fromErrorPart(part.error)) : Effect.succeed(target.read(part))

/** The reply as it comes. */
const streamed = (
  model: LanguageModel.Service,
  { context, offered, options, patience }: Asked
): Stream.Stream<ChatModel.ModelPart, Errors.ModelError> =>
  Stream.suspend(() => {
    const target = reader()
    const parts: Stream.Stream<Response.StreamPart<AnyTools>, AiError> = model.streamText(options)
    return parts.pipe(
      Stream.mapInputContext((outer: Context.Context<never>) => Context.merge(outer, context)),
      Stream.map((part): TheirPart => part),
      // What came after a call of an unknown tool is lost, its usage too.
      Stream.catchAll((error) =>
        Stream.unwrap(Effect.map(salvage(error, offered), (parts) => Stream.fromIterable(ended(parts))))
      ),
      (parts) => (patience === undefined ? parts : Stream.timeoutFail(parts, () => silent(patience), patience)),
      Stream.mapChunksEffect((chunk) =>
        Effect.map(
          Effect.forEach(Chunk.toReadonlyArray(chunk), (part) => readPart(target, part)),
          (read) => Chunk.unsafeFromArray(read.flat())
        )
      ),
      Stream.concat(Stream.suspend(() => (target.finished() ? Stream.empty : Stream.fail(cutOff()))))
    )
  })

const ended = (parts: ReadonlyArray<TheirPart>): ReadonlyArray<TheirPart> =>
  parts.some((part) => part.type === "finish") ? parts : [...parts, finish("tool-calls")]

const silent = (patience: Duration.DurationInput) =>
  new Errors.ModelError({ reason: "Timeout", message: `The provider said nothing for ${Duration.format(patience)}.` })

const cutOff = () =>
  new Errors.ModelError({ reason: "Network", message: "The stream ended before the model said that it was done." })

/** The model: in one piece unless each part is wanted live, and always so where a schema is asked for by the provider. */
export const make = (model: LanguageModel.Service, options: Options): ChatModel.Service => ({
  call: (request) =>
    Call.fromSink((sink) =>
      Effect.suspend(() => {
        const asked = ask(request, options)
        const call =
          sink.demand === "live" && asked.output === undefined
            ? Call.fromStream(streamed(model, asked))
            : Call.unwrap(Effect.map(whole(model, asked), Call.fromIterable))
        return Call.into(call, sink)
      })
    )
})
