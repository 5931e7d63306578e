/** Looks at what the command runs on and in: Node, packages, the terminal, the project. */
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { Problem } from "../../AgentFile.ts"
import { isInstalled, nodeVersion } from "../node/installed.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { amount, isError, problemText } from "../problems.ts"
import { type Check, check } from "./Check.ts"

/** The least version of Node, as `engines` of the package says it. */
const least = [20, 19] as const

/** Whether a version of Node will do. */
export const lookAtNode = (version: string): Check => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isEnough = major > least[0] || (major === least[0] && minor >= least[1])
  return isEnough
    ? check("ok", "Node", version)
    : check(
        "broken",
        "Node",
        `${version} is too old`,
        `Install Node ${least.join(".")} or later, from https://nodejs.org.`
      )
}

/** Packages that are loaded where they are used, and what for. */
const packages = [
  { name: "libsql", use: "keeps conversations and indexes", state: "broken" },
  { name: "@ai-sdk/anthropic", use: "models of Anthropic", state: "warning" },
  { name: "@ai-sdk/openai", use: "models of OpenAI", state: "warning" },
  { name: "@ai-sdk/google", use: "models of Google", state: "warning" },
  { name: "@ai-sdk/openai-compatible", use: "Ollama, and others that speak as OpenAI does", state: "warning" },
  { name: "@modelcontextprotocol/sdk/client/index.js", use: "servers of tools", state: "warning" },
  { name: "unpdf", use: "reads PDF files", state: "warning" }
] as const

/** Node and the packages. */
export const lookAtInstalled: Effect.Effect<ReadonlyArray<Check>> = Effect.sync(() => {
  const missing = packages.filter(({ name }) => !isInstalled(name))
  return [
    lookAtNode(nodeVersion),
    ...missing.map(({ name, state, use }) =>
      check(
        state,
        `package ${name}`,
        `is not installed (${use})`,
        "Install @heddle/cli again, with all that belongs to it."
      )
    ),
    ...(missing.length === 0 ? [check("ok", "packages", `${amount(packages.length, "package")}, all of them`)] : [])
  ]
})

/** The terminal. */
export const lookAtTerminal = Effect.map(Output, ({ err, out }) =>
  out.isTerminal || err.isTerminal
    ? check("ok", "terminal", `${out.columns()} columns, ${out.colours ? "colours" : "no colours"}`)
    : check("absent", "terminal", "none: nothing is drawn anew, and nobody is asked")
)

/** The project and its configuration, in which there are some problems. */
export const lookAtProject = (problems: ReadonlyArray<Problem>) =>
  Effect.gen(function* () {
    const { configFiles, root } = yield* Project
    const fs = yield* FileSystem
    const path = yield* Path
    const exists = (at: string) => Effect.orElseSucceed(fs.exists(at), () => false)
    const isMade = yield* exists(path.join(root, ".heddle"))
    const files = yield* Effect.filter(configFiles, ({ path }) => exists(path))
    return [
      isMade
        ? check("ok", "project", root)
        : check(
            "absent",
            "project",
            `${root}, since no folder above that is yours has a .heddle`,
            "heddle init makes one here."
          ),
      ...problems.map((problem) =>
        check(isError(problem) ? "broken" : "warning", "configuration", problemText(problem), "heddle lint tells all.")
      ),
      ...(problems.length > 0
        ? []
        : files.length === 0
          ? [check("absent", "configuration", "there is no file")]
          : [check("ok", "configuration", files.map(({ path }) => path).join(", "))])
    ]
  })
