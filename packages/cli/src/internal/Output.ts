/**
 * Where the command writes: what was asked for to standard output, everything else to
 * standard error.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** One of the two. */
export interface Sheet {
  /** Writes a text, and waits until there is room for the next. When nobody reads any more, the command ends. */
  readonly write: (text: string) => Effect.Effect<void>
  /** Whether a person looks at it, so that lines can be drawn anew. */
  readonly isTerminal: boolean
  readonly colours: boolean
  /** Characters in a line, as they are now: 80 where nobody knows. */
  readonly columns: () => number
  /** Lines that are seen at once, as they are now: 24 where nobody knows. */
  readonly rows?: () => number
}

/** Where the command writes. */
export interface Service {
  readonly out: Sheet
  readonly err: Sheet
}

/** Where the command writes. */
export class Output extends Context.Tag("@heddle/cli/Output")<Output, Service>() {}
