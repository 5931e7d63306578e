/**
 * What the command knows of where it runs: folder, variables, home, and what is written
 * to its standard input.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CliError } from "./failure.ts"

/** Where the command runs. */
export interface Service {
  readonly cwd: string
  readonly home: string
  /** Who runs it, by the number that the system has for them. Missing where it has none. */
  readonly user?: number | undefined
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly input: {
    /** Whether a person types it. */
    readonly isTerminal: boolean
    /** All of it, to its end. */
    readonly read: Effect.Effect<Uint8Array, CliError>
  }
}

/** Where the command runs. */
export class Environment extends Context.Tag("@heddle/cli/Environment")<Environment, Service>() {}

/** A variable that is set, and not to nothing. */
export const variable = ({ variables }: Pick<Service, "variables">, name: string): string | undefined => {
  const value = variables[name]
  return value === undefined || value === "" ? undefined : value
}
