/**
 * What a chat writes, so that whoever reads a line knows where the cursor stands, and
 * nobody writes into the line that is read.
 */
import * as Effect from "effect/Effect"
import type { Service as OutputService, Sheet } from "../Output.ts"

/** The output of a chat. */
export interface Screen {
  readonly output: OutputService
  /** Does something with the cursor at the beginning of a line, while what others write waits. One at a time. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Ends the line that the cursor stands in, if anything stands in it. */
  readonly freshLine: Effect.Effect<void>
}

/** Makes the output of a chat. */
export const make = ({ err, out }: OutputService): Effect.Effect<Screen> =>
  Effect.map(Effect.makeSemaphore(1), (permit) => {
    // Where only one of both is a terminal, the cursor is where that one has left it.
    let isInLine = false
    const noted = (sheet: Sheet): Sheet => ({
      ...sheet,
      write: (text) =>
        permit.withPermits(1)(
          Effect.suspend(() => {
            if (text !== "" && sheet.isTerminal) isInLine = !endsLine(text)
            return sheet.write(text)
          })
        )
    })
    const freshLine = Effect.suspend(() => {
      if (!isInLine) return Effect.void
      isInLine = false
      return (err.isTerminal ? err : out).write("\n")
    })
    return {
      output: { out: noted(out), err: noted(err) },
      alone: (effect) => permit.withPermits(1)(Effect.zipRight(freshLine, effect)),
      freshLine: permit.withPermits(1)(freshLine)
    }
  })

// oxlint-disable-next-line no-control-regex -- what changes colours leaves the cursor where it is; a line that is drawn anew is empty at its beginning
const endsLine = (text: string): boolean => /(^|[\n\r])(\u001b\[[\d;?]*[A-Za-z])*$/.test(text)
