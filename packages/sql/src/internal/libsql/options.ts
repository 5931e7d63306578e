/**
 * What a file is opened with, filled in and checked.
 */
import { Errors } from "@heddle/core"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Options } from "../../libsql.ts"
import { oneOf, shown } from "../given.ts"

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

const time = (name: string, value: unknown): Duration.Duration => {
  const duration = Duration.decodeUnknown(value)
  // What is below 0 would be taken for 0.
  if (Option.isSome(duration) && !(Array.isArray(value) ? value : [value]).some(isNegative)) return duration.value
  throw new Errors.DefinitionError(
    `${name} is a duration from 0 up, in milliseconds or as "5 seconds", but is ${shown(value)}.`
  )
}

const isNegative = (part: unknown): boolean =>
  typeof part === "string" ? part.startsWith("-") : typeof part === "object" ? false : !(Number(part) >= 0)
