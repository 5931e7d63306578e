/** Finds the project, and where its things are. */
import { type File, FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Problem } from "../AgentFile.ts"
import { type Config, merged, ofProject as counting, overreaching, type Read, readConfig } from "./config.ts"
import { type CliError, usage } from "./failure.ts"
import { Environment, variable } from "./Environment.ts"
import { isError, problemText } from "./problems.ts"
import type { Service } from "./Project.ts"
import { readText } from "./readText.ts"

/** What is asked for over what is usual. */
export interface Options {
  /** The file of conversations. */
  readonly database?: string | undefined
}

/** A project whose configuration may have errors, of which nothing is in it then. */
export interface Survey {
  readonly project: Service
  readonly problems: ReadonlyArray<Problem>
  /** The configuration files that are there, by their paths as they are shown. */
  readonly files: ReadonlyMap<string, Read>
}

type Needs = Environment | FileSystem | Path

/** Finds the project. Fails with all that is wrong with its configuration. */
export const locate = (options: Options): Effect.Effect<Service, CliError, Needs> =>
  Effect.flatMap(survey(options), ({ problems, project }) => {
    const errors = problems.filter(isError)
    return errors.length === 0
      ? Effect.succeed(project)
      : usage(["The configuration has errors:", ...errors.map(problemText)].join("\n"))
  })

/** Finds the project, whatever is wrong with its configuration. */
export const survey = (options: Options = {}): Effect.Effect<Survey, never, Needs> =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const path = yield* Path
    const cwd = yield* real(environment.cwd)
    const root = yield* real(yield* rootOf(environment))
    const shown = (file: string): string => {
      const inside = path.relative(root, file)
      return inside.startsWith("..") || path.isAbsolute(inside) ? file : path.relative(cwd, file) || "."
    }
    const under = (name: string, usual: ReadonlyArray<string>) =>
      path.join(variable(environment, name) ?? path.join(environment.home, ...usual), "heddle")
    const configFolder = under("XDG_CONFIG_HOME", [".config"])
    const dataFolder = under("XDG_DATA_HOME", [".local", "share"])
    const ofProject = { path: path.join(root, ".heddle", "config.yaml"), scope: "project" } as const
    const ofUser = { path: path.join(configFolder, "config.yaml"), scope: "user" } as const
    const over = yield* configIn(ofProject.path, shown)
    const below = yield* configIn(ofUser.path, shown)
    const config = merged(over.config, below.config)
    const project: Service = {
      root,
      agentFolders: [
        { path: path.join(root, ".heddle", "agents"), scope: "project" },
        { path: path.join(root, "agents"), scope: "project" },
        { path: path.join(configFolder, "agents"), scope: "user" }
      ],
      config,
      saidBy: { ...saidBy(below.config, ofUser.path, shown), ...saidBy(counting(over.config), ofProject.path, shown) },
      configFiles: [ofProject, ofUser],
      dataFolder,
      database:
        options.database === undefined
          ? (config.database ?? path.join(dataFolder, "heddle.db"))
          : path.resolve(environment.cwd, options.database),
      shown
    }
    return {
      project,
      problems: [
        ...over.problems,
        ...(over.read === undefined ? [] : overreaching(over.read, below.path)),
        ...below.problems
      ],
      files: new Map([over, below].flatMap((file) => (file.read === undefined ? [] : [[file.path, file.read]])))
    }
  })

/** A folder without links in it, if there is a way to know. */
const real = (folder: string): Effect.Effect<string, never, FileSystem> =>
  Effect.flatMap(FileSystem, (fs) => Effect.orElseSucceed(fs.realPath(folder), () => folder))

/** The nearest folder upwards with a `.heddle`. A folder in which somebody else can put one is no project of this user: its files would say which programs are started. */
const rootOf = ({ cwd, user }: Environment["Type"]): Effect.Effect<string, never, FileSystem | Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const info = (at: string) => Effect.option(fs.stat(at))
    for (let at = cwd; ; at = path.dirname(at)) {
      const folder = yield* info(at)
      if (Option.exists(folder, isOfAnother(user))) return cwd
      const own = yield* info(path.join(at, ".heddle"))
      if (Option.isSome(own) && !isOfAnother(user)(own.value) && !Option.exists(folder, isShared(user))) return at
      if (at === path.dirname(at)) return cwd
    }
  })

/** Whether something belongs to neither this user nor the system's. Where nothing tells, it does not. */
const isOfAnother =
  (user: number | undefined) =>
  ({ uid }: File.Info): boolean =>
    user !== undefined && Option.exists(uid, (owner) => owner !== user && owner !== 0)

/** Whether everybody can put something into a folder, such as that of temporary files. */
const isShared =
  (user: number | undefined) =>
  ({ mode, uid }: File.Info): boolean =>
    user !== undefined && (mode & 0o002) !== 0 && ((mode & 0o1000) !== 0 || !Option.contains(uid, user))

/** What a configuration file says, if it is there. Paths in it begin at its folder. */
const configIn = (file: string, shown: (path: string) => string) =>
  Effect.gen(function* () {
    const path = yield* Path
    const fs = yield* FileSystem
    const at = { path: shown(file) }
    const nothing = { ...at, config: {} as Config, problems: [] as ReadonlyArray<Problem>, read: undefined }
    if (!(yield* Effect.orElseSucceed(fs.exists(file), () => true))) return nothing
    const text = yield* readText(file)
    if (text._tag !== "Text") {
      const { message, place } =
        text._tag === "Folder" ? { message: "is a folder", place: { line: 1, column: 1 } } : text
      return { ...nothing, problems: [{ ...at, ...place, severity: "error", message }] as const }
    }
    const read = readConfig(text.text, at.path)
    const { database } = read.config
    const config = database === undefined ? {} : { database: path.resolve(path.dirname(file), database) }
    return { ...at, config: { ...read.config, ...config }, problems: read.problems, read }
  })

const saidBy = (config: Config, file: string, shown: (path: string) => string): Service["saidBy"] =>
  Object.fromEntries(Object.keys(config).map((key) => [key, shown(file)]))
