/**
 * What every command that runs agents begins with: the agents are read, the model is
 * chosen and told, and what agents run on is there.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { Tenant } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Scope as ScopeTag } from "effect/Scope"
import type { AgentFile } from "../AgentFile.ts"
import type { Agents } from "./agents/Agents.ts"
import { build, type Runnable } from "./agents/build.ts"
import { load } from "./agents/load.ts"
import type { Environment } from "./Environment.ts"
import { Extensions } from "./Extensions.ts"
import { type CliError, failed } from "./failure.ts"
import { type Choice, offline } from "./models/choose.ts"
import type { Output } from "./Output.ts"
import { Project } from "./Project.ts"
import { fleeting, layer, type Services, stored } from "./services.ts"

/** What is said of all runs of a command. */
export interface Options {
  /** `--model` */
  readonly model?: string | undefined
  /** `--allow` */
  readonly allow?: ReadonlyArray<string>
  /** Whether conversations are kept in the file, or for as long as the command runs. */
  readonly keep: boolean
}

/** What a command that runs agents has. */
export interface Running {
  readonly agents: Agents
  /** The model of agents that name none. */
  readonly choice: Choice
  /** Makes an agent that can be run. The servers of its tools are left with the scope of the command. */
  readonly build: (file: AgentFile) => Effect.Effect<Runnable, CliError>
  /** The same with the files as they are now. */
  readonly again: Effect.Effect<Running, CliError>
}

/** What a command needs that runs agents. */
export type Needs = Project | Environment | Extensions | Output | FileSystem.FileSystem | Path.Path

/** Runs a command that runs agents. The tenant is the project: what is kept is found in this one alone. */
export const running = <A, E, R>(
  options: Options,
  use: (running: Running) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | CliError, Exclude<R, Services> | Needs> =>
  Effect.scoped(
    Effect.gen(function* () {
      const project = yield* Project
      const { handlers, providers } = yield* Extensions
      const files = Effect.provide(load, yield* Effect.context<Project | FileSystem.FileSystem | Path.Path>())
      const scope = yield* Effect.scope
      const choice: Choice = { model: options.model ?? offline, from: "nothing else is there" }
      const made = (agents: Agents): Running => ({
        agents,
        again: Effect.map(files, made),
        choice,
        build: (file) =>
          build(file, {
            agents,
            handlers,
            allow: options.allow ?? [],
            ...(options.model !== undefined && { model: options.model })
          }).pipe(Effect.provideService(ScopeTag, scope))
      })
      const slash = choice.model.indexOf("/")
      const services = layer({
        stores: options.keep ? stored(project.database) : fleeting,
        defaultModel: choice.model,
        providers,
        models: [{ name: choice.model, provider: choice.model.slice(0, slash), model: choice.model.slice(slash + 1) }]
      })
      return yield* use(made(yield* files)).pipe(
        Tenant.within(project.root),
        Effect.provide(Layer.mapError(services, (error) => failed(error.message, error)))
      )
    })
  ) as Effect.Effect<A, E | CliError, Exclude<R, Services> | Needs>
