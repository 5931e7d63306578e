/**
 * A model that answers from a script, for tests: a list of replies, or a
 * function of the request; in one piece or cut into parts; late, or not at all.
 * It keeps every request that it was given.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { ScriptedModel } from "@heddle/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make(["Hello!"])
 *   const result = yield* Agent.run(Agent.make({ name: "greeter" }), "Hi").pipe(Effect.provide(model.layer))
 *   console.log(result.text, (yield* model.requests).length)
 * })
 * Effect.runPromise(program)
 * ```
 * ```text
 * Hello! 1
 * ```
 */
import { Call, ChatModel, Errors, Message } from "@heddle/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"

/** A tool call that the model asks for. */
export interface AskFor {
  readonly tool: string
  readonly arguments?: unknown
  /** `call-1`, `call-2` … unless said. */
  readonly id?: string
}

/** One reply: a text, tool calls, both, a failure. A failure comes after the text, if there is one. */
export type Reply =
  | string
  | Errors.ModelError
  | {
      readonly text?: string
      readonly reasoning?: string
      readonly calls?: ReadonlyArray<AskFor>
      readonly usage?: ChatModel.Usage
      /** Waits on the `Clock` before it answers. */
      readonly delay?: Duration.DurationInput
      readonly error?: Errors.ModelError
      /** Dies with this after the text. */
      readonly defect?: unknown
      /** Where to cut this text, over the `cut` of the model. */
      readonly cut?: Cut
    }

/** How text is cut into parts: not at all, at given places (counted in characters), into pieces of a size, or at random places of a seed. */
export type Cut =
  "whole" | { readonly at: ReadonlyArray<number> } | { readonly every: number } | { readonly seed: number }

/** What the model answers: the replies in turn, or what a function says. */
export type Script = ReadonlyArray<Reply> | ((request: ChatModel.ModelRequest, turn: number) => Reply)

/** A scripted model. */
export interface ScriptedModel {
  readonly layer: Layer.Layer<ChatModel.ChatModel>
  readonly service: ChatModel.ChatModel["Type"]
  /** The requests so far, in the order in which their calls began. */
  readonly requests: Effect.Effect<ReadonlyArray<ChatModel.ModelRequest>>
}

/** Makes a scripted model. A list that has come to its end fails with `BadRequest`. */
export const make = (script: Script, options?: { readonly cut?: Cut }): Effect.Effect<ScriptedModel> =>
  Effect.map(Ref.make<ReadonlyArray<ChatModel.ModelRequest>>([]), (requests) => {
    const service: ChatModel.ChatModel["Type"] = {
      call: (request) =>
        Call.unwrap(
          Effect.map(
            Ref.modify(requests, (all) => [all.length, [...all, request]]),
            (turn) => say(replyAt(script, request, turn), turn, options?.cut ?? "whole")
          )
        )
    }
    return { service, layer: Layer.succeed(ChatModel.ChatModel, service), requests: Ref.get(requests) }
  })

/** A layer of a scripted model, for tests that do not look at the requests. */
export const layer = (script: Script, options?: { readonly cut?: Cut }): Layer.Layer<ChatModel.ChatModel> =>
  Layer.unwrapEffect(Effect.map(make(script, options), (model) => model.layer))

const replyAt = (script: Script, request: ChatModel.ModelRequest, turn: number): Reply => {
  if (typeof script === "function") return script(request, turn)
  return (
    script[turn] ??
    new Errors.ModelError({
      reason: "BadRequest",
      message: `The script has ${script.length} replies and was asked for one more.`
    })
  )
}

const say = (reply: Reply, turn: number, cut: Cut): ChatModel.ModelCall => {
  if (typeof reply === "string") return say({ text: reply }, turn, cut)
  if (reply instanceof Errors.ModelError) return Call.fail(reply)
  const { calls = [], defect, delay, error, reasoning, text = "", usage } = reply
  const parts: ReadonlyArray<ChatModel.ModelPart> = [
    ...pieces(reasoning ?? "", reply.cut ?? cut).map((text): ChatModel.ModelPart => ({ _tag: "Reasoning", text })),
    ...pieces(text, reply.cut ?? cut).map((text): ChatModel.ModelPart => ({ _tag: "Text", text })),
    ...calls.map((call, i): ChatModel.ModelPart => ({
      _tag: "ToolCall",
      id: call.id ?? `call-${turn + 1}${calls.length > 1 ? `-${i + 1}` : ""}`,
      name: call.tool,
      arguments: call.arguments ?? {}
    }))
  ]
  const end: ChatModel.ModelPart = {
    _tag: "Finish",
    reason: calls.length > 0 ? "tool-calls" : "stop",
    ...(usage && { usage })
  }
  return Call.make((emit) =>
    Effect.gen(function* () {
      if (delay !== undefined) yield* Effect.sleep(delay)
      for (const part of parts) yield* emit(part)
      if (error !== undefined) return yield* error
      if (defect !== undefined) return yield* Effect.die(defect)
      yield* emit(end)
    })
  )
}

/** Cuts a text. The pieces make up the text again; empty ones are left out. */
export const pieces = (text: string, cut: Cut): ReadonlyArray<string> => {
  if (text === "") return []
  if (cut === "whole") return [text]
  const at =
    "at" in cut
      ? cut.at
      : "every" in cut
        ? Array.from(
            { length: Math.floor(text.length / Math.max(1, cut.every)) },
            (_, i) => (i + 1) * Math.max(1, cut.every)
          )
        : randomPlaces(text.length, cut.seed)
  const places = [0, ...at.filter((place) => place > 0 && place < text.length).toSorted((a, b) => a - b), text.length]
  return places.slice(1).flatMap((place, i) => (place > places[i]! ? [text.slice(places[i], place)] : []))
}

/** Places from a linear congruential generator: the same for the same seed, everywhere. */
const randomPlaces = (length: number, seed: number): ReadonlyArray<number> => {
  const places: Array<number> = []
  let state = (Math.abs(Math.trunc(seed)) % 2147483646) + 1
  for (let i = 0; i < Math.min(length, 64); i++) {
    state = (state * 48271) % 2147483647
    if (state % 3 !== 0) places.push(state % length)
  }
  return places
}

/** A message of the model with tool calls, for histories written by hand. */
export const asked = (
  ...calls: ReadonlyArray<AskFor & { readonly outcome?: Message.ToolOutcome }>
): Message.AssistantMessage =>
  Message.assistant(
    calls.map((call, i) => Message.toolCall(call.id ?? `call-${i + 1}`, call.tool, call.arguments ?? {}, call.outcome))
  )
