/**
 * A model that needs no network, no key and no download, for newcomers,
 * examples and tests. It is not a language model: it understands nothing and
 * composes nothing.
 *
 * It calls tools whose names, descriptions and parameters fit the words of the
 * question, fills their arguments from the question and from what other tools
 * have found, and answers by quoting the sentences of tool results and of the
 * conversation that fit the question best, with their source. Where it finds
 * nothing it says so. The same request always gets the same answer.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { OfflineModel } from "@heddle/models"
 * import { Effect } from "effect"
 *
 * const agent = Agent.make({ name: "helper", instructions: "The office opens at nine." })
 * const program = Agent.run(agent, "When does the office open?").pipe(
 *   Effect.map((result) => result.text),
 *   Effect.provide(OfflineModel.layer)
 * )
 * ```
 */
import { Call, ChatModel, Instructions, Message } from "@heddle/core"
import { quoted } from "@heddle/core/names"
import { optional, problems, wholeFrom } from "@heddle/core/settings"
import { count } from "@heddle/core/words"
import type { Context } from "effect"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { answer, jsonAnswer } from "./internal/answer.ts"
import { question } from "./internal/evidence.ts"
import { plan } from "./internal/plan.ts"
import { type ModelProvider, ModelUnavailable } from "./ModelProvider.ts"

/** How the model goes about it. */
export interface Options {
  /** Tool calls in one exchange at the most; 6 unless said. A tool that the request names is called once all the same. */
  readonly maxToolCalls?: number
}

/**
 * Makes the model.
 *
 * It counts words, not tokens, as its usage. A request that requires a tool
 * call gets one until there is nothing left to call that was not called with
 * the same arguments before; then it is answered. An answer that must fit a
 * JSON Schema is filled from what was found, and with the smallest values
 * that fit where nothing was; a `pattern` that nothing found satisfies is the
 * one thing that it cannot meet.
 */
export const make = ({ maxToolCalls = 6 }: Options = {}): Context.Tag.Service<ChatModel.ChatModel> => ({
  call: (request) =>
    Call.fromSink((sink) =>
      Effect.suspend(() => {
        const reply = replyTo(request, maxToolCalls)
        return sink.demand === "value"
          ? (sink.whole(reply) ?? Effect.void)
          : Call.into(Call.fromIterable(parts(reply)), sink)
      })
    )
})

/** The model as a layer. */
export const layer: Layer.Layer<ChatModel.ChatModel> = Layer.succeed(ChatModel.ChatModel, make())

const Settings = Schema.Struct({ maxToolCalls: optional(wholeFrom(0)) })

/** Makes the model for a `ModelRegistry`, which always has it, by the name `"offline"`. The model's own name may be any. */
export const provider: ModelProvider = {
  name: "offline",
  make: ({ name, options }) => {
    const found = problems(Settings, options, "options")
    return found.length === 0
      ? Effect.sync(() => make(options))
      : new ModelUnavailable({
          reason: "InvalidOptions",
          model: name,
          message: `The options of the model ${quoted(name)} make no sense: ${found.join("; ")}`
        })
  }
}

const replyTo = (request: ChatModel.ModelRequest, maxToolCalls: number): ChatModel.ModelReply => {
  const asked = question(request)
  const planned = plan(request, asked.text, maxToolCalls)
  if (planned.length > 0) {
    const before = request.history.reduce((n, message) => n + Message.toolCalls(message).length, 0)
    const calls = planned.map(({ arguments: args, name }, i) => Message.toolCall(`call-${before + i + 1}`, name, args))
    return ChatModel.replyValue(calls, usage(request, planned.map((call) => JSON.stringify(call)).join(" ")))
  }
  const text = request.output === undefined ? answer(request, asked) : jsonAnswer(request, asked, request.output)
  return ChatModel.replyValue(text, usage(request, text))
}

const usage = (request: ChatModel.ModelRequest, text: string): ChatModel.Usage => {
  let inputTokens = count(Instructions.render(request.instructions))
  for (const message of request.history) {
    inputTokens += count(Message.text(message))
    for (const call of Message.toolCalls(message)) inputTokens += count(Message.renderOutcome(call.outcome))
  }
  return { inputTokens, outputTokens: count(text) }
}

/** The parts of a reply, its text word by word. */
const parts = (reply: ChatModel.ModelReply): ReadonlyArray<ChatModel.ModelPart> =>
  ChatModel.fold
    .whole(reply)
    .flatMap((part): ReadonlyArray<ChatModel.ModelPart> =>
      part._tag === "Text" ? (part.text.match(/\s*\S+|\s+$/g) ?? []).map((text) => ({ ...part, text })) : [part]
    )
