import { Errors } from "@heddle/core"
import * as Duration from "effect/Duration"

/** A duration that is more than 0. Throws a `DefinitionError` that has the name for others. */
export const positive = (name: string, input: Duration.DurationInput): Duration.Duration => {
  const duration = Duration.decode(input)
  if (Duration.toMillis(duration) > 0) return duration
  throw new Errors.DefinitionError(`${name} is more than 0, but is ${Duration.format(duration)}.`)
}
