/**
 * Makes an agent of its file: what the file says, with what the other packages offer.
 */
import { Agent, Pipeline } from "@heddle/core"
import { Memory, MemoryData } from "@heddle/memory"
import { Rag, RagData } from "@heddle/rag"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AgentFile } from "../../AgentFile.ts"
import type { Registry, Services as HandlerServices } from "./definition.ts"
import type { Asking } from "../Asking.ts"
import type { Environment } from "../Environment.ts"
import { type CliError, usage } from "../failure.ts"
import type { Project } from "../Project.ts"
import type { Services } from "../services.ts"
import type { Agents } from "./Agents.ts"

/** What a run of an agent of a file needs, besides a session. */
export type Needs = Services | Asking | Environment | Project | FileSystem.FileSystem | Path.Path

/** An agent that can be run, in a session. */
export type Runnable = Agent.Agent<unknown, unknown, Needs | HandlerServices>

/** What is said over the files. */
export interface Options {
  readonly agents: Agents
  readonly handlers: Registry
  /** The model of this agent and of all that it asks, over what their files say. */
  readonly model?: string
  /** Globs over the names of tools that change things and are not asked about. */
  readonly allow: ReadonlyArray<string>
}

/** Makes an agent of its file. Servers of tools are connected when a run needs them, and left when the scope closes. */
export const build = (file: AgentFile, options: Options): Effect.Effect<Runnable, CliError, Scope.Scope> =>
  Effect.gen(function* () {
    const memory = yield* MemoryData.decode(pick(file.head, Object.keys(MemoryData.MemoryData.fields)))
    const rag = yield* RagData.decode(pick(file.head, Object.keys(RagData.RagData.fields)))
    return Agent.make({
      name: file.name,
      description: file.head.description ?? "",
      instructions: file.body,
      handlers: Pipeline.make(
        Memory.handler(memory),
        Rag.handler({ ...rag, settings: { mode: "none", ...rag.settings } })
      ),
      ...(options.model !== undefined && { model: { model: options.model } })
    })
  }).pipe(Effect.mapError((error) => usage(error.message))) as Effect.Effect<Runnable, CliError, Scope.Scope>

const pick = (data: object, keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)))
