/** How what is wrong with files is told. */
import * as Effect from "effect/Effect"
import { type Linted, summary } from "../agents/lint.ts"
import { failed } from "../failure.ts"
import { Output } from "../Output.ts"
import { isError, problemText } from "../problems.ts"
import { jsonText, paint } from "../text.ts"

/** Writes what was found, and fails if there is an error in it. */
export const writeLinted = (linted: Linted, asJson: boolean) =>
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
