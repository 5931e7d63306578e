/**
 * The agents that there are: the files of the project over those of the user.
 */
import { unknownName } from "@heddle/core/names"
import * as Effect from "effect/Effect"
import type { AgentFile, Problem } from "../../AgentFile.ts"
import { type CliError, usage } from "../failure.ts"

/** The agents that there are. */
export interface Agents {
  /** Those that can be run, by name. */
  readonly all: ReadonlyMap<string, AgentFile>
  /** Files that hold an agent of a name that another file holds, which counts. */
  readonly shadowed: ReadonlyArray<AgentFile>
  /** What is wrong with files, in the order of paths, lines and columns; with names over files and references between them, too. */
  readonly problems: ReadonlyArray<Problem>
  /** Names of agents whose files have errors, and those files. */
  readonly broken: ReadonlyMap<string, string>
}

/** A problem on one line, as compilers write it. */
export const problemText = ({ column, line, message, path, severity }: Problem): string =>
  `${path}:${line}:${column}: ${severity}: ${message}`

/** The agent of a name. Fails with what is wrong with its file, or with the names that are nearest. */
export const find = (agents: Agents, name: string): Effect.Effect<AgentFile, CliError> => {
  const found = agents.all.get(name)
  if (found !== undefined) return Effect.succeed(found)
  const path = agents.broken.get(name)
  if (path === undefined) return Effect.fail(usage(unknownName("agent", name, [...agents.all.keys()])))
  const problems = agents.problems.filter((problem) => problem.path === path && problem.severity === "error")
  return Effect.fail(usage([`The agent "${name}" has errors:`, ...problems.map(problemText)].join("\n")))
}
