/** Questions, answered by a line. */
import * as Effect from "effect/Effect"
import { NobodyToAsk, type Service } from "../Asking.ts"
import type { Sheet } from "../Output.ts"
import type { Screen } from "../show/Screen.ts"
import type { Lines } from "./Lines.ts"

/**
 * Asks with lines that a person types. Ctrl-C at a question cancels what asks it. Lines
 * that nobody types are no answers.
 */
export const asking = (options: {
  readonly lines: Lines
  readonly err: Sheet
  /** Has what else is shown wait. */
  readonly alone: Screen["alone"]
  readonly cancel: Effect.Effect<unknown>
}): Service => ({
  ask: (question) => {
    const { alone, cancel, err, lines } = options
    if (!lines.isTerminal) return new NobodyToAsk({ message: "Nobody can be asked: no person types the lines." })
    // What is typed is drawn anew together with its prompt, which therefore is the last line alone.
    const last = question.lastIndexOf("\n") + 1
    return err.write(question.slice(0, last)).pipe(
      Effect.zipRight(lines.read({ prompt: question.slice(last), isAnswer: true })),
      Effect.mapError(({ message }) => new NobodyToAsk({ message })),
      Effect.flatMap((read) => {
        switch (read._tag) {
          case "Line":
            return Effect.succeed(read.text)
          case "Interrupt":
            return Effect.zipRight(cancel, Effect.never)
          case "End":
            return new NobodyToAsk({ message: "The input has ended." })
        }
      }),
      alone
    )
  }
})
