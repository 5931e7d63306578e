/**
 * What every command that runs agents begins with: the agents are read, the model is
 * chosen and told, and what agents run on is there.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { Tenant } from "@heddle/core"
import { ModelRegistry } from "@heddle/models"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { Scope as ScopeTag, type Scope } from "effect/Scope"
import type { AgentFile } from "../AgentFile.ts"
import type { Agents } from "./agents/Agents.ts"
import { approvals } from "./agents/approval.ts"
import { build, type Options as BuildOptions, type Runnable } from "./agents/build.ts"
import { load } from "./agents/load.ts"
import { Asking } from "./Asking.ts"
import { Environment } from "./Environment.ts"
import { Extensions } from "./Extensions.ts"
import { type CliError, failed, usage } from "./failure.ts"
import { type Choice, choose, models, nothing } from "./models/choose.ts"
import { Output } from "./Output.ts"
import { Project } from "./Project.ts"
import { fleeting, layer, searching, type Services, stored } from "./services.ts"
import { screenOf } from "./show/Screen.ts"
import { paint } from "./text.ts"

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
  /** What agents are made with: for `explained` and `preview`. */
  readonly options: BuildOptions
  /** Makes an agent that can be run. The servers of its tools are left with a scope: that of the command unless said. */
  readonly build: (file: AgentFile, scope?: Scope) => Effect.Effect<Runnable, CliError>
  /** Has the models of these names answer in runs, besides those that agents name. Fails if one makes no sense. */
  readonly withModels: (names: Iterable<string>) => Effect.Effect<void, CliError, ModelRegistry.ModelRegistry>
  /** The same with the files as they are now. What was approved stays approved. */
  readonly again: Effect.Effect<Running, CliError, ModelRegistry.ModelRegistry>
}

/** What a command needs that runs agents. */
export type Needs = Project | Environment | Asking | Extensions | Output | FileSystem.FileSystem | Path.Path

/** Runs a command that runs agents. The tenant is the project: what is kept is found in this one alone. */
export const running = <A, E, R>(
  options: Options,
  use: (running: Running) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | CliError, Exclude<R, Services> | Needs> =>
  Effect.scoped(
    Effect.gen(function* () {
      const project = yield* Project
      const environment = yield* Environment
      const { handlers, providers } = yield* Extensions
      const output = yield* Output
      const { err } = output
      const asking = yield* Asking
      const files = Effect.provide(
        load,
        yield* Effect.context<Project | Extensions | FileSystem.FileSystem | Path.Path>()
      )
      const first = yield* files
      const scope = yield* Effect.scope
      const choice = yield* choose(options.model)
      const known = models(project.config, providers, environment)
      let isTold = choice.from !== nothing
      /** Says that the offline model answers, where nobody has asked for it. */
      const tell = Effect.suspend(() => {
        if (isTold) return Effect.void
        isTold = true
        const line = `The offline model answers, since ${choice.from}: it quotes what it finds. See heddle doctor.`
        return err.write(`${paint(err, "dim", line)}\n`)
      })
      const general: Omit<BuildOptions, "agents"> = {
        handlers,
        models: known,
        choice,
        approvals: approvals([...(project.config.allow ?? []), ...(options.allow ?? [])]),
        environment,
        cwd: project.root,
        ...(options.model !== undefined && { model: options.model })
      }
      const made = (agents: Agents): Running => {
        const options: BuildOptions = { ...general, agents }
        return {
          agents,
          choice,
          options,
          build: (file, within = scope) =>
            build(file, options).pipe(
              Effect.provideService(ScopeTag, within),
              Effect.zipLeft(file.head.model === undefined ? tell : Effect.void)
            ),
          withModels: (names) =>
            Effect.gen(function* () {
              const registry = yield* ModelRegistry.ModelRegistry
              for (const name of names) {
                const entry = known.entry(name)
                if (Either.isLeft(entry)) return yield* usage(entry.left)
                yield* Effect.mapError(registry.set(entry.right), (error) => usage(error.message))
              }
            }),
          again: Effect.gen(function* () {
            const registry = yield* ModelRegistry.ModelRegistry
            const agents = yield* files
            const there = new Set((yield* registry.list()).map(({ name }) => name))
            for (const entry of known.entries(modelsOf(agents))) {
              // What is wrong with it is told of the agent that names it.
              if (!there.has(entry.name)) yield* Effect.ignore(registry.set(entry))
            }
            return made(agents)
          })
        }
      }
      const services = layer({
        stores: options.keep
          ? stored(project.database)
          : // Nothing is kept of what is said, but what was indexed is there.
            Layer.merge(fleeting, searching(project.database)),
        defaultModel: choice.model,
        providers,
        models: known.entries([choice.model, ...modelsOf(first)])
      })
      const variables = new Map(
        Object.entries(environment.variables).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
      )
      return yield* use(made(first)).pipe(
        Tenant.within(project.root),
        // What is shown of a run must not spoil a question, nor the other way round.
        Effect.provideService(Asking, { ask: (question) => screenOf(output).alone(asking.ask(question)) }),
        Effect.provide(
          Layer.mapError(services, (error) =>
            error._tag === "ModelUnavailable"
              ? usage(`In the configuration: ${error.message}`)
              : failed(error.message, error)
          )
        ),
        Effect.withConfigProvider(ConfigProvider.fromMap(variables))
      )
    })
    // `use` is given what `Services` are; the compiler does not see that the rest of `R` is left as it is.
  ) as Effect.Effect<A, E | CliError, Exclude<R, Services> | Needs>

/** The models that agents name. */
const modelsOf = ({ all }: Agents): ReadonlyArray<string> =>
  [...all.values()].flatMap(({ head }) =>
    [head.model, head.memory?.summaryModel, head.rag?.notesModel].flatMap((name) => name ?? [])
  )
