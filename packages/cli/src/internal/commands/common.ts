/** Options that several commands have, and what they are run with. */
import * as Options from "@effect/cli/Options"
import { ContextMode } from "@heddle/memory"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type CliError, usage } from "../failure.ts"
import { locate } from "../locate.ts"
import { Project } from "../Project.ts"

/** `--db` */
export const database = Options.file("db").pipe(
  Options.withDescription("The file in which conversations, histories and indexes are kept."),
  Options.optional
)

/** `--model` */
export const model = Options.text("model").pipe(
  Options.withDescription("The model that answers: provider/model, or a name of the configuration."),
  Options.optional
)

/** `--session` */
export const session = Options.text("session").pipe(
  Options.withDescription("The session that this belongs to, by any name."),
  Options.optional
)

/** `--context-mode` */
export const contextMode = Options.choice("context-mode", ContextMode.names).pipe(
  Options.withDescription("What the agent sees of the session, over what its file says."),
  Options.optional
)

/** `--json` */
export const json = Options.boolean("json").pipe(
  Options.withDescription("Writes one event per line to standard output, as JSON.")
)

/** `--stream` */
export const stream = Options.boolean("stream").pipe(
  Options.withDescription("Writes text as it comes, also where standard output is no terminal.")
)

/** `--no-stream` */
export const noStream = Options.boolean("no-stream").pipe(
  Options.withDescription("Writes the answer once it is there, also on a terminal.")
)

/** `--allow` */
export const allow = Options.text("allow").pipe(
  Options.withDescription("A tool that may change things without a question: a glob over names. Can be said again."),
  Options.repeated
)

/** What `--stream` and `--no-stream` say together; nothing where neither is said. */
export const streaming = (given: {
  readonly stream: boolean
  readonly noStream: boolean
}): Effect.Effect<boolean | undefined, CliError> => {
  if (given.stream && given.noStream)
    return Effect.fail(usage("--stream and --no-stream say the contrary of each other."))
  return Effect.succeed(given.stream ? true : given.noStream ? false : undefined)
}

/** A session's name, which cannot be blank. */
export const sessionName = (given: Option.Option<string>): Effect.Effect<string | undefined, CliError> =>
  Option.isSome(given) && given.value.trim() === ""
    ? Effect.fail(usage("A session needs a name: --session NAME."))
    : Effect.succeed(Option.getOrUndefined(given))

/** Runs a command in the project. */
export const inProject = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: { readonly db?: Option.Option<string> } = {}
) =>
  Effect.flatMap(locate({ database: Option.getOrUndefined(options.db ?? Option.none()) }), (project) =>
    Effect.provideService(effect, Project, project)
  )
