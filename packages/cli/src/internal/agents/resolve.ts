/**
 * What an agent is made of, from its file and from what is said over it. Nothing is
 * started and nothing is asked, and all that is wrong is found at once.
 */
import { Handler, Tool } from "@heddle/core"
import { quoted, unknownName } from "@heddle/core/names"
import { problems as problemsOf } from "@heddle/core/settings"
import { Memory, MemoryData } from "@heddle/memory"
import { Rag, RagData } from "@heddle/rag"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { AgentFile } from "../../AgentFile.ts"
import { describe } from "../failure.ts"
import type { Choice, Models } from "../models/choose.ts"
import type { Service as EnvironmentService } from "../Environment.ts"
import { builtIn } from "../tools/builtIn.ts"
import type { Agents } from "./Agents.ts"
import type { Approvals } from "./approval.ts"
import type { Definition, Registry } from "./definition.ts"
import { outputOf } from "./output.ts"
import { anyOf, type Server, serverOf } from "./servers.ts"

/** What is said over the files. */
export interface Options {
  readonly agents: Agents
  readonly handlers: Registry
  readonly models: Models
  /** The model of this agent and of all that it asks, over what their files say. */
  readonly model?: string
  /** The model of agents that name none. */
  readonly choice: Choice
  readonly approvals: Approvals
  readonly environment: Pick<EnvironmentService, "variables">
  /** Where servers that are programs run. */
  readonly cwd: string
}

/** What an agent is made of. */
export interface Resolved {
  readonly file: AgentFile
  readonly model: Choice
  readonly memory: Memory.CallOptions
  /** Missing if the agent searches nothing. */
  readonly rag?: Rag.CallOptions
  readonly tools: ReadonlyArray<Tool.Any>
  readonly servers: ReadonlyArray<Server>
  /** The agents that it can ask. */
  readonly asks: ReadonlyArray<Resolved>
  readonly handlers: ReadonlyArray<Handler.Any>
  readonly output?: Schema.Schema<unknown>
  /** What is wrong, each with the path of its file. An agent with problems cannot be run. */
  readonly problems: ReadonlyArray<string>
}

/** Of some data what stands under some keys. */
export const pick = (data: object, keys: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => keys.includes(key)))

/** The keys of memory in a front matter. */
export const memoryKeys = Object.keys(MemoryData.MemoryData.fields)
const ragKeys = Object.keys(RagData.RagData.fields)

/** Resolves an agent, and each that it asks once. */
export const resolve = (file: AgentFile, options: Options): Effect.Effect<Resolved> =>
  resolveIn(file, { options, done: new Map(), above: [] })

interface Place {
  readonly options: Options
  readonly done: Map<string, Resolved>
  /** The agents that ask for this one, from the first on. */
  readonly above: ReadonlyArray<string>
}

const resolveIn = (file: AgentFile, place: Place): Effect.Effect<Resolved> =>
  Effect.gen(function* () {
    const { done, options } = place
    const before = done.get(file.name)
    if (before !== undefined) return before
    const { head, name, path } = file
    const problems: Array<string> = []
    const wrong = (...messages: ReadonlyArray<string>) =>
      void problems.push(...messages.map((message) => `${path}: ${message}`))

    const model = modelOf(file, options)
    const overridden = options.model !== undefined
    const memory = yield* MemoryData.decode(pick(head, memoryKeys)).pipe(
      // `--model` is for all that is asked of a model.
      Effect.map(({ settings, ...rest }) => ({
        ...rest,
        ...(settings && { settings: overridden ? without(settings, "summaryModel") : settings })
      })),
      Effect.catchAll((error) =>
        Effect.as(
          Effect.sync(() => wrong(...error.problems)),
          {}
        )
      )
    )
    const rag = ragKeys.some((key) => key in head)
      ? yield* RagData.decode(pick(head, ragKeys)).pipe(
          Effect.map(({ settings, ...rest }) => ({
            ...rest,
            ...(settings && { settings: overridden ? without(settings, "notesModel") : settings })
          })),
          Effect.catchAll((error) =>
            Effect.as(
              Effect.sync(() => wrong(...error.problems)),
              {}
            )
          )
        )
      : undefined

    const named = [
      ["model", head.model],
      ["memory.summaryModel", head.memory?.summaryModel],
      ["rag.notesModel", head.rag?.notesModel]
    ] as const
    for (const [key, said] of overridden ? [] : named) {
      if (said === undefined) continue
      const entry = options.models.entry(said)
      if (Either.isLeft(entry)) wrong(`${key}: ${entry.left}`)
    }
    if (model.from !== path) {
      const entry = options.models.entry(model.model)
      if (Either.isLeft(entry)) problems.push(`${model.from}: ${entry.left}`)
    }

    const isAllowed = head.tools?.allow && anyOf(head.tools.allow)
    const isDenied = anyOf(head.tools?.deny ?? [])
    const offers = (tool: string) => !isDenied(tool) && (isAllowed?.(tool) ?? true)
    const servers = Object.entries(head.mcp ?? {}).flatMap(([server, said]) => {
      const made = serverOf(server, said, options.environment, offers)
      if ("prefix" in made) return [made]
      wrong(...made)
      return []
    })
    const asks: Array<Resolved> = []
    for (const asked of new Set(head.agents)) {
      const other = yield* askedBy(file, asked, place)
      if (typeof other === "string") wrong(`agents: ${other}`)
      else if (offers(asked)) asks.push(other)
    }
    const tools = isAllowed === undefined ? [] : builtIn.filter((tool) => offers(tool.name))
    for (const tool of tools.filter((tool) => asks.some((other) => other.file.name === tool.name))) {
      wrong(
        `agents: the agent ${quoted(tool.name)} has the name of a built-in tool; deny that tool or rename the agent`
      )
    }

    const handlers = (head.handlers ?? []).flatMap((use, i) => {
      const made = handlerOf(use, `handlers[${i}]`, options.handlers)
      if (Handler.isHandler(made)) return [made]
      wrong(...made)
      return []
    })
    for (const make of [() => Memory.handler(memory), () => rag && Rag.handler(rag)]) {
      try {
        if (problems.length === 0) make()
      } catch (error) {
        wrong(describe(error))
      }
    }
    const output =
      head.output === undefined
        ? undefined
        : yield* Effect.catchAll(outputOf(head.output), (why) =>
            Effect.as(
              Effect.sync(() => wrong(`output: ${why}`)),
              undefined
            )
          )
    const resolved: Resolved = {
      file,
      model,
      memory,
      ...(rag !== undefined && { rag }),
      tools,
      servers,
      asks,
      handlers,
      ...(output !== undefined && { output }),
      problems: [...new Set([...problems, ...asks.flatMap((other) => other.problems)])]
    }
    done.set(name, resolved)
    return resolved
  })

const without = <A extends object, K extends keyof A>(record: A, key: K): Omit<A, K> => {
  const { [key]: _, ...rest } = record
  return rest
}

const modelOf = ({ head, path }: AgentFile, { choice, model }: Options): Choice =>
  model !== undefined
    ? { model, from: "--model" }
    : head.model !== undefined
      ? { model: head.model, from: path }
      : choice

/** An agent that another asks, or what is wrong with that. */
const askedBy = (file: AgentFile, asked: string, place: Place): Effect.Effect<Resolved | string> => {
  const { above, options } = place
  const { agents } = options
  const path = [...above, file.name]
  if (path.includes(asked)) {
    const circle = [...path.slice(path.indexOf(asked)), asked].join(" → ")
    return Effect.succeed(`they ask each other in a circle: ${circle}`)
  }
  const other = agents.all.get(asked)
  if (other !== undefined) return resolveIn(other, { ...place, above: path })
  const broken = agents.broken.get(asked)
  return Effect.succeed(
    broken === undefined
      ? unknownName("agent", asked, [...agents.all.keys()])
      : `the agent ${quoted(asked)} has errors, in ${broken}`
  )
}

type Use = NonNullable<AgentFile["head"]["handlers"]>[number]

/** A handler of the registry with its options, or all that is wrong with them. */
const handlerOf = (use: Use, at: string, registry: Registry): Handler.Any | ReadonlyArray<string> => {
  const { name, options = {} } = typeof use === "string" ? { name: use } : use
  if (!Object.hasOwn(registry, name)) return [`${at}: ${unknownName("handler", name, Object.keys(registry))}`]
  const { make, options: schema } = registry[name] as Definition
  // `define` has taken the schema and the function together: what the one decodes the other takes.
  const options_ = schema as unknown as Schema.Schema<unknown>
  const found = problemsOf(options_, options, `${at}.options`)
  if (found.length > 0) return found
  try {
    return make(Schema.decodeUnknownSync(options_)(options) as never)
  } catch (error) {
    return [`${at}: ${describe(error)}`]
  }
}
