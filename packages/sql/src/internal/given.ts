/**
 * What is given as an option, checked, and as an error shows it.
 */
import { Errors } from "@heddle/core"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** The one of several words that is given. Throws a `DefinitionError` for anything else. */
export const oneOf = <A extends string>(name: string, value: unknown, values: ReadonlyArray<A>): A => {
  const found = values.find((each) => each === value)
  if (found !== undefined) return found
  const all = values.map((each) => `"${each}"`)
  throw new Errors.DefinitionError(
    `${name} is ${all.slice(0, -1).join(", ")} or ${all.at(-1)}, but is ${shown(value)}.`
  )
}

/** A duration from 0 up. Throws a `DefinitionError` for anything else. */
export const time = (name: string, value: unknown): Duration.Duration => {
  const duration = Duration.decodeUnknown(value)
  // What is below 0 would be taken for 0.
  if (Option.isSome(duration) && !(Array.isArray(value) ? value : [value]).some(isNegative)) return duration.value
  throw new Errors.DefinitionError(
    `${name} is a duration from 0 up, in milliseconds or as "5 seconds", but is ${shown(value)}.`
  )
}

const isNegative = (part: unknown): boolean =>
  typeof part === "string" ? part.startsWith("-") : typeof part === "object" ? false : !(Number(part) >= 0)

export const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value))
