/**
 * The commands of a chat that are about the files of agents. What they do, the
 * commands `heddle agents …` and `heddle explain` do as well.
 */
import { Session } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as files from "../agents/actions.ts"
import * as Agents from "../agents/Agents.ts"
import { explained, preview } from "../agents/explained.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { problemText } from "../problems.ts"
import { explanationText } from "../show/explanation.ts"
import { writeLinted } from "../show/linted.ts"
import { clean } from "../text.ts"
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
      name,
      title,
      description,
      model,
      scope,
      body,
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
    yield* writeLinted(yield* name === undefined ? files.lint() : files.lintAgent(name), false)
  })

/** `/agents delete` */
export const remove: Action = (_chat, rest) =>
  Effect.gen(function* () {
    const { err } = yield* Output
    const { options, words } = yield* argumentsOf(rest, [], ["yes"])
    const { path } = yield* files.remove(yield* nameIn(words), { confirmed: options.yes !== undefined })
    yield* err.write(path === undefined ? "Nothing was deleted.\n" : `Deleted ${clean(path)}.\n`)
  })

/** What an agent is thought to be asked, to see what its model would be told. */
const example = "Hello"

/** `/explain`: what the agent comes to in this session. */
export const explain: Action = (chat, rest) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const [name = chat.agent] = yield* upTo(1, (yield* argumentsOf(rest, [])).words)
    const { agents, options } = yield* chat.roster.running
    const found = yield* Agents.find(agents, name)
    const mode = chat.modes.get(name)
    const file = mode === undefined ? found : { ...found, head: { ...found.head, contextMode: mode } }
    const { settings, ...all } = yield* explained(file, options)
    const request =
      all.problems.length > 0 ? undefined : yield* Session.within(chat.session)(preview(file, options, example))
    const inChat = settings.map((setting) =>
      mode !== undefined && setting.key === "contextMode" ? { ...setting, from: "this chat" } : setting
    )
    yield* out.write(explanationText({ ...all, settings: inChat }, request, out))
    if (all.problems.length > 0) yield* usage([`@${name} cannot be run:`, ...all.problems].join("\n  "))
  })
