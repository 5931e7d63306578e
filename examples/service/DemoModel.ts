import { Call, ChatModel, Instructions, Message } from "@heddle/core"
import { Schedule, Stream } from "effect"

/** Stands in for a model: it asks who the user is, then speaks slowly. */
export const DemoModel = ChatModel.layer((request) => {
  const [call] = request.history.flatMap(Message.toolCalls)
  if (call === undefined) return ChatModel.reply([Message.toolCall("call-1", "whoami", {})])
  const told = Instructions.render(request.instructions).replaceAll("\n\n", " ")
  const text = `Dear ${Message.renderOutcome(call.outcome)}, you asked: ${ChatModel.question(request)} I was told: ${told}`
  return Call.fromStream(
    Stream.fromIterable(text.split(/(?<= )/)).pipe(
      Stream.schedule(Schedule.spaced("100 millis")),
      Stream.map((text) => ({ _tag: "Text" as const, text }))
    )
  )
})
