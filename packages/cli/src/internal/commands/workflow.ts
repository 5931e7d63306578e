/** `heddle workflow`: workflows that are YAML or JSON files. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import { Session } from "@heddle/memory"
import { HistoryStore, Workflow } from "@heddle/workflow"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Agents from "../agents/Agents.ts"
import { load } from "../agents/load.ts"
import { status } from "../failure.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { running } from "../running.ts"
import { told } from "../show/errors.ts"
import { clean, jsonText } from "../text.ts"
import * as Definition from "../workflow/definition.ts"
import { eventJson } from "../workflow/eventJson.ts"
import { ofProject } from "../workflow/history.ts"
import { readInput } from "../workflow/input.ts"
import { watch } from "../workflow/watch.ts"
import { allow, database, inProject, json, model, session, sessionName } from "./common.ts"
import { grouping } from "../help.ts"

const file = Args.text({ name: "file" }).pipe(Args.withDescription("The file of the workflow, YAML or JSON."))
const input = Args.text({ name: "input" }).pipe(
  Args.withDescription("What it is given: JSON, or else text. Standard input unless said."),
  Args.optional
)
const inputFile = CliOptions.file("input-file").pipe(
  CliOptions.withDescription("A file with what it is given."),
  CliOptions.optional
)
/** The session of a run that belongs to none. What is in it is gone with the command. */
const unnamed = "run"

const run = Command.make("run", { file, input, inputFile, session, model, allow, json, db: database }, (given) =>
  inProject(
    Effect.gen(function* () {
      const name = yield* sessionName(given.session)
      const source = yield* Definition.read(given.file, status.usage)
      const value = yield* readInput({
        text: Option.getOrUndefined(given.input),
        file: Option.getOrUndefined(given.inputFile)
      })
      const options = {
        model: Option.getOrUndefined(given.model),
        allow: given.allow,
        keep: name !== undefined
      }
      yield* running(options, ({ agents, build }) =>
        Effect.gen(function* () {
          const named = [...source.agents].filter((name) => agents.all.has(name))
          const runnables = yield* Effect.forEach(named, (name) =>
            Effect.flatMap(Agents.find(agents, name), (file) => build(file))
          )
          const built = Object.fromEntries(named.map((name, i) => [name, runnables[i]!]))
          const workflow = yield* Definition.compile(source, agents, { built, status: status.usage })
          yield* shown(workflow, value, {
            session: name ?? unnamed,
            json: given.json,
            file: given.file
          })
        })
      )
    }),
    given
  )
).pipe(
  Command.withDescription(
    "Runs a workflow, shows its progress, and writes what it gives. In a session, its steps see earlier runs as the file says."
  )
)

const shown = <E, R>(
  workflow: Workflow.Workflow<unknown, unknown, E, R>,
  input: unknown,
  options: { readonly session: string; readonly json: boolean; readonly file: string }
) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const { root } = yield* Project
    const events = Workflow.stream(workflow, input, { sessionId: options.session })
    const followed = options.json
      ? Stream.runForEach(events, (event) => out.write(`${jsonText(eventJson(event))}\n`))
      : Effect.flatMap(watch(err)(events), ({ output }) => {
          const text = typeof output === "string" ? output : output === undefined ? "" : jsonText(output, 2)
          if (text === "") return Effect.void
          return out.write(`${out.isTerminal ? clean(text) : text}${text.endsWith("\n") ? "" : "\n"}`)
        })
    yield* followed.pipe(
      Session.within(options.session),
      Effect.updateService(HistoryStore.HistoryStore, ofProject(root)),
      Effect.mapError((error) => told(error, { name: workflow.name, path: options.file }))
    )
  })

/** What a command needs that looks at a file and runs nothing. */
const looking = <A, E, R>(
  given: { readonly file: string },
  whenWrong: number,
  use: (
    workflow: Workflow.Workflow<unknown, unknown, unknown, unknown>,
    source: Definition.Source
  ) => Effect.Effect<A, E, R>
) =>
  inProject(
    Effect.gen(function* () {
      const source = yield* Definition.read(given.file, whenWrong)
      const workflow = yield* Definition.compile(source, yield* load, { status: whenWrong })
      return yield* use(workflow, source)
    })
  )

const check = Command.make("check", { file }, (given) =>
  looking(given, status.failed, (workflow, { agents, file }) =>
    Effect.flatMap(Output, ({ out }) => {
      const named = agents.size === 0 ? "" : `, with ${[...agents].toSorted().join(", ")}`
      return out.write(`${clean(`${file}: the workflow ${workflow.name}${named}`)}\n`)
    })
  )
).pipe(Command.withDescription("Tells everything that is wrong with a workflow."))

const graph = Command.make("graph", { file }, (given) =>
  looking(given, status.usage, (workflow) =>
    Effect.flatMap(Output, ({ out }) => out.write(`${clean(Workflow.toMermaid(workflow))}\n`))
  )
).pipe(Command.withDescription("Draws a workflow as a Mermaid flowchart."))

const commands = [run, check, graph] as const

/** `heddle workflow` */
export const workflow = grouping(
  Command.make("workflow").pipe(
    Command.withDescription("Runs, checks and draws workflows that are files."),
    Command.withSubcommands(commands)
  ),
  commands
)
