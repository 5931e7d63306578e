/**
 * The lines that a person types into a chat, or that stand on standard input.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CliError } from "../failure.ts"

/** What comes of reading a line. */
export type Read =
  | { readonly _tag: "Line"; readonly text: string }
  /** Ctrl-C, and what stood in the line. */
  | { readonly _tag: "Interrupt"; readonly line: string }
  /** Ctrl-D, or there are no more lines. */
  | { readonly _tag: "End" }

/** What can stand in place of the end of a line: the texts, and the end that they take the place of. */
export interface Completion {
  readonly candidates: ReadonlyArray<string>
  readonly of: string
}

/** How a line is asked for. */
export interface Asked {
  readonly prompt: string
  /** The answer to a question: it is not kept in the history, and what was typed before the question is none. */
  readonly isAnswer?: boolean
  /** Completes what stands before the cursor. */
  readonly complete?: (line: string) => Completion
}

/** Where lines come from. */
export interface Lines {
  /** Whether a person types them. */
  readonly isTerminal: boolean
  /** The next line. The cursor has to stand at the beginning of a line. What was typed meanwhile comes first. */
  readonly read: (asked: Asked) => Effect.Effect<Read, CliError>
  /** Waits for Ctrl-C while no line is read. It takes back what was typed ahead. */
  readonly interrupted: Effect.Effect<void>
}

/** Lines that were typed before. */
export interface History {
  /** The newest first. */
  readonly lines: () => ReadonlyArray<string>
  /** `isLasting`: also for the chats that come after this one. */
  readonly add: (line: string, isLasting: boolean) => Effect.Effect<void>
}

/** Opens standard input for reading by lines. */
export interface Service {
  readonly open: (history: History) => Effect.Effect<Lines, CliError, Scope.Scope>
}

/** Opens standard input for reading by lines. */
export class LineReader extends Context.Tag("@heddle/cli/LineReader")<LineReader, Service>() {}
