/** `heddle lint`: all that is wrong with agents and configurations. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { type Linted, lint as lintFiles, summary } from "../agents/lint.ts"
import { failed } from "../failure.ts"
import { Output } from "../Output.ts"
import { isError, problemText } from "../problems.ts"
import { jsonText, paint } from "../text.ts"
import { json } from "./common.ts"

const paths = Args.path({ name: "path" }).pipe(
  Args.withDescription("Files and folders: all agents and configurations of the project and of the user unless said."),
  Args.repeated
)

/** `heddle lint` */
export const lint = Command.make("lint", { paths, json }, (given) =>
  Effect.flatMap(lintFiles(given.paths), (linted) => told(linted, given.json))
).pipe(Command.withDescription("Tells all that is wrong with agents and configurations, by line and column."))

/** Writes what was found, and fails if there is an error in it. */
export const told = (linted: Linted, asJson: boolean) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    for (const problem of linted.problems) {
      const text = problemText(problem)
      const word = `${problem.severity}:`
      const coloured = text.replace(word, paint(out, isError(problem) ? "red" : "yellow", word))
      yield* out.write(`${asJson ? jsonText(problem) : coloured}\n`)
    }
    if (linted.problems.some(isError)) return yield* failed(`${summary(linted)}.`)
    yield* err.write(`heddle: ${summary(linted)}.\n`)
  })
