/**
 * What is given as an option, checked, and as an error shows it.
 */
import { Errors } from "@heddle/core"

/** The one of several words that is given. Throws a `DefinitionError` for anything else. */
export const oneOf = <A extends string>(name: string, value: unknown, values: ReadonlyArray<A>): A => {
  const found = values.find((each) => each === value)
  if (found !== undefined) return found
  const all = values.map((each) => `"${each}"`)
  throw new Errors.DefinitionError(
    `${name} is ${all.slice(0, -1).join(", ")} or ${all.at(-1)}, but is ${shown(value)}.`
  )
}

export const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value))
