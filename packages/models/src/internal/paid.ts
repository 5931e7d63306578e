import { Call, type ChatModel } from "@heddle/core"

/** As many tokens as somebody says, who need not have said a number. */
export const count = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0)

/**
 * The same call, telling the tokens of each attempt that has come to its end, those
 * that are taken back as well: they were paid for. It wants no other parts for that
 * than who runs the call.
 */
export const tellingPaid = <E, R>(
  call: ChatModel.ModelCall<E, R>,
  tell: (usage: ChatModel.Usage) => void
): ChatModel.ModelCall<E, R> => {
  // A reply of which nothing is known says 0, as its parts say nothing.
  const told = (usage: ChatModel.Usage | undefined) => {
    const paid = { inputTokens: count(usage?.inputTokens ?? 0), outputTokens: count(usage?.outputTokens ?? 0) }
    if (paid.inputTokens + paid.outputTokens > 0) tell(paid)
  }
  return Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, E, R>((sink) =>
    Call.into(call, {
      fold: sink.fold,
      demand: sink.demand,
      emit: (part) => {
        if (part._tag === "Finish") told(part.usage)
        return sink.emit(part)
      },
      whole: (reply) => {
        told(reply.usage)
        return sink.whole(reply)
      }
    })
  )
}
