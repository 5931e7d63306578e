/**
 * Laws 10 to 12: histories, and the parts of a stream.
 */
import { Call, ChatModel, Handler, History, Message } from "@heddle/core"
import * as Effect from "effect/Effect"
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

const abandoned = "abandoned"

/** 12. A call that is made again, or replaced, emits a reset first. */
export const attempts: Law = law(12, "attempts: a repeated call emits a reset first", async (trial, world) => {
  const failing: World = {
    ...world,
    turns: [
      { text: "kept", half: abandoned, calls: [], fails: true },
      ...world.turns.map((turn) => ({ ...turn, fails: false }))
    ]
  }
  const seen: Array<{ parts: string; reply: string | undefined }> = []
  const watching = Handler.wrapModelCall(
    (request, next) =>
      Call.unwrap(
        Effect.sync(() => {
          const call = { parts: "", reply: undefined as string | undefined }
          seen.push(call)
          return Call.fromSink<ChatModel.ModelPart, ChatModel.ModelReply, Handler.Upstream, never>((sink) =>
            Call.into(
              next(request),
              Call.sink<ChatModel.ModelPart, ChatModel.ModelReply>(sink.fold, "live", (part) => {
                if (Call.isReset(part)) call.parts = ""
                else if (part._tag === "Text") call.parts += part.text
                return sink.emit(part)
              })
            )
          ).pipe(
            Call.tapValue((value) => {
              call.reply = Message.text(Message.assistant(value.content))
            })
          )
        })
      ),
    "watching"
  )
  await trial.run(failing, { mode: "stream" }, trial.around([watching], []))
  for (const { parts, reply } of seen) {
    // A call that failed for good may have said anything.
    if (reply === undefined) continue
    if ([parts, reply].some((text) => text.toLowerCase().includes(abandoned))) {
      violated(`the text of a failed attempt is in the reply: ${JSON.stringify({ parts, reply })}`)
    }
  }
})
