/** Asks the person at the terminal of this process, outside of a chat. */
import * as Effect from "effect/Effect"
import { NobodyToAsk } from "../Asking.ts"
import { asking } from "../chat/asking.ts"
import type { Sheet } from "../Output.ts"
import { open } from "./lines.ts"

/** Asks one question. Ctrl-C at it is a Ctrl-C of the command. */
export const ask = (question: string, err: Sheet): Effect.Effect<string, NobodyToAsk> =>
  open({ lines: () => [], add: () => Effect.void }).pipe(
    Effect.mapError(({ message }) => new NobodyToAsk({ message })),
    Effect.flatMap((lines) =>
      asking({
        lines,
        err,
        alone: (effect) => effect,
        cancel: Effect.sync(() => process.kill(process.pid, "SIGINT"))
      }).ask(question)
    ),
    Effect.scoped
  )
