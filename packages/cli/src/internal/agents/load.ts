/** Finds and reads the files of agents. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { AgentFile } from "../../AgentFile.ts"
import { type CliError, failed } from "../failure.ts"
import { Project } from "../Project.ts"
import type { Agents } from "./Agents.ts"
import { assistant } from "./assistant.ts"
import { parse } from "./parse.ts"

/** Finds and reads the files of agents, of all folders, and the agent that comes with the command. */
export const load: Effect.Effect<Agents, CliError, Project | FileSystem | Path> = Effect.gen(function* () {
  const project = yield* Project
  const fs = yield* FileSystem
  const path = yield* Path
  const all = new Map<string, AgentFile>([[assistant.name, assistant]])
  for (const folder of project.agentFolders.toReversed()) {
    if (!(yield* fs.exists(folder.path))) continue
    for (const file of (yield* fs.readDirectory(folder.path)).toSorted()) {
      if (!file.endsWith(".md")) continue
      const at = path.join(folder.path, file)
      const { agent } = parse(yield* fs.readFileString(at), {
        path: path.relative(project.root, at),
        scope: folder.scope
      })
      if (agent !== undefined) all.set(agent.name, agent)
    }
  }
  return { all, shadowed: [], problems: [], broken: new Map<string, string>() }
}).pipe(Effect.catchTags({ BadArgument: (e) => failed(e.message, e), SystemError: (e) => failed(e.message, e) }))
