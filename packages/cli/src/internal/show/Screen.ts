/**
 * What stands where the command writes, so that two that write at once do not spoil
 * each other's lines: text of an answer on standard output; lines, and one line that is
 * drawn anew while nothing comes, on standard error, which is mostly the same terminal.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Service } from "../Output.ts"

/** What stands where the command writes. `text` and what is below are for those whose turn it is. */
export interface Screen {
  /** Runs what writes by itself, when nobody else writes: on a line of its own, with nothing else drawn meanwhile. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs what writes by the functions below, when nobody else writes. */
  readonly inTurn: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** The same, but not at all where somebody else writes. */
  readonly ifFree: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** Goes on with the text on standard output. */
  readonly text: (text: string) => Effect.Effect<void>
  /** Ends the line of the text on standard output, if it has begun. */
  readonly endLine: Effect.Effect<void>
  /** Writes a line to standard error. */
  readonly line: (line: string) => Effect.Effect<void>
  /** Draws the line that is drawn anew, where that is possible. */
  readonly draw: (line: string) => Effect.Effect<void>
}

/** Whether this fiber is alone already. */
class Alone extends Context.Reference<Alone>()("@heddle/cli/Alone", { defaultValue: (): boolean => false }) {}

const screens = new WeakMap<Service, Screen>()

/** The screen of an output: one, for all who write there. */
export const screenOf = (output: Service): Screen => {
  const before = screens.get(output)
  if (before !== undefined) return before
  const made = make(output)
  screens.set(output, made)
  return made
}

const make = ({ err, out }: Service): Screen => {
  const turn = Effect.unsafeMakeSemaphore(1)
  const isOne = out.isTerminal && err.isTerminal
  let isMidLine = false
  let drawn = ""
  const clear = Effect.suspend(() => {
    if (drawn === "") return Effect.void
    drawn = ""
    return err.write("\r\u001b[2K")
  })
  const text = (piece: string) =>
    piece === ""
      ? Effect.void
      : Effect.zipRight(
          clear,
          Effect.suspend(() => {
            isMidLine = !piece.endsWith("\n")
            return out.write(piece)
          })
        )
  const endLine = Effect.suspend(() => (isMidLine ? text("\n") : clear))
  const own = isOne ? endLine : clear
  return {
    alone: (effect) =>
      Effect.flatMap(Alone, (alone) =>
        alone ? effect : turn.withPermits(1)(Effect.zipRight(own, Effect.provideService(effect, Alone, true)))
      ),
    inTurn: turn.withPermits(1),
    ifFree: (effect) => Effect.asVoid(turn.withPermitsIfAvailable(1)(effect)),
    text,
    endLine,
    line: (line) => Effect.zipRight(own, err.write(`${line}\n`)),
    draw: (line) =>
      Effect.suspend(() => {
        if (!err.isTerminal || (isOne && isMidLine) || line === drawn) return Effect.void
        drawn = line
        return err.write(`\r\u001b[2K${line}`)
      })
  }
}
