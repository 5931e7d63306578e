/**
 * Makes an agent of its file: what the file says, with what the other packages offer.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { Agent, Handler, Pipeline, Tools } from "@heddle/core"
import { Memory, MemoryData } from "@heddle/memory"
import { Rag } from "@heddle/rag"
import type { ToolProvider } from "@heddle/models"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentFile } from "../../AgentFile.ts"
import type { Asking } from "../Asking.ts"
import type { Environment } from "../Environment.ts"
import { type CliError, usage } from "../failure.ts"
import type { Project } from "../Project.ts"
import type { Services } from "../services.ts"
import { approval } from "./approval.ts"
import type { Services as HandlerServices } from "./definition.ts"
import { anyOf } from "./globs.ts"
import { memoryKeys, pick } from "./parts.ts"
import { type Options, resolve, type Resolved } from "./resolve.ts"
import { connected, handlerOf, type Server } from "./servers.ts"

export type { Options } from "./resolve.ts"

/** What a run of an agent of a file needs, besides a session. */
export type Needs = Services | Asking | Environment | Project | FileSystem.FileSystem | Path.Path

/** An agent that can be run, in a session. */
export type Runnable = Agent.Agent<unknown, unknown, Needs | HandlerServices>

/** Makes an agent of its file. Servers of tools are connected when a run needs them, and left when the scope closes. */
export const build = (file: AgentFile, options: Options): Effect.Effect<Runnable, CliError, Scope.Scope> =>
  Effect.gen(function* () {
    const resolved = yield* resolve(file, options)
    if (resolved.problems.length > 0) {
      return yield* usage([`The agent "${file.name}" cannot be run:`, ...resolved.problems].join("\n  "))
    }
    const providers = new Map<Server, ToolProvider.ToolProvider>()
    for (const server of withAsked(resolved).flatMap(({ servers }) => servers)) {
      providers.set(server, yield* connected(server, options.cwd))
    }
    return assemble(resolved, options, (server) => providers.get(server)!)
  })

/** An agent and all that it asks, each once. */
export const withAsked = (resolved: Resolved): ReadonlyArray<Resolved> => {
  // What is added meanwhile is gone through as well.
  const all = new Set([resolved])
  for (const one of all) for (const other of one.asks) all.add(other)
  return [...all]
}

/** Makes agents of what they are made of, each once. */
export const assemble = (
  resolved: Resolved,
  options: Options,
  reach: (server: Server) => ToolProvider.ToolProvider
): Runnable => {
  const done = new Map<Resolved, Runnable>()
  const made = (one: Resolved): Runnable => {
    const before = done.get(one)
    if (before !== undefined) return before
    const { file, output, tools } = one
    const { description = "", maxSteps, onStepLimit } = file.head
    const agent = Agent.make({
      name: file.name,
      description,
      instructions: file.body,
      tools: Tools.make(...tools, ...one.asks.map((other) => Agent.asTool(made(other), described(other.file)))),
      handlers: pipelineOf(one, options, reach),
      ...(one.model !== options.choice && { model: { model: one.model.model } }),
      ...(maxSteps !== undefined && { maxSteps }),
      ...(onStepLimit !== undefined && { onStepLimit }),
      ...(output !== undefined && { output })
      // What a file names has types that do not say what it needs: it is what a `Runnable` needs, and this package gives.
    }) as Runnable
    done.set(one, agent)
    return agent
  }
  return made(resolved)
}

/** A model chooses a tool by what is said of it. */
const described = ({ head, name }: AgentFile) => ({
  description: head.description ?? `Asks the agent "${head.title ?? name}".`
})

/** The handlers of an agent, in their order. */
export const pipelineOf = (
  { file, handlers, memory, rag, servers }: Resolved,
  { approvals }: Options,
  reach: (server: Server) => ToolProvider.ToolProvider
): Pipeline.Pipeline<unknown, unknown, unknown, unknown> => {
  const deny = file.head.tools?.deny ?? []
  return Pipeline.make(
    Memory.handler(memory),
    ...(rag === undefined ? [] : [Rag.handler(rag)]),
    ...servers.map((server) => handlerOf(server, reach(server))),
    ...handlers,
    ...(deny.length === 0 ? [] : [denying(deny)]),
    approval(file.name, approvals)
  )
}

/** Takes away what handlers of the file may have added against its word. */
const denying = (deny: ReadonlyArray<string>) => {
  const isDenied = anyOf(deny)
  return Handler.make("deny", {
    wrapModelCall: (request, next) =>
      next({ ...request, tools: Tools.filter(request.tools, (tool) => !isDenied(tool.name)) })
  })
}

/** What a call says to have another mode than the agent's file, with what the file says for it. */
export const inMode = (
  file: AgentFile,
  contextMode: NonNullable<AgentFile["head"]["contextMode"]>
): Effect.Effect<Agent.CallOptions, CliError> =>
  MemoryData.decode({ ...pick(file.head, memoryKeys), contextMode }).pipe(
    Effect.map(({ mode }) => Memory.call(mode === undefined ? {} : { mode })),
    Effect.mapError(({ problems }) =>
      usage(
        [
          `The agent "${file.name}" cannot run in the mode "${contextMode}":`,
          ...problems.map((problem) => `${file.path}: ${problem}`)
        ].join("\n  ")
      )
    )
  )
