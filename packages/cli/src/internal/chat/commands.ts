/**
 * The commands of a chat, in one table: help, completion and what is said of a command
 * that there is not come from it.
 */
import { unknownName } from "@heddle/core/names"
import { ContextMode } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Agents from "../agents/Agents.ts"
import { usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { clean, paint } from "../text.ts"
import * as actions from "./actions.ts"
import type { Chat, Needs } from "./Chat.ts"
import * as conversation from "./conversation.ts"
import { firstWord, modeOf, optionsOf, unquoted } from "./said.ts"
import { say } from "./talk.ts"

/** What the chat does next. */
export type Next = "go on" | "leave"

/** A command. */
export interface Command {
  /** Without the slash. */
  readonly name: string
  /** The arguments, as help writes them. */
  readonly args: string
  readonly help: string
  /** Whether it takes an agent first, and what may come then: for completion. */
  readonly takes?: { readonly agent: "name" | "@name"; readonly next?: ReadonlyArray<string> }
  readonly run: (chat: Chat, rest: string) => Effect.Effect<Next | void, unknown, Needs>
}

const needed = (command: string, name: string) =>
  name === "" ? usage(`Which agent? /${command} takes a name.`) : Effect.succeed(name)

/** The commands. */
export const commands: ReadonlyArray<Command> = [
  { name: "agents list", args: "", help: "the agents that there are", run: actions.list },
  {
    name: "agents info",
    args: "<name>",
    help: "what the file of an agent says",
    takes: { agent: "name" },
    run: actions.info
  },
  {
    name: "agents create",
    args: "[name] [options]",
    help: "makes a new agent, as `heddle agents create` does; asks for what is not said",
    run: actions.create
  },
  {
    name: "agents validate",
    args: "[name]",
    help: "what is wrong with the files of agents",
    takes: { agent: "name" },
    run: actions.validate
  },
  {
    name: "agents delete",
    args: "<name> [--yes]",
    help: "deletes the file of an agent, after a question",
    takes: { agent: "name", next: ["--yes"] },
    run: actions.remove
  },
  {
    name: "agents clear",
    args: "<name> [--yes]",
    help: "deletes an agent's own conversation of this session, after a question",
    takes: { agent: "name", next: ["--yes"] },
    run: (chat, rest) =>
      Effect.gen(function* () {
        const [name, options] = firstWord(rest)
        yield* needed("agents clear", name)
        yield* checked(options, "--yes")
        yield* Agents.find(yield* chat.roster.agents, name)
        yield* conversation.clear(chat, name, options)
      })
  },
  {
    name: "agents context",
    args: "<name> [mode]",
    help: "what an agent sees of the session; with a mode: from now on in this chat",
    takes: { agent: "name", next: [...ContextMode.names, "default"] },
    run: context
  },
  {
    name: "agents run",
    args: "<name> [--context-mode mode] [--] text",
    help: "says something to an agent, as @name text does",
    takes: { agent: "name", next: ["--context-mode"] },
    run: (chat, rest) =>
      Effect.gen(function* () {
        const before = yield* optionsOf(rest)
        const [name, after] = firstWord(before.rest)
        yield* needed("agents run", name)
        const { rest: text, ...said } = { ...before, ...(yield* optionsOf(after)) }
        yield* say(chat, name, { ...said, text: unquoted(text) })
      })
  },
  {
    name: "clear",
    args: "[--yes]",
    help: "deletes the main conversation of this session, after a question",
    run: (chat, rest) =>
      Effect.zipRight(
        checked(rest, "--yes"),
        Effect.suspend(() => conversation.clear(chat, undefined, rest))
      )
  },
  {
    name: "history",
    args: "[@name] [n]",
    help: "the last exchanges of the main conversation, or of an agent's own",
    takes: { agent: "@name" },
    run: conversation.history
  },
  {
    name: "summary",
    args: "",
    help: "the summary of the main conversation",
    run: conversation.summary
  },
  {
    name: "explain",
    args: "[name]",
    help: "what an agent comes to: its settings, and where each is from; its tools and handlers",
    takes: { agent: "name" },
    run: actions.explain
  },
  { name: "help", args: "", help: "this", run: () => help },
  { name: "exit", args: "", help: "ends the chat, as Ctrl-D does", run: () => Effect.succeed("leave") }
]

/** Fails for options that a command does not have. */
function checked(said: string, option: string) {
  return said === "" || said === option
    ? Effect.void
    : usage(`What is ${JSON.stringify(said)} here? There is ${option}.`)
}

function context(chat: Chat, rest: string) {
  return Effect.gen(function* () {
    const { out } = yield* Output
    const [name, mode] = firstWord(rest)
    yield* needed("agents context", name)
    const { head, path } = yield* Agents.find(yield* chat.roster.agents, name)
    if (mode === "default") chat.modes.delete(name)
    else if (mode !== "") chat.modes.set(name, yield* modeOf(unquoted(mode)))
    const ofChat = chat.modes.get(name)
    const [now, from] =
      ofChat !== undefined
        ? [ofChat, "in this chat"]
        : head.contextMode !== undefined
          ? [head.contextMode, path]
          : ["isolated", "unless said"]
    yield* out.write(`${clean(`${name}: ${now} (${from})`)}\n`)
  })
}

/** `/help`: in two columns where there is room for them. */
const help = Effect.gen(function* () {
  const { out } = yield* Output
  const rows = [
    ["text", "says it to the agent of this chat"],
    ["@name [--context-mode mode] text", "says it to another agent"],
    ...commands.map(({ args, help, name }) => [`/${name} ${args}`.trimEnd(), help]),
    ["//text, @@text", "a text that begins with / or @"],
    ["\\ at the end of a line", "the message goes on in the next line"]
  ] as const
  const isWide = out.columns() >= 72
  for (const [left, right] of rows) {
    const command = paint(out, "bold", left)
    const gap = left.length < column ? " ".repeat(column - left.length) : `\n${" ".repeat(column)}`
    yield* out.write(isWide ? `${command}${gap}${right}\n` : `${command}\n  ${right}\n`)
  }
})

/** Where the second column of help begins. */
const column = 26

/** Runs a command: its first word, and all behind that. */
export const runCommand = (chat: Chat, word: string, rest: string): Effect.Effect<Next | void, unknown, Needs> => {
  const alone = commands.find(({ name }) => name === word)
  if (alone !== undefined) return alone.run(chat, rest)
  const [second, after] = firstWord(rest)
  const inner = commands.filter(({ name }) => name.startsWith(`${word} `))
  if (inner.length === 0) {
    const unknown = unknownName("command", `/${word}`, [
      ...new Set(commands.map(({ name }) => `/${firstWord(name)[0]}`))
    ])
    return usage(word.includes("/") ? `${unknown}. A text that begins with / is said with //.` : unknown)
  }
  if (second === "") return inner[0]!.run(chat, "")
  const found = inner.find(({ name }) => name === `${word} ${second}`)
  return found === undefined
    ? usage(
        unknownName(
          "command",
          `/${word} ${second}`,
          inner.map(({ name }) => `/${name}`)
        )
      )
    : found.run(chat, after)
}
