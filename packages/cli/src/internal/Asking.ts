/**
 * Asking the person at the terminal.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** There is nobody to ask: input or output is no terminal, or the input has ended. */
export class NobodyToAsk extends Data.TaggedError("NobodyToAsk")<{ readonly message: string }> {}

/** Asks the person at the terminal. */
export interface Service {
  /** Asks one question, one at a time, and gives the line that was typed, without its end. What is shown of a run waits meanwhile. */
  readonly ask: (question: string) => Effect.Effect<string, NobodyToAsk>
}

/** Asks the person at the terminal. */
export class Asking extends Context.Tag("@heddle/cli/Asking")<Asking, Service>() {}

/** Asks a question, which ends with its `?`, to be answered with yes or no. What is not yes is no. */
export const confirmed = (question: string): Effect.Effect<boolean, NobodyToAsk, Asking> =>
  Effect.flatMap(Asking, ({ ask }) => ask(`${question} [y]es, [n]o: `)).pipe(
    Effect.map((answer) => /^\s*y(?:es)?\s*$/i.test(answer))
  )
