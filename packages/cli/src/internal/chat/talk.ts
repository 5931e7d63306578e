/** Saying something to an agent. */
import { Agent } from "@heddle/core"
import { Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { inMode } from "../agents/build.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { told } from "../show/errors.ts"
import { keeping } from "../show/keeping.ts"
import { showing } from "../show/showing.ts"
import { clean, paint } from "../text.ts"
import type { Chat } from "./Chat.ts"
import type { Prompt } from "./said.ts"

/** Says something to an agent, and shows what comes of it. */
export const say = (chat: Chat, agent: string, { mode, text }: Prompt) =>
  Effect.gen(function* () {
    const { file, runnable } = yield* chat.roster.get(agent)
    if (text === "") return yield* usage(`What is @${agent} to be told? @${agent} [--context-mode mode] text`)
    const asked = mode ?? chat.modes.get(file.name)
    const options = asked === undefined ? {} : yield* inMode(file, asked)
    const { err } = yield* Output
    if (file.name !== chat.agent) yield* err.write(`${paint(err, "cyan", `@${clean(file.name)}`)}\n`)
    const shown = keeping(yield* showing({ structured: file.head.output !== undefined }))
    yield* Agent.stream(runnable, text, options).pipe(
      Stream.runForEach(shown.event),
      Effect.mapError((error) => told(error, file)),
      Effect.ensuring(shown.end),
      Effect.zipRight(shown.kept),
      Session.within(chat.session)
    )
  }).pipe(Effect.scoped)
