/** Looks at files for all that is wrong with them. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { unknownName } from "@heddle/core/names"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Problem } from "../../AgentFile.ts"
import { type Read as ConfigRead, readConfig } from "../config.ts"
import { Environment } from "../Environment.ts"
import { Extensions } from "../Extensions.ts"
import { type CliError, usage } from "../failure.ts"
import { type Survey, survey } from "../locate.ts"
import { amount, counted, isError, sorted } from "../problems.ts"
import { Project, type Service } from "../Project.ts"
import { readText, why } from "../readText.ts"
import type { Agents, Source } from "./Agents.ts"
import { inFolder, loadReads, readFiles } from "./load.ts"
import { modelProblem } from "./modelProblems.ts"
import { outputProblems } from "./outputProblems.ts"
import type { Read } from "./parse.ts"
import { together } from "./together.ts"

/** What was found. */
export interface Linted {
  /** In the order of paths, lines and columns. */
  readonly problems: ReadonlyArray<Problem>
  /** The files that were looked at, as they are shown. */
  readonly files: ReadonlyArray<string>
}

type Needs = Environment | Extensions | FileSystem | Path

/** What was found, in one line: `2 errors and 1 warning in 2 of 5 files`. */
export const summary = ({ files, problems }: Linted): string => {
  const wrong = new Set(problems.map(({ path }) => path)).size
  const all = amount(files.length, "file")
  return problems.length === 0 ? `${all}, nothing wrong` : `${counted(problems)} in ${wrong} of ${all}`
}

/** Looks at files and folders; at all agents and configuration files unless said. */
export const lint = (paths: ReadonlyArray<string> = []): Effect.Effect<Linted, CliError, Needs> =>
  Effect.gen(function* () {
    const found = yield* survey()
    const loaded = yield* Effect.provideService(loadReads, Project, found.project)
    const own = yield* ofProject(found, loaded)
    if (paths.length === 0) return own
    const chosen = yield* Effect.forEach(yield* targets(paths), (target) =>
      Effect.provideService(ofTarget(target, own, loaded.reads), Project, found.project)
    )
    const problems = new Map(chosen.flatMap((one) => one.problems).map((problem) => [JSON.stringify(problem), problem]))
    return { problems: sorted([...problems.values()]), files: [...new Set(chosen.flatMap((one) => one.files))] }
  })

/** Looks at one agent, by its name. */
export const lintAgent = (name: string): Effect.Effect<Linted, CliError, Needs> =>
  Effect.gen(function* () {
    const found = yield* survey()
    const loaded = yield* Effect.provideService(loadReads, Project, found.project)
    const files = loaded.reads.filter((read) => read.name === name).map(({ path }) => path)
    if (files.length === 0) {
      const known = [...new Set(loaded.reads.map((read) => read.name))]
      return yield* usage(unknownName("agent", name, known))
    }
    const { problems } = yield* ofProject(found, loaded)
    return { problems: problems.filter(({ path }) => files.includes(path)), files }
  })

/** All agents and configuration files of the project and of the user. */
const ofProject = (
  found: Survey,
  { agents, reads }: { readonly agents: Agents; readonly reads: ReadonlyArray<Read> }
): Effect.Effect<Linted, never, Extensions> =>
  Effect.gen(function* () {
    const outputs = yield* Effect.forEach(reads, outputProblems)
    const known = yield* knownModels(found.project)
    const files = [...found.files.values()]
    return {
      problems: sorted([
        ...found.problems,
        ...files.flatMap((file) => [...unknownAgent(file, agents), ...unknownModels(file, known)]),
        ...agents.problems,
        // What a broken configuration says of models is not known.
        ...(found.problems.some(isError) ? [] : reads.flatMap((read) => unknownModel(read, known))),
        ...outputs.flat()
      ]),
      files: [...found.files.keys(), ...reads.map(({ path }) => path)]
    }
  })

type Known = Parameters<typeof modelProblem>[1]

const knownModels = ({ config }: Pick<Service, "config">): Effect.Effect<Known, never, Extensions> =>
  Effect.map(Extensions, ({ providers }) => ({
    models: config.models?.map(({ name }) => name) ?? [],
    providers: ["offline", ...providers.map(({ name }) => name)]
  }))

/** Where the file of an agent names a model. */
const namesOfModels = [["model"], ["memory", "summaryModel"], ["rag", "notesModel"]] as const

const unknownModel = ({ data, path, place }: Read, known: Known): ReadonlyArray<Problem> =>
  namesOfModels.flatMap((at): ReadonlyArray<Problem> => {
    const value = at.reduce<unknown>((inside, key) => (Predicate.isRecord(inside) ? inside[key] : undefined), data)
    const message = modelProblem(value, known)
    return message === undefined ? [] : [{ path, ...place(at), severity: "error", message }]
  })

const unknownModels = ({ at, config }: ConfigRead, known: Known): ReadonlyArray<Problem> => {
  const message = modelProblem(config.model, known)
  const models = config.models ?? []
  return [
    ...(message === undefined ? [] : [at(["model"], "error", message)]),
    ...models.flatMap(({ provider }, i) =>
      known.providers.includes(provider)
        ? []
        : [at(["models", i, "provider"], "error", unknownName("provider", provider, known.providers))]
    )
  ]
}

/** The agent of a configuration has to be there. */
const unknownAgent = ({ agent, at }: ConfigRead, { all, broken }: Agents): ReadonlyArray<Problem> => {
  const known = [...all.keys(), ...broken.keys()]
  return agent === undefined || known.includes(agent)
    ? []
    : [at(["agent"], "error", unknownName("agent", agent, known))]
}

// -----------------------------------------------------------------------------
// paths
// -----------------------------------------------------------------------------

interface Target {
  readonly at: string
  readonly isFolder: boolean
}

const targets = (paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { cwd } = yield* Environment
    const path = yield* Path
    const fs = yield* FileSystem
    const wrong: Array<string> = []
    const found: Array<Target> = []
    for (const given of paths) {
      const at = path.resolve(cwd, given)
      // As the files of the project are found.
      const real = yield* Effect.orElseSucceed(fs.realPath(path.dirname(at)), () => path.dirname(at))
      const info = yield* Effect.either(fs.stat(at))
      const isFolder = info._tag === "Right" && info.right.type === "Directory"
      if (info._tag === "Left") wrong.push(`${given} cannot be read: ${why(info.left)}`)
      else if (isFolder || /\.md$/i.test(at) || isConfig(path.basename(at))) {
        found.push({
          at: isFolder ? yield* Effect.orElseSucceed(fs.realPath(at), () => at) : path.join(real, path.basename(at)),
          isFolder
        })
      } else wrong.push(`${given} is neither an agent (*.md) nor a configuration (config.yaml).`)
    }
    return wrong.length === 0 ? found : yield* usage(wrong.join("\n"))
  })

const isConfig = (name: string): boolean => name === "config.yaml"

/** What is known of files of the project already, and what files elsewhere say beside those in their folder. */
const ofTarget = ({ at, isFolder }: Target, own: Linted, reads: ReadonlyArray<Read & Source>) =>
  Effect.gen(function* () {
    const path = yield* Path
    const { configFiles, shown } = yield* Project
    const all = [...reads.map((read) => read.at), ...configFiles.map((file) => file.path)]
    const below = all.filter((file) => file === at || (isFolder && file.startsWith(at + path.sep)))
    const isOwn = new Set([...below, ...(isFolder ? [at] : [])].map(shown))
    const known = own.files.filter((file) => isOwn.has(file))
    if (known.length > 0) return { problems: own.problems.filter((problem) => isOwn.has(problem.path)), files: known }
    if (!isFolder && isConfig(path.basename(at))) return yield* ofConfig(at)
    const folder = yield* inFolder(isFolder ? at : path.dirname(at), "project")
    const beside = yield* readFiles(folder.files)
    const asked = isFolder ? beside : beside.filter((read) => read.at === at)
    const outputs = yield* Effect.forEach(asked, outputProblems)
    const models = yield* knownModels(yield* Project)
    const files = asked.map((read) => read.path)
    const inFiles = together(beside).problems.filter((problem) => files.includes(problem.path))
    const problems = [...folder.problems, ...inFiles, ...outputs.flat()]
    return { problems: [...problems, ...asked.flatMap((read) => unknownModel(read, models))], files }
  })

const ofConfig = (at: string) =>
  Effect.gen(function* () {
    const { shown } = yield* Project
    const path = shown(at)
    const text = yield* readText(at)
    if (text._tag === "Text") {
      const read = readConfig(text.text, path)
      const known = yield* knownModels({ config: read.config })
      return { problems: [...read.problems, ...unknownModels(read, known)], files: [path] }
    }
    const message = text._tag === "Refused" ? text.message : "is a folder"
    const place = text._tag === "Refused" ? text.place : { line: 1, column: 1 }
    return { problems: [{ path, ...place, severity: "error", message } as const], files: [path] }
  })
