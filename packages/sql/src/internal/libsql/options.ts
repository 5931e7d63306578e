/**
 * What a file is opened with, filled in and checked.
 */
import { Errors } from "@heddle/core"
import type * as Duration from "effect/Duration"
import type { Options } from "../../libsql.ts"
import { oneOf, shown, time } from "../given.ts"

/** The check of a file that nobody has said anything about depends on its size. */
export interface Settled extends Pick<Options, "filename" | "integrityCheck"> {
  readonly synchronous: "normal" | "full"
  readonly busyTimeout: Duration.Duration
}

/** Throws a `DefinitionError` for what makes no sense. */
export const settled = ({ busyTimeout = "5 seconds", filename, integrityCheck, synchronous }: Options): Settled => ({
  filename: path(filename),
  synchronous: oneOf("synchronous", synchronous ?? "normal", ["normal", "full"]),
  ...(integrityCheck !== undefined && {
    integrityCheck: oneOf("integrityCheck", integrityCheck, ["quick", "full", "none"])
  }),
  busyTimeout: time("busyTimeout", busyTimeout)
})

const path = (filename: unknown): string => {
  if (typeof filename !== "string" || filename.trim() === "") {
    throw new Errors.DefinitionError(`filename is the path of a file, or ":memory:", but is ${shown(filename)}.`)
  }
  // A path may have a colon.
  if (/^(file:|[a-z][a-z\d+.-]*:\/\/)/i.test(filename)) {
    throw new Errors.DefinitionError(`filename is the path of a file, but ${shown(filename)} is a URL.`)
  }
  return filename
}
