/**
 * Why documents are left out.
 */
import * as Data from "effect/Data"

/**
 * Why a document is left out. `Encoding`: it is a text, but not in UTF-8 or UTF-16.
 * `MissingPackage`: what reads its format is not installed. `Format`: it is not what
 * it says it is. `Link`: it is a link that leaves the folder. `Duplicate`: its source
 * was there before. `Gone`: it is not there. `Unreadable`: it could not be read, which
 * may pass.
 * `Refused`: the embedding model does not take its texts.
 */
export type SkipReason =
  | "Binary"
  | "Empty"
  | "TooLarge"
  | "Encoding"
  | "Format"
  | "MissingPackage"
  | "Link"
  | "Duplicate"
  | "Gone"
  | "Unreadable"
  | "Refused"

/** What is wrong with a document. */
export class Unreadable extends Data.TaggedError("Unreadable")<{
  readonly reason: SkipReason
  readonly message: string
  readonly cause?: unknown
}> {}
