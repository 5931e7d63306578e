/**
 * One call of a language model: in one piece where nobody asks for parts, else
 * read from the provider's stream.
 */
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart
} from "@ai-sdk/provider"
import { Call, ChatModel, Errors } from "@heddle/core"
import * as Effect from "effect/Effect"
import { clean, shortened } from "../redact.ts"
import { errorIn } from "../refusal.ts"
import { isCut, modelError } from "./errors.ts"
import { Assembly } from "./reply.ts"

type Sink = Call.Sink<ChatModel.ModelPart, ChatModel.ModelReply>
type Answer = Effect.Effect<void, Errors.ModelError>

/** A call, from what gives the model and what to ask it. `prepare` may throw. */
export const call = (
  prepare: () => readonly [LanguageModelV3, LanguageModelV3CallOptions],
  secrets: ReadonlyArray<string>
): ChatModel.ModelCall =>
  Call.fromSink((sink: Sink) =>
    Effect.suspend(() => {
      try {
        const [model, options] = prepare()
        return sink.demand === "value"
          ? generate(model, options, sink, secrets)
          : new Reading(model, options, sink, secrets).run
      } catch (error) {
        return Effect.fail(modelError(error, secrets))
      }
    })
  )

const generate = (
  model: LanguageModelV3,
  options: LanguageModelV3CallOptions,
  sink: Sink,
  secrets: ReadonlyArray<string>
): Answer =>
  Effect.flatMap(
    Effect.tryPromise({
      try: (abortSignal) => reply(model, { ...options, abortSignal }),
      catch: (error) => modelError(error, secrets)
    }),
    (reply) => sink.whole(reply) ?? Effect.void
  )

const reply = async (model: LanguageModelV3, options: LanguageModelV3CallOptions): Promise<ChatModel.ModelReply> => {
  const result = await model.doGenerate(options)
  // Google's provider makes an empty reply of whatever is JSON.
  if (result.content.length === 0 && isUntold(result.finishReason)) throw errorIn(result.response?.body) ?? empty()
  const assembly = new Assembly()
  result.content.forEach((content) => assembly.content(content))
  assembly.warnings(result.warnings)
  if (result.response !== undefined) assembly.response(result.response)
  const finish = assembly.finish(result)
  const parts = ChatModel.fold.make()
  assembly.ready.forEach(parts.add)
  parts.add(finish)
  return parts.value()
}

/** Parts that are read without letting anybody else have a turn. */
const partsOfTurn = 1024

/** How long the end of a stream may take to come after the reply, in milliseconds, and after how many parts. */
const endWithin = 1000
const mostAfterEnd = 16

/** Lets timers and the network have a turn: a stream that is there already would keep them out. */
const turn: Effect.Effect<void> = Effect.async((resume) => {
  const timer = setTimeout(() => resume(Effect.void), 0)
  return Effect.sync(() => clearTimeout(timer))
})

/**
 * The reading of a provider's stream. It reads on by itself as long as nobody
 * has to wait, since an Effect for each part would cost more than the part.
 */
class Reading {
  private readonly abort = new AbortController()
  private readonly assembly = new Assembly()
  private reader: ReadableStreamDefaultReader<LanguageModelV3StreamPart> | undefined
  /** Since others have had a turn; a wait for the reader need not have been one. */
  private partsRead = 0
  private left = false
  private finished = false
  /** Whether the provider has passed on something of a reply. */
  private replied = false
  /** What the response says that it is; missing: it is not known. */
  private mediaType: string | undefined
  private readonly model: LanguageModelV3
  private readonly options: LanguageModelV3CallOptions
  private readonly sink: Sink
  private readonly secrets: ReadonlyArray<string>

  constructor(model: LanguageModelV3, options: LanguageModelV3CallOptions, sink: Sink, secrets: ReadonlyArray<string>) {
    this.model = model
    this.options = { ...options, abortSignal: this.abort.signal }
    this.sink = sink
    this.secrets = secrets
  }

  private readonly next: Answer = Effect.async((resume) => {
    void this.go(resume)
  })

  /** To be run once. */
  readonly run: Answer = Effect.onExit(this.next, () => Effect.sync(() => this.leave()))

  private async go(resume: (answer: Answer) => void): Promise<void> {
    try {
      this.reader ??= await this.start()
      for (; this.partsRead < partsOfTurn; this.partsRead++) {
        // Not the provider's fault, if it throws.
        const wait = this.passOn(resume)
        if (wait === undefined) return
        if (wait !== "none") return resume(Effect.zipRight(wait, this.finished ? Effect.void : this.next))
        if (this.finished) return resume(Effect.void)
        const { done, value } = await this.reader.read()
        if (this.left) return
        if (done) throw this.cut()
        this.take(value)
      }
      this.partsRead = 0
      resume(Effect.zipRight(turn, this.next))
    } catch (error) {
      resume(Effect.fail(modelError(error, this.secrets)))
    }
  }

  private async start(): Promise<ReadableStreamDefaultReader<LanguageModelV3StreamPart>> {
    const { response, stream } = await this.model.doStream(this.options)
    if (response?.headers !== undefined) this.mediaType = response.headers["content-type"] ?? ""
    const reader = stream.getReader()
    // A provider that has not heard of the abort.
    if (this.left) reader.cancel().catch(() => undefined)
    return reader
  }

  private take(part: LanguageModelV3StreamPart): void {
    if (part.type === "error") throw isCut(part.error) ? this.cut(part.error) : part.error
    if (part.type !== "finish") {
      this.replied ||= part.type !== "stream-start" && part.type !== "raw"
      return this.assembly.stream(part)
    }
    if (isUntold(part.finishReason)) throw this.cut()
    const finish = this.assembly.finish(part)
    this.assembly.ready.push(finish)
    this.finished = true
  }

  /** Why there is no end: a response that is no stream, such as a page to sign in at, is the same the next time. */
  private cut(told: unknown = cutOff()): unknown {
    if (this.replied || this.mediaType === undefined || /event-stream/i.test(this.mediaType)) return told
    const came =
      this.mediaType === "" ? "something of no known type" : shortened(clean(this.mediaType, this.secrets), 100)
    return new Errors.ModelError({
      reason: "InvalidResponse",
      message: `The provider answered with ${came} where a stream of events was asked for.`
    })
  }

  /** Gives what is to be waited for, or nothing if the sink has thrown. */
  private passOn(resume: (answer: Answer) => void): Effect.Effect<void> | "none" | undefined {
    const { ready } = this.assembly
    if (ready.length === 0) return "none"
    try {
      for (let i = 0; i < ready.length; i++) {
        const wait = this.sink.emit(ready[i]!)
        if (wait === undefined) continue
        ready.splice(0, i + 1)
        return ready.length === 0
          ? wait
          : Effect.zipRight(
              wait,
              Effect.suspend(() => this.rest())
            )
      }
      ready.length = 0
      return "none"
    } catch (thrown) {
      resume(Effect.die(thrown))
      return undefined
    }
  }

  /** Passes on what came with a part that had to wait. */
  private rest(): Effect.Effect<void> {
    const part = this.assembly.ready.shift()
    if (part === undefined) return Effect.void
    return Effect.zipRight(
      this.sink.emit(part) ?? Effect.void,
      Effect.suspend(() => this.rest())
    )
  }

  private leave(): void {
    this.left = true
    if (!this.finished || this.reader === undefined) return this.close()
    const timer = setTimeout(() => this.close(), endWithin)
    // Nobody waits for this.
    if (typeof timer === "object") timer.unref()
    void this.drain(this.reader).finally(() => {
      clearTimeout(timer)
      this.close()
    })
  }

  /** Reads what is left after the reply: a connection that was read to its end is used again. */
  private async drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
    try {
      for (let i = 0; i < mostAfterEnd; i++) if ((await reader.read()).done) return
    } catch {
      // The reply was over.
    }
  }

  private close(): void {
    this.abort.abort()
    this.reader?.cancel().catch(() => undefined)
  }
}

/** Whether this is what providers begin with, and are left with if nobody tells them why the model stopped. */
const isUntold = ({ raw, unified }: LanguageModelV3FinishReason): boolean => unified === "other" && raw === undefined

const cutOff = () =>
  new Errors.ModelError({
    reason: "Network",
    message: "The stream ended before the provider had said that its reply is over."
  })

const empty = () =>
  new Errors.ModelError({
    reason: "InvalidResponse",
    message: "The provider answered with nothing, and has not said why the model stopped."
  })
