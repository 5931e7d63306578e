/** Looks at the files of agents, and at what they need. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { AgentFile } from "../../AgentFile.ts"
import { approvals } from "../agents/approval.ts"
import type { Agents } from "../agents/Agents.ts"
import { load } from "../agents/load.ts"
import { resolve } from "../agents/resolve.ts"
import { Environment, variable } from "../Environment.ts"
import { Extensions } from "../Extensions.ts"
import { choose, models } from "../models/choose.ts"
import { Project } from "../Project.ts"
import { amount, counted, isError } from "../problems.ts"
import { type Check, check } from "./Check.ts"

/** The files of agents, whether each could be run, and the programs that they start. */
export const lookAtAgents = Effect.gen(function* () {
  const agents = yield* load
  const files = [...agents.all.values()].filter(({ scope }) => scope !== "built-in")
  return [...asFiles(agents, files), ...(yield* asAgents(agents, files)), ...(yield* commandsOf(files))]
})

const asFiles = ({ broken, problems }: Agents, files: ReadonlyArray<AgentFile>): ReadonlyArray<Check> => {
  const all = amount(files.length + broken.size, "file")
  if (problems.length > 0) {
    const state = problems.some(isError) ? "broken" : "warning"
    return [check(state, "agents", `${all}, ${counted(problems)}`, "heddle lint tells where.")]
  }
  return files.length === 0
    ? [check("absent", "agents", "there are no files", "heddle init makes a small project.")]
    : [check("ok", "agents", all)]
}

const asAgents = (agents: Agents, files: ReadonlyArray<AgentFile>) =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const { handlers, providers } = yield* Extensions
    const { config, root } = yield* Project
    const options = {
      agents,
      handlers,
      models: models(config, providers, environment),
      choice: yield* choose(undefined),
      approvals: approvals([]),
      environment,
      cwd: root
    }
    return (yield* Effect.forEach(files, (file) => resolve(file, options))).flatMap(({ file, problems }) => {
      // What is wrong with another agent is told with that one, and with a model that none of them names elsewhere.
      const own = problems.filter((problem) => problem.startsWith(`${file.path}: `))
      return own.length === 0
        ? []
        : [check("warning", `agent ${file.name}`, `cannot be run: ${own.join("; ")}`, `heddle explain ${file.name}`)]
    })
  })

/** The programs that agents start as servers of tools. */
const commandsOf = (files: ReadonlyArray<AgentFile>) =>
  Effect.gen(function* () {
    const users = new Map<string, Array<string>>()
    for (const { head, name } of files) {
      for (const server of Object.values(head.mcp ?? {})) {
        if (!("command" in server)) continue
        users.set(server.command, [...(users.get(server.command) ?? []), name])
      }
    }
    return yield* Effect.forEach([...users], ([command, names]) =>
      Effect.map(whereIs(command), (found) =>
        found === undefined
          ? check(
              "warning",
              `program ${command}`,
              `is not there; ${names.join(", ")} will go on without its tools`,
              "Install it, or give its whole path as the command."
            )
          : check("ok", `program ${command}`, found)
      )
    )
  })

/** Where a program is that a command names: from the project on if it is a path, else on the PATH. */
const whereIs = (command: string) =>
  Effect.gen(function* () {
    const environment = yield* Environment
    const { root } = yield* Project
    const fs = yield* FileSystem
    const path = yield* Path
    const isPath = /[\\/]/.test(command)
    // On Windows the folders stand between semicolons, and a name has an end that is not said.
    const separator = path.sep === "\\" ? ";" : ":"
    const ends = path.sep === "\\" ? ["", ".exe", ".cmd", ".bat"] : [""]
    const folders = isPath ? [root] : (variable(environment, "PATH") ?? "").split(separator).filter((one) => one !== "")
    for (const folder of folders) {
      for (const end of ends) {
        const file = path.resolve(folder, command + end)
        const isFile = Effect.map(
          fs.stat(file),
          ({ mode, type }) => type === "File" && (ends.length > 1 || (mode & 0o111) !== 0)
        )
        if (yield* Effect.orElseSucceed(isFile, () => false)) return file
      }
    }
    return undefined
  })
