/** Finds the project, and where its things are. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { CliError } from "./failure.ts"
import { Environment, variable } from "./Environment.ts"
import { type Service } from "./Project.ts"

/** Finds the project. `database`: the file that is asked for. */
export const locate = (options: {
  readonly database?: string | undefined
}): Effect.Effect<Service, CliError, Environment | FileSystem | Path> =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const fs = yield* FileSystem
    const path = yield* Path
    const has = (folder: string) => Effect.orElseSucceed(fs.exists(path.join(folder, ".heddle")), () => false)
    let root = environment.cwd
    for (let at = environment.cwd; ; at = path.dirname(at)) {
      if (yield* has(at)) {
        root = at
        break
      }
      if (at === path.dirname(at)) break
    }
    root = yield* Effect.orElseSucceed(fs.realPath(root), () => root)
    const under = (name: string, usual: ReadonlyArray<string>) =>
      path.join(variable(environment, name) ?? path.join(environment.home, ...usual), "heddle")
    const configFolder = under("XDG_CONFIG_HOME", [".config"])
    const dataFolder = under("XDG_DATA_HOME", [".local", "share"])
    return {
      root,
      agentFolders: [
        { path: path.join(root, ".heddle", "agents"), scope: "project" },
        { path: path.join(root, "agents"), scope: "project" },
        { path: path.join(configFolder, "agents"), scope: "user" }
      ],
      config: {},
      configFiles: [
        { path: path.join(root, ".heddle", "config.yaml"), scope: "project" },
        { path: path.join(configFolder, "config.yaml"), scope: "user" }
      ],
      dataFolder,
      database:
        options.database === undefined
          ? path.join(dataFolder, "heddle.db")
          : path.resolve(environment.cwd, options.database)
    }
  })
