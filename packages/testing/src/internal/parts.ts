/**
 * Laws 10 to 12: histories, and the parts of a stream.
 */
import { Call, ChatModel, Handler, History, Message } from "@heddle/core"
import * as Exit from "effect/Exit"
import { law, type Law, same, violated } from "./trial.ts"
import type { World } from "./world.ts"

/** 10. No model and no caller ever sees a tool call without an outcome. */
export const pairing: Law = law(10, "pairing: every tool call has an outcome", async (trial, world) => {
  const { exit, requests } = await trial.run(world, { around: (handler) => handler })
  for (const request of requests) {
    if (!History.isPaired(request.history)) violated(`the model saw a pending call: ${JSON.stringify(request.history)}`)
  }
  if (Exit.isSuccess(exit) && !History.isPaired(exit.value.history))
    violated(`the result has a pending call: ${JSON.stringify(exit.value.history)}`)
})

/** 11. The fold of the stream equals the run, however the model's text is cut. */
export const streamParity: Law = law(
  11,
  "stream parity: the fold of the stream equals the run",
  async (trial, world) => {
    const run = await trial.run(world, { mode: "run", cut: "whole" })
    same("run and stream", run, await trial.run(world, { mode: "stream" }))
    same("whole and cut", run, await trial.run(world, { mode: "run" }))
  }
)

/** 12. A call that is made again emits a reset before its new text. */
export const attempts: Law = law(12, "attempts: a repeated call emits a reset first", async (trial, world) => {
  const failing: World = {
    ...world,
    turns: [{ text: "half of a", calls: [], fails: true }, ...world.turns.map((turn) => ({ ...turn, fails: false }))]
  }
  let reply: string | undefined
  let parts = ""
  const seen = Handler.wrapModelCall(
    (request, next) =>
      Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) => {
        parts = ""
        const inner = Call.sink<ChatModel.ModelPart, ChatModel.ModelReply>(sink.fold, "live", (part) => {
          if (Call.isReset(part)) parts = ""
          else if (part._tag === "Text") parts += part.text
          return sink.emit(part)
        })
        return Call.into(next(request), inner)
      }).pipe(
        Call.tapValue((value) => {
          reply = Message.text(Message.assistant(value.content))
          if (reply !== parts)
            violated(
              `the parts since the last reset make ${JSON.stringify(parts)}, the reply is ${JSON.stringify(reply)}`
            )
        })
      ),
    "seen"
  )
  const { exit, requests } = await trial.run(failing, { mode: "stream" }, trial.around([seen], []))
  const turn = failing.turns[0]!
  if (Exit.isFailure(exit) || requests.length < 2 || reply === undefined) return
  const doubled = turn.text + turn.text
  for (const message of exit.value.history) {
    if (message.role === "assistant" && Message.text(message).toLowerCase().includes(doubled)) {
      violated(`a failed attempt's text is in the answer: ${JSON.stringify(Message.text(message))}`)
    }
  }
})
