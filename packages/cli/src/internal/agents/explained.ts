/**
 * What an agent comes to: its settings and where each came from, its tools, its
 * handlers, and what a model would be told. No server is started and no model asked.
 */
import { Agent, Call, ChatModel, Errors, Pipeline, type Tool } from "@heddle/core"
import { ContextMode, Conversations, MemoryErrors, MemorySettings, type Session } from "@heddle/memory"
import { RagSettings } from "@heddle/rag"
import * as Effect from "effect/Effect"
import type { AgentFile } from "../../AgentFile.ts"
import { type CliError, usage } from "../failure.ts"
import { assemble, type Needs, pipelineOf } from "./build.ts"
import { memoryKeys } from "./parts.ts"
import { type Options, resolve, type Resolved } from "./resolve.ts"
import { type Server, unconnected } from "./servers.ts"

/** A setting. */
export interface Setting {
  /** The key of the front matter, `memory.historyLimit` for example. */
  readonly key: string
  /** Plain data; missing where nothing is said and there is no default. */
  readonly value: unknown
  /** Who has said so: the path of the agent's file, `default`, `--model`, or what else was looked at. */
  readonly from: string
}

/** A tool that the model is offered. Those of servers are known when they are asked. */
export interface ExplainedTool extends Pick<Tool.Any, "name" | "description" | "annotations"> {
  readonly from: "built-in" | "agent"
  /** Whether the person is asked before it runs. */
  readonly asks: boolean
}

/** What an agent comes to. */
export interface Explained {
  readonly file: AgentFile
  /** All of them, the model first. */
  readonly settings: ReadonlyArray<Setting>
  readonly tools: ReadonlyArray<ExplainedTool>
  readonly servers: ReadonlyArray<Pick<Server, "name" | "at" | "prefix" | "variables">>
  /** The handlers as `Pipeline.explain` tells of them. */
  readonly pipeline: string
  /** What keeps it from being run, each with the path of its file. */
  readonly problems: ReadonlyArray<string>
}

/** Tells what an agent comes to, also of one that cannot be run. */
export const explained = (file: AgentFile, options: Options): Effect.Effect<Explained> =>
  Effect.map(resolve(file, options), (resolved) => ({
    file,
    settings: settingsOf(resolved),
    tools: toolsOf(resolved, options),
    servers: resolved.servers.map(({ at, name, prefix, variables }) => ({ name, at, prefix, variables })),
    // The handlers of an agent with problems cannot all be made.
    pipeline: resolved.problems.length > 0 ? "" : Pipeline.explain(pipelineOf(resolved, options, unconnected)),
    problems: resolved.problems
  }))

const settingsOf = ({ file, memory, model, rag }: Resolved): ReadonlyArray<Setting> => {
  const { head, path } = file
  const said = (key: string, value: unknown): Setting => ({ key, value, from: path })
  const preset = (key: string, value: unknown): Setting => ({ key, value, from: "default" })
  const { maxSteps, onStepLimit } = Agent.make({ name: file.name }).options
  const own = head as Readonly<Record<string, unknown>>
  const orPreset = (key: string, value: unknown) => (own[key] === undefined ? preset(key, value) : said(key, own[key]))
  const group = (name: string, all: object, ofFile: object = {}) =>
    Object.entries(all).map(([key, value]): Setting => {
      if (Object.hasOwn(ofFile, key) && value !== undefined) return said(`${name}.${key}`, value)
      // What does a part of the work does it with the model of the agent.
      return key.endsWith("Model")
        ? { key: `${name}.${key}`, value: model.model, from: model.from }
        : preset(`${name}.${key}`, value)
    })
  return [
    { key: "model", value: model.model, from: model.from },
    orPreset("contextMode", "isolated"),
    ...Object.entries(modeDefaults(head.contextMode)).map(([key, value]) => orPreset(key, value)),
    ...memoryKeys
      .filter(
        (key) => key in head && !["contextMode", "memory"].includes(key) && !(key in modeDefaults(head.contextMode))
      )
      .map((key) => said(key, own[key])),
    ...group("memory", MemorySettings.effective(memory.settings ?? {}), head.memory),
    ...(rag === undefined ? [] : group("rag", RagSettings.effective(rag.settings ?? {}), head.rag)),
    ...(head.ragFilter === undefined ? [] : [said("ragFilter", head.ragFilter)]),
    ...(["tools", "agents", "output"] as const).flatMap((key) =>
      head[key] === undefined ? [] : [said(key, head[key])]
    ),
    ...(head.handlers === undefined ? [] : [said("handlers", head.handlers)]),
    orPreset("maxSteps", maxSteps),
    orPreset("onStepLimit", onStepLimit)
  ]
}

/** What a mode has where nothing is said, under the keys of a front matter. */
const modeDefaults = (mode: AgentFile["head"]["contextMode"]): Readonly<Record<string, unknown>> => {
  switch (mode) {
    case "summarized":
      return { summarizeAfter: ContextMode.summarized().after }
    case "selective":
      return { shareLookBack: ContextMode.selective([]).lookBack }
    case "shared":
      return { shareToolCalls: ContextMode.shared().toolCalls }
    default:
      return {}
  }
}

const toolsOf = ({ asks, tools }: Resolved, { approvals }: Options): ReadonlyArray<ExplainedTool> => [
  ...tools.map(({ annotations, description, name }) => ({
    name,
    description,
    annotations,
    from: "built-in" as const,
    asks: annotations.destructive && !approvals.isAllowed(name)
  })),
  ...asks.map(({ file }) => ({
    name: file.name,
    description: file.head.description ?? "",
    annotations: { readOnly: false, destructive: false, idempotent: false },
    from: "agent" as const,
    asks: false
  }))
]

/**
 * What a model would be asked first, if the agent was asked now: instructions with all
 * that handlers add, the history that it sees, the tools but those of servers. Nothing
 * is kept. Missing if a handler answers by itself.
 */
export const preview = (
  file: AgentFile,
  options: Options,
  prompt: string,
  callOptions?: Agent.CallOptions
): Effect.Effect<ChatModel.ModelRequest | undefined, CliError, Needs | Session.Session> =>
  Effect.gen(function* () {
    const resolved = yield* resolve(file, options)
    if (resolved.problems.length > 0) return yield* usage(resolved.problems.join("\n"))
    let seen: ChatModel.ModelRequest | undefined
    const model: ChatModel.Service = {
      call: (request) => {
        if (request.purpose !== "agent") return ChatModel.reply("(what the model makes of it)")
        seen ??= request
        return Call.fail(new Errors.ModelError({ reason: "BadRequest", message: "Nothing was asked." }))
      }
    }
    const store = yield* Conversations.Conversations
    const nothing = (operation: "append" | "replace" | "summarize" | "clear" | "remove") => () =>
      new MemoryErrors.ConversationsUnavailable({ operation, cause: "Nothing is kept of a preview." })
    const readOnly: Conversations.Service = {
      ...store,
      append: nothing("append"),
      replace: nothing("replace"),
      summarize: nothing("summarize"),
      clear: nothing("clear"),
      remove: nothing("remove")
    }
    yield* Agent.run(assemble(resolved, options, unconnected), prompt, callOptions).pipe(
      Effect.provideService(ChatModel.ChatModel, model),
      Effect.provideService(Conversations.Conversations, readOnly),
      Effect.catchAll(() => Effect.void)
    )
    return seen
  })
