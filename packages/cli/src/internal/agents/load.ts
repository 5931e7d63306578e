/**
 * Finds and reads the files of agents: `*.md` in the folders of the project and of the
 * user, without those in folders below. A `README.md` without front matter is no agent,
 * and neither is a file whose name begins with a dot.
 */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { Problem, Scope } from "../../AgentFile.ts"
import { Extensions } from "../Extensions.ts"
import { sorted } from "../problems.ts"
import { Project } from "../Project.ts"
import { readText, type Text, why } from "../readText.ts"
import type { Agents, Source } from "./Agents.ts"
import { nameOf, type Read, read, unread } from "./parse.ts"
import { split } from "./split.ts"
import { together } from "./together.ts"

/** Files that are read at once. */
const concurrency = 16

type Needs = Project | FileSystem | Path | Extensions

/** Finds and reads the files of agents, of all folders, and the agent that comes with the command. */
export const load: Effect.Effect<Agents, never, Needs> = Effect.suspend(() =>
  Effect.map(loadReads, ({ agents }) => agents)
)

/** The same, with what was read of each file. */
export const loadReads: Effect.Effect<
  { readonly agents: Agents; readonly reads: ReadonlyArray<Read & Source> },
  never,
  Needs
> = Effect.gen(function* () {
  const project = yield* Project
  const folders = yield* Effect.forEach(project.agentFolders, ({ path, scope }) => inFolder(path, scope))
  const found = yield* readFiles(folders.flatMap(({ files }) => files))
  const unreadable = folders.flatMap(({ problems }) => problems)
  const agents = together(found)
  return {
    agents: {
      ...agents,
      problems: sorted([...agents.problems, ...unreadable]),
      files: found.map(({ at, name, path, scope }) => ({ at, name, path, scope })),
      folders: unreadable
    },
    reads: found
  }
})

/** A file that may be an agent. */
type Found = Pick<Source, "at" | "scope">

/** Reads files, of which some may be no agents. */
export const readFiles = (files: ReadonlyArray<Found>): Effect.Effect<ReadonlyArray<Read & Source>, never, Needs> =>
  Effect.map(Effect.forEach(files, readAgent, { concurrency }), (reads) => reads.flatMap((read) => read ?? []))

/** Reads the file of an agent. There is nothing if it is the file of none. */
const readAgent = ({ at, scope }: Found): Effect.Effect<(Read & Source) | undefined, never, Needs> =>
  Effect.gen(function* () {
    const { shown } = yield* Project
    const { handlers } = yield* Extensions
    const from = { path: shown(at), scope, handlers }
    const text: Text = yield* readText(at)
    if (text._tag === "Folder") return undefined
    if (text._tag === "Refused") return { ...unread(from, text.message, text.place), at }
    if (isReadme(at) && isPlain(text.text)) return undefined
    return { ...read(text.text, from), at }
  })

const isReadme = (path: string): boolean => nameOf(path).toLowerCase() === "readme"

const isPlain = (text: string): boolean => {
  const parts = split(text)
  return !("message" in parts) && parts.head === undefined
}

/** The files of a folder that may be agents. There are none if it is not there. */
export const inFolder = (
  folder: string,
  scope: Scope
): Effect.Effect<
  { readonly files: ReadonlyArray<Found>; readonly problems: ReadonlyArray<Problem> },
  never,
  FileSystem | Path | Project
> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = yield* Path
    const names = yield* fs.readDirectory(folder)
    const files = names
      .filter((name) => /\.md$/i.test(name) && !name.startsWith("."))
      .toSorted()
      .map((name) => ({ at: path.join(folder, name), scope }))
    return { files, problems: [] as ReadonlyArray<Problem> }
  }).pipe(
    Effect.catchAll((error) =>
      Effect.map(Project, ({ shown }) => {
        const message = `the folder cannot be read: ${why(error)}`
        const problem = { path: shown(folder), line: 1, column: 1, severity: "error", message } as const
        const isThere = error._tag !== "SystemError" || error.reason !== "NotFound"
        return { files: [], problems: isThere ? [problem] : [] }
      })
    )
  )
