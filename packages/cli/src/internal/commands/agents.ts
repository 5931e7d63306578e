/** `heddle agents`: the files of agents. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as actions from "../agents/actions.ts"
import * as Agents from "../agents/Agents.ts"
import { load } from "../agents/load.ts"
import { Environment } from "../Environment.ts"
import { textOf } from "../given.ts"
import { Output } from "../Output.ts"
import { problemText } from "../problems.ts"
import { writeLinted } from "../show/linted.ts"
import { contextMode, inProject, json } from "./common.ts"
import { grouping } from "../help.ts"
import { jsonText } from "../text.ts"

const name = Args.text({ name: "name" }).pipe(Args.withDescription("The name of the agent."))

const list = Command.make("list", { json }, (given) =>
  inProject(
    Effect.gen(function* () {
      const { out } = yield* Output
      const listed = actions.list(yield* load)
      if (!given.json) return yield* out.write(actions.listText(listed, out))
      for (const one of listed) yield* out.write(`${jsonText(one)}\n`)
    })
  )
).pipe(Command.withDescription("Lists the agents."))

const info = Command.make("info", { name }, (given) =>
  inProject(
    Effect.gen(function* () {
      const { out } = yield* Output
      yield* out.write(actions.infoText(yield* Agents.find(yield* load, given.name), out))
    })
  )
).pipe(Command.withDescription("Shows what the file of an agent says."))

const text = (option: string, description: string) =>
  Options.text(option).pipe(Options.withDescription(description), Options.optional)

const create = Command.make(
  "create",
  {
    name: name.pipe(Args.optional),
    title: text("title", "A name for people."),
    description: text("description", "What it is good for: for people, and for agents that can ask it."),
    model: text("model", "The model that answers: provider/model, or a name of the configuration."),
    contextMode,
    tools: text("tools", "The tools that it has, with commas between their names."),
    scope: Options.choice("scope", ["project", "user"]).pipe(
      Options.withDescription("Whose agent it is: that of the project, or that of the user in all projects."),
      Options.withDefault("project")
    ),
    body: text("body", "The instructions; - reads them from standard input.")
  },
  (given) =>
    inProject(
      Effect.gen(function* () {
        const { err, out } = yield* Output
        const said = Option.getOrUndefined
        const tools = said(given.tools)
        const made = yield* actions.create({
          name: said(given.name),
          title: said(given.title),
          description: said(given.description),
          model: said(given.model),
          contextMode: said(given.contextMode),
          tools: tools === undefined ? undefined : actions.names(tools),
          scope: given.scope,
          body: yield* bodyOf(said(given.body))
        })
        for (const warning of made.warnings) yield* err.write(`${problemText(warning)}\n`)
        yield* out.write(`${made.path}\n`)
        yield* err.write(`heddle: Made the agent "${made.name}". Run it: heddle run ${made.name} "…"\n`)
      })
    )
).pipe(Command.withDescription("Makes the file of an agent. Asks what is not said."))

const bodyOf = (body: string | undefined) =>
  Effect.gen(function* () {
    if (body !== "-") return body
    return yield* textOf("Standard input", yield* (yield* Environment).input.read)
  })

const validate = Command.make("validate", { name: name.pipe(Args.optional), json }, (given) =>
  Effect.flatMap(Option.match(given.name, { onNone: () => actions.lint(), onSome: actions.lintAgent }), (linted) =>
    writeLinted(linted, given.json)
  )
).pipe(Command.withDescription("Tells all that is wrong with the file of an agent, or with all files."))

const remove = Command.make(
  "delete",
  { name, yes: Options.boolean("yes").pipe(Options.withDescription("Does not ask first.")) },
  (given) =>
    inProject(
      Effect.gen(function* () {
        const { err } = yield* Output
        const { path } = yield* actions.remove(given.name, { confirmed: given.yes })
        yield* err.write(path === undefined ? "heddle: Nothing was deleted.\n" : `heddle: Deleted ${path}.\n`)
      })
    )
).pipe(Command.withDescription("Deletes the file of an agent. Asks first."))

const commands = [list, info, create, validate, remove] as const

/** `heddle agents` */
export const agents = grouping(
  Command.make("agents").pipe(
    Command.withDescription("The files of agents: lists, shows, makes, checks and deletes them."),
    Command.withSubcommands(commands)
  ),
  commands
)
