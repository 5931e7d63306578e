/** Options that several commands have, and what they are run with. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
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
export const contextMode = Options.choice("context-mode", [
  "isolated",
  "shared",
  "hybrid",
  "selective",
  "summarized",
  "fork"
]).pipe(Options.withDescription("What the agent sees of the session, over what its file says."), Options.optional)

/** `--json` */
export const json = Options.boolean("json").pipe(
  Options.withDescription("Writes one event per line to standard output, as JSON.")
)

/** Runs a command in the project. */
export const inProject = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: { readonly db?: Option.Option<string> } = {}
) =>
  Effect.flatMap(locate({ database: Option.getOrUndefined(options.db ?? Option.none()) }), (project) =>
    Effect.provideService(effect, Project, project)
  )
