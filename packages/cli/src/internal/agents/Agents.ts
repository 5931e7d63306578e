/**
 * The agents that there are: the files of the project over those of the user.
 */
import { unknownName } from "@heddle/core/names"
import * as Effect from "effect/Effect"
import type { AgentFile, Problem, Scope } from "../../AgentFile.ts"
import { type CliError, usage } from "../failure.ts"
import { isError, problemText } from "../problems.ts"

/** A file that was looked at. */
export interface Source {
  /** How the agent is called, as far as that is known. */
  readonly name: string
  /** The path as it is shown. */
  readonly path: string
  /** The path in full. */
  readonly at: string
  readonly scope: Scope
}

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
  /** All files. */
  readonly files: ReadonlyArray<Source>
  /** What is wrong with folders that cannot be read; among the problems, too. */
  readonly folders: ReadonlyArray<Problem>
}

/** The agent of a name. Fails with what is wrong with its file, or with the names that are nearest. */
export const find = (agents: Agents, name: string): Effect.Effect<AgentFile, CliError> => {
  const found = agents.all.get(name)
  if (found !== undefined) return Effect.succeed(found)
  const path = agents.broken.get(name)
  if (path === undefined) return Effect.fail(usage(notThere(agents, name)))
  const problems = agents.problems.filter((problem) => problem.path === path && isError(problem))
  return Effect.fail(usage([`The agent "${name}" has errors:`, ...problems.map(problemText)].join("\n")))
}

const notThere = ({ all, broken, files, folders }: Agents, name: string): string =>
  [
    unknownName("agent", name, [...all.keys(), ...broken.keys()]),
    ...folders.map(problemText),
    ...(files.length === 0 && folders.length === 0
      ? ["There are no agent files: `heddle agents create` makes one, `heddle init` a project with two."]
      : [])
  ].join("\n")
