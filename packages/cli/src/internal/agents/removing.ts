/** Deletes the file of an agent. */
import { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { type Asking, confirmed } from "../Asking.ts"
import type { Extensions } from "../Extensions.ts"
import { type CliError, failed, usage } from "../failure.ts"
import { oneLine } from "../problems.ts"
import type { Project } from "../Project.ts"
import { why } from "../readText.ts"
import { type Agents, find, type Source } from "./Agents.ts"
import { load } from "./load.ts"

/** What came of it: the path of the file as it is shown, if it was deleted. */
export interface Removed {
  readonly path?: string
}

/** Deletes the file of an agent, the one that counts. Asks the person first, unless it is said that this is not needed. */
export const remove = (
  name: string,
  options: { readonly confirmed: boolean }
): Effect.Effect<Removed, CliError, Project | Extensions | Asking | FileSystem | Path> =>
  Effect.gen(function* () {
    const agents = yield* load
    const { at, path } = yield* fileOf(agents, name)
    if (!options.confirmed) {
      const isMeant = yield* Effect.mapError(confirmed(question(agents, name, path)), () =>
        usage("Nothing was deleted: there is nobody to ask. Say --yes to delete it.")
      )
      if (!isMeant) return {}
    }
    const fs = yield* FileSystem
    yield* fs.remove(at).pipe(Effect.mapError((error) => failed(`${path} cannot be deleted: ${why(error)}.`, error)))
    return { path }
  })

const fileOf = (agents: Agents, name: string): Effect.Effect<Source, CliError> => {
  const own = agents.files.filter((file) => file.name === name)
  const inProject = own.filter(({ scope }) => scope === "project")
  const [file, ...others] = inProject.length > 0 ? inProject : own
  if (file === undefined) {
    return Effect.flatMap(find(agents, name), () =>
      usage(`The agent "${name}" comes with the command: it has no file.`)
    )
  }
  if (others.length === 0) return Effect.succeed(file)
  const paths = [file, ...others].map(({ path }) => oneLine(path)).join(", ")
  return usage(`Several files hold an agent "${name}": ${paths}. Delete the one that is not meant.`)
}

const question = ({ all }: Agents, name: string, path: string): string => {
  const asking = [...all.values()].filter(({ head }) => head.agents?.includes(name)).map((agent) => agent.name)
  const note = asking.length === 0 ? "" : `It is asked by ${asking.join(", ")}. `
  return `${note}Delete ${oneLine(path)}?`
}
