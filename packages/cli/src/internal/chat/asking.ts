/** Questions in the midst of a chat. */
import * as Effect from "effect/Effect"
import { NobodyToAsk, type Service } from "../Asking.ts"
import type { Lines } from "./Lines.ts"
import type { Screen } from "./screen.ts"

/**
 * Asks with the lines of the chat. Ctrl-C at a question cancels what asks it. Lines
 * that nobody types are messages, and no answers.
 */
export const asking = (lines: Lines, screen: Screen, cancel: Effect.Effect<unknown>): Service => ({
  ask: (question) => {
    if (!lines.isTerminal) return new NobodyToAsk({ message: "Nobody can be asked: no person types the lines." })
    return lines.read({ prompt: question, isAnswer: true }).pipe(
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
      screen.alone
    )
  }
})
