/** Asks the person at the terminal of this process, outside of a chat. */
import * as Effect from "effect/Effect"
import { NobodyToAsk } from "../Asking.ts"
import { asking } from "../chat/asking.ts"
import type { Sheet } from "../Output.ts"
import { open } from "./lines.ts"

const cancel = Effect.sync(() => process.kill(process.pid, "SIGINT"))
const cancelled = Effect.zipRight(cancel, Effect.never)

/**
 * Asks one question. Ctrl-C at it is a Ctrl-C of the command. The terminal keeps what is
 * typed while nobody reads; all of this is taken before the question is shown, so that
 * it does not answer what nobody has seen yet.
 */
export const ask = (question: string, err: Sheet): Effect.Effect<string, NobodyToAsk> =>
  open({ lines: () => [], add: () => Effect.void }).pipe(
    Effect.mapError(({ message }) => new NobodyToAsk({ message })),
    Effect.flatMap((lines) =>
      Effect.raceFirst(lines.quiet, Effect.zipRight(lines.interrupted, cancelled)).pipe(
        Effect.zipRight(asking({ lines, err, alone: (effect) => effect, cancel }).ask(question))
      )
    ),
    Effect.scoped
  )
