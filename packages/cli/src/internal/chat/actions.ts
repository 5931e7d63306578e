/**
 * What chats do with the files of agents, which the commands `agents …`, `lint` and
 * `explain` do as well.
 */
import * as Effect from "effect/Effect"
import * as Agents from "../agents/Agents.ts"
import { explained } from "../agents/explained.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { clean, jsonText } from "../text.ts"
import type { Chat, Needs } from "./Chat.ts"

type Action = (chat: Chat, words: ReadonlyArray<string>) => Effect.Effect<void, unknown, Needs>

const later =
  (command: string): Action =>
  () =>
    Effect.fail(usage(`${command} is not there yet.`))

export const list: Action = (chat) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const { all } = yield* chat.roster.agents
    const lines = [...all.values()].map(({ head, name }) =>
      head.description === undefined ? name : `${name}: ${head.description}`
    )
    yield* out.write(clean(lines.map((line) => `${line}\n`).join("")))
  })

export const info: Action = (chat, [name = chat.agent]) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const { head, path } = yield* Agents.find(yield* chat.roster.agents, name)
    yield* out.write(`${clean(`${name} (${path})\n${JSON.stringify(head, null, 2)}`)}\n`)
  })

export const create: Action = later("/agents create")
export const validate: Action = later("/agents validate")
export const remove: Action = later("/agents delete")

export const explain: Action = (chat, [name = chat.agent]) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const { agents, options } = yield* chat.roster.running
    const { pipeline, problems, servers, settings, tools } = yield* explained(yield* Agents.find(agents, name), options)
    const lines = [
      ...settings.map(({ from, key, value }) => `${key}: ${jsonText(value)} (${from})`),
      ...tools.map(({ asks, name }) => `tool ${name}${asks ? ", which asks first" : ""}`),
      ...servers.map(({ at, name }) => `tools of ${name}, at ${at}`),
      ...problems,
      pipeline
    ]
    yield* out.write(lines.map((line) => `${clean(line).trimEnd()}\n`).join(""))
  })
