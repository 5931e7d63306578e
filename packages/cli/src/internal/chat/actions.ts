/**
 * The commands of a chat that are about the files of agents. What they do, the
 * commands `heddle agents …` and `heddle explain` do as well.
 */
import * as Effect from "effect/Effect"
import * as files from "../agents/actions.ts"
import * as Agents from "../agents/Agents.ts"
import { explained } from "../agents/explained.ts"
import { told } from "../commands/lint.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { problemText } from "../problems.ts"
import { clean, jsonText } from "../text.ts"
import type { Chat, Needs } from "./Chat.ts"
import { argumentsOf, modeOf } from "./said.ts"

type Action = (chat: Chat, rest: string) => Effect.Effect<void, unknown, Needs>

/** The words of a command that takes so many at the most. */
const upTo = (most: number, words: ReadonlyArray<string>) =>
  words.length > most ? usage(`What is ${JSON.stringify(words[most])} here?`) : Effect.succeed(words)

/** The name that a command has to be given. */
const nameIn = (words: ReadonlyArray<string>) =>
  Effect.flatMap(upTo(1, words), ([name]) =>
    name === undefined ? usage("Which agent? A name stands behind the command.") : Effect.succeed(name)
  )

/** `/agents list` */
export const list: Action = (chat, rest) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    yield* upTo(0, (yield* argumentsOf(rest, [])).words)
    yield* out.write(files.listText(files.list(yield* chat.roster.agents), out))
  })

/** `/agents info` */
export const info: Action = (chat, rest) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const name = yield* nameIn((yield* argumentsOf(rest, [])).words)
    yield* out.write(files.infoText(yield* Agents.find(yield* chat.roster.agents, name), out))
  })

/** What `/agents create` can be told; it asks for the rest. */
const sayable = ["title", "description", "model", "context-mode", "tools", "scope", "body"] as const

/** `/agents create` */
export const create: Action = (_chat, rest) =>
  Effect.gen(function* () {
    const { err } = yield* Output
    const { options, words } = yield* argumentsOf(rest, sayable)
    const [name] = yield* upTo(1, words)
    const { body, "context-mode": mode, description, model, scope, title, tools } = options
    if (scope !== undefined && scope !== "project" && scope !== "user") {
      return yield* usage("--scope says whose agent it is: project or user.")
    }
    const made = yield* files.create({
      ...{ name, title, description, model, scope, body },
      contextMode: mode === undefined ? undefined : yield* modeOf(mode),
      tools: tools === undefined ? undefined : files.names(tools)
    })
    for (const warning of made.warnings) yield* err.write(`${clean(problemText(warning))}\n`)
    yield* err.write(`Made ${clean(made.path)}. Talk to it: @${clean(made.name)} …\n`)
  })

/** `/agents validate` */
export const validate: Action = (_chat, rest) =>
  Effect.gen(function* () {
    const [name] = yield* upTo(1, (yield* argumentsOf(rest, [])).words)
    yield* told(yield* name === undefined ? files.lint() : files.lintAgent(name), false)
  })

/** `/agents delete` */
export const remove: Action = (_chat, rest) =>
  Effect.gen(function* () {
    const { err } = yield* Output
    const { options, words } = yield* argumentsOf(rest, [], ["yes"])
    const { path } = yield* files.remove(yield* nameIn(words), { confirmed: options.yes !== undefined })
    yield* err.write(path === undefined ? "Nothing was deleted.\n" : `Deleted ${clean(path)}.\n`)
  })

/** `/explain` */
export const explain: Action = (chat, rest) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const [name = chat.agent] = yield* upTo(1, (yield* argumentsOf(rest, [])).words)
    const { agents, options } = yield* chat.roster.running
    const { pipeline, problems, servers, settings, tools } = yield* explained(yield* Agents.find(agents, name), options)
    const ofChat = chat.modes.get(name)
    const lines = [
      ...(ofChat === undefined ? [] : [`contextMode: ${jsonText(ofChat)} (in this chat, over what is said below)`]),
      ...settings.map(({ from, key, value }) => `${key}: ${jsonText(value)} (${from})`),
      ...tools.map(({ asks, name }) => `tool ${name}${asks ? ", which asks first" : ""}`),
      ...servers.map(({ at, name }) => `tools of ${name}, at ${at}`),
      ...problems,
      pipeline
    ]
    yield* out.write(lines.map((line) => `${clean(line).trimEnd()}\n`).join(""))
  })
