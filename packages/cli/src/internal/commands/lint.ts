/** `heddle lint`: all that is wrong with agents and configurations. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { lint as lintFiles } from "../agents/lint.ts"
import { writeLinted } from "../show/linted.ts"
import { json } from "./common.ts"

const paths = Args.path({ name: "path" }).pipe(
  Args.withDescription("Files and folders: all agents and configurations of the project and of the user unless said."),
  Args.repeated
)

/** `heddle lint` */
export const lint = Command.make("lint", { paths, json }, (given) =>
  Effect.flatMap(lintFiles(given.paths), (linted) => writeLinted(linted, given.json))
).pipe(Command.withDescription("Tells all that is wrong with agents and configurations, by line and column."))
