import { Agent, ChatModel, Message, Tool, Tools } from "@heddle/core"
import { Effect, Schema } from "effect"
import { ToolCache } from "./ToolCache.ts"

/** An agent that looks up words, and tells of each look-up that is really made. */
export const makeAgent = (onLookUp: (word: string) => Effect.Effect<void>) =>
  Agent.make({
    name: "reader",
    tools: Tools.make(
      Tool.make({
        name: "look_up",
        description: "Looks a word up.",
        parameters: Schema.Struct({ word: Schema.String }),
        annotations: { readOnly: true },
        execute: ({ word }) =>
          onLookUp(word).pipe(
            Effect.zipRight(Effect.yieldNow()), // as if it went over the network
            Effect.as(`${word}: a word of ${word.length} letters`)
          )
      })
    ),
    handlers: ToolCache
  })

/** Stands in for a model: it looks up the word that it is asked for. */
export const Model = ChatModel.layer((request) => {
  const [call] = request.history.flatMap(Message.toolCalls)
  return call === undefined
    ? ChatModel.reply([Message.toolCall("call", "look_up", { word: ChatModel.question(request) })])
    : ChatModel.reply(Message.renderOutcome(call.outcome))
})
