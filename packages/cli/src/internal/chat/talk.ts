/** Saying something to an agent. */
import { Agent } from "@heddle/core"
import { type ContextMode, Memory, MemoryData, Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AgentFile } from "../../AgentFile.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { clean, paint } from "../text.ts"
import type { Chat } from "./Chat.ts"
import type { Prompt } from "./said.ts"
import { shown } from "./shown.ts"

/** Says something to an agent, and shows what comes of it. */
export const say = (chat: Chat, agent: string, { mode, text }: Prompt) =>
  Effect.gen(function* () {
    const { file, runnable } = yield* chat.roster.get(agent)
    if (text === "") return yield* usage(`What is @${agent} to be told? @${agent} [--context-mode mode] text`)
    const options = yield* callOf(file, mode ?? chat.modes.get(file.name))
    const { err } = yield* Output
    if (file.name !== chat.agent) yield* err.write(`${paint(err, "cyan", `@${clean(file.name)}`)}\n`)
    const show = yield* shown
    yield* Agent.stream(runnable, text, options).pipe(
      Stream.runForEach(show.event),
      Effect.ensuring(show.end),
      Session.within(chat.session)
    )
  })

/** What a call says of memory: the mode, with all else that the file says of it. */
const callOf = ({ head, name }: AgentFile, mode: ContextMode.Name | undefined) => {
  if (mode === undefined) return Effect.succeed({})
  if (mode === "selective" && head.sharePatterns === undefined) {
    return usage(`The file of @${name} has no "sharePatterns", which the context mode "selective" goes by.`)
  }
  const said = Object.fromEntries(Object.entries(head).filter(([key]) => key in MemoryData.MemoryData.fields))
  return Effect.map(MemoryData.decode({ ...said, contextMode: mode }), ({ mode }) =>
    Memory.call({ ...(mode !== undefined && { mode }) })
  )
}
