/**
 * How a hook ends a run: as a failure inside its handler, and as a defect
 * outside of it, so that no other handler's error handling can catch it.
 */
import * as Cause from "effect/Cause"

/** The failure by which a hook ends the run with an answer. */
export class Finish {
  readonly _tag = "Finish"
  readonly answer: string
  constructor(answer: string) {
    this.answer = answer
  }
}

/** A `Finish` that has left its handler. */
export class FinishSignal {
  readonly answer: string
  constructor(answer: string) {
    this.answer = answer
  }
}

/** The answer, if a cause is a `Finish` that has left its handler. */
export const finished = (cause: Cause.Cause<unknown>): string | undefined => {
  for (const defect of Cause.defects(cause)) if (defect instanceof FinishSignal) return defect.answer
  return undefined
}
