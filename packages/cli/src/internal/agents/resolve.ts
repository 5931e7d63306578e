/**
 * What an agent is made of, from its file and from what is said over it. Nothing is
 * started and nothing is asked, and all that is wrong is found at once.
 */
import type { Handler, Tool } from "@heddle/core"
import { quoted, unknownName } from "@heddle/core/names"
import type { Memory } from "@heddle/memory"
import type { Rag } from "@heddle/rag"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { AgentFile } from "../../AgentFile.ts"
import type { Service as EnvironmentService } from "../Environment.ts"
import type { Choice, Models } from "../models/choose.ts"
import type { Agents } from "./Agents.ts"
import type { Approvals } from "./approval.ts"
import type { Registry } from "./definition.ts"
import { outputOf } from "./output.ts"
import { handlersOf, memoryOf, modelOf, offering, orTold, ragOf, toolsOf, type Wrong, wrongModels } from "./parts.ts"
import { type Server, serverOf } from "./servers.ts"

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
    const { head, path } = file
    const problems: Array<string> = []
    const wrong = (...found: ReadonlyArray<string>) => void problems.push(...found.map((one) => `${path}: ${one}`))

    const model = modelOf(file, options)
    problems.push(...wrongModels(file, model, options.models))
    const memory = yield* memoryOf(file, model, wrong)
    const rag = yield* ragOf(file, model, wrong)
    const servers = serversOf(file, options, wrong)
    const asks = yield* asksOf(file, place, wrong)
    const tools = toolsOf(head)
    for (const { name } of tools.filter((tool) => asks.some((other) => other.file.name === tool.name))) {
      wrong(`agents: the agent ${quoted(name)} has the name of a built-in tool; deny that tool, or rename the agent`)
    }
    const handlers = handlersOf(head, options.handlers, wrong)
    const output =
      head.output && (yield* orTold(outputOf(head.output), undefined, (problem) => wrong(`output: ${problem}`)))
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
    done.set(file.name, resolved)
    return resolved
  })

const serversOf = ({ head }: AgentFile, { environment }: Options, wrong: Wrong): ReadonlyArray<Server> =>
  Object.entries(head.mcp ?? {}).flatMap(([name, said]) => {
    const made = serverOf(name, said, environment, offering(head))
    if ("prefix" in made) return [made]
    wrong(...made)
    return []
  })

/** The agents that an agent can ask. */
const asksOf = (
  file: AgentFile,
  { above, done, options }: Place,
  wrong: Wrong
): Effect.Effect<ReadonlyArray<Resolved>> =>
  Effect.gen(function* () {
    const { agents } = options
    const path = [...above, file.name]
    const offers = offering(file.head)
    const asks: Array<Resolved> = []
    for (const name of new Set(file.head.agents)) {
      const other = agents.all.get(name)
      if (path.includes(name)) {
        wrong(`agents: they ask each other in a circle: ${[...path.slice(path.indexOf(name)), name].join(" → ")}`)
      } else if (other !== undefined) {
        const resolved = yield* resolveIn(other, { options, done, above: path })
        if (offers(name)) asks.push(resolved)
      } else if (agents.broken.has(name)) {
        wrong(`agents: the agent ${quoted(name)} has errors, in ${agents.broken.get(name)}`)
      } else wrong(`agents: ${unknownName("agent", name, [...agents.all.keys()])}`)
    }
    return asks
  })
