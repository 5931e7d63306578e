/**
 * How the command fails: with a message for a person, and an exit status for a script.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"

/** The exit statuses, as docs/cli.md tells of them. */
export const status = {
  /** It is done. */
  done: 0,
  /** It was tried, and failed: a run, an index, files with errors. */
  failed: 1,
  /** It makes no sense as it was asked: arguments, names, files that are not there or say something wrong. */
  usage: 2,
  /** Ctrl-C. */
  interrupted: 130,
  /** Nobody reads the output any more. */
  closed: 141
} as const

/** A failure that is told. The message may have several lines; it says what to do where something can be done. */
export class CliError extends Data.TaggedError("CliError")<{
  readonly message: string
  readonly status: number
  readonly cause?: unknown
}> {}

/** What was asked makes no sense. */
export const usage = (message: string): CliError => new CliError({ message, status: status.usage })

/** What was asked could not be done. */
export const failed = (message: string, cause?: unknown): CliError =>
  new CliError({ message, status: status.failed, ...(cause !== undefined && { cause }) })

/** An error, as one reads it. */
export const describe = (error: unknown): string =>
  error instanceof Error && error.message !== "" ? error.message : String(error)

/** What went wrong, as one reads it. */
export const messageOf = (cause: Cause.Cause<unknown>): string =>
  Cause.isInterruptedOnly(cause) ? "cancelled" : describe(Cause.squash(cause))
