/**
 * The loop that one would write by hand with promises: as the bare Effect loop,
 * but hooks, model and tool are async functions, the model is an argument, and
 * arguments are checked by hand.
 *
 * What it leaves out beyond that: interruption, typed errors, dependencies.
 */
import type { ChatModel, History, Message } from "@heddle/core"
import {
  added,
  answerReply,
  instructions,
  type Outcome,
  type Seen,
  toolDescription,
  toolName,
  toolReply
} from "./work.ts"

interface Arguments {
  readonly a: number
  readonly b: number
}
export interface Tool {
  readonly name: string
  readonly description: string
  readonly accepts: (u: unknown) => u is Arguments
  readonly execute: (args: Arguments) => Promise<string>
}
export interface Run {
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
  readonly history: History.History
  readonly input: Message.UserMessage
  readonly model: Model
}
export interface Request {
  readonly instructions: string
  readonly history: History.History
  readonly tools: ReadonlyMap<string, Tool>
  readonly toolChoice: ChatModel.ToolChoice
  readonly options: ChatModel.ModelOptions
  readonly model: Model
}
export interface ToolRequest {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  readonly tool: Tool | undefined
}
export type Model = (request: Request) => Promise<ChatModel.ModelReply>
type Next<In, Out> = (input: In) => Promise<Out>
type Wrap<In, Out> = (input: In, next: Next<In, Out>) => Promise<Out>

export interface Hooks {
  readonly wrapAgent: Wrap<Run, Outcome>
  readonly beforeAgent: (run: Run) => Promise<Run>
  readonly beforeModel: (history: History.History) => Promise<History.History>
  readonly wrapModelCall: Wrap<Request, ChatModel.ModelReply>
  readonly afterModel: (history: History.History) => Promise<History.History>
  readonly wrapToolCall: Wrap<ToolRequest, Message.ToolOutcome>
}

export const tool: Tool = {
  name: toolName,
  description: toolDescription,
  accepts: (u): u is Arguments =>
    typeof u === "object" && u !== null && "a" in u && typeof u.a === "number" && "b" in u && typeof u.b === "number",
  execute: async ({ a, b }) => String(a + b)
}

export interface Agent {
  readonly name: string
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
  readonly maxSteps: number
  readonly run: (run: Run) => Promise<Outcome>
}

const compose = <In, Out>(wraps: ReadonlyArray<Wrap<In, Out>>, base: Next<In, Out>): Next<In, Out> =>
  wraps.reduceRight<Next<In, Out>>((next, wrap) => (input) => wrap(input, next), base)

const runTool = async ({ arguments: args, name, tool }: ToolRequest): Promise<Message.ToolOutcome> => {
  if (tool === undefined) return { _tag: "Failed", reason: `There is no tool named ${name}.` }
  if (!tool.accepts(args)) return { _tag: "Failed", reason: "Expected two numbers, a and b." }
  return { _tag: "Succeeded", result: await tool.execute(args) }
}

const textOf = (content: ChatModel.ModelReply["content"]) => {
  let text = ""
  for (const part of content) if (part._tag === "Text") text += part.text
  return text
}

export const make = (hooks: ReadonlyArray<Hooks>, maxSteps = 1_000): Agent => {
  const beforeAgent = hooks.map((hook) => hook.beforeAgent)
  const beforeModel = hooks.map((hook) => hook.beforeModel)
  const afterModel = hooks.map((hook) => hook.afterModel)
  const callTool = compose(
    hooks.map((hook) => hook.wrapToolCall),
    runTool
  )
  const callModel = compose(
    hooks.map((hook) => hook.wrapModelCall),
    (request) => request.model(request)
  )

  const loop = async (given: Run): Promise<Outcome> => {
    let run = given
    for (const hook of beforeAgent) run = await hook(run)
    let history: History.History = [...run.history, run.input]
    let usage: ChatModel.Usage = { inputTokens: 0, outputTokens: 0 }
    for (let steps = 1; steps <= maxSteps; steps++) {
      for (const hook of beforeModel) history = await hook(history)
      const reply = await callModel({
        instructions: run.instructions,
        history,
        tools: run.tools,
        toolChoice: "auto",
        options: {},
        model: run.model
      })
      usage = {
        inputTokens: usage.inputTokens + reply.usage.inputTokens,
        outputTokens: usage.outputTokens + reply.usage.outputTokens
      }
      let message: Message.AssistantMessage = { role: "assistant", content: reply.content }
      if (afterModel.length > 0) {
        let after: History.History = [...history, message]
        for (const hook of afterModel) after = await hook(after)
        const last = after[after.length - 1]
        if (last?.role === "assistant") {
          history = after.slice(0, -1)
          message = last
        }
      }
      let called = false
      const content: Array<Message.AssistantMessage["content"][number]> = []
      for (const part of message.content) {
        if (part._tag !== "ToolCall") content.push(part)
        else {
          called = true
          const { arguments: args, id, name } = part
          content.push({ ...part, outcome: await callTool({ id, name, arguments: args, tool: run.tools.get(name) }) })
        }
      }
      if (!called) return { text: textOf(content), history: [...history, message], steps, usage }
      history = [...history, { role: "assistant", content }]
    }
    throw new Error("Too many steps.")
  }

  const run = compose(
    hooks.map((hook) => hook.wrapAgent),
    loop
  )
  return { name: "calculator", instructions, tools: new Map([[tool.name, tool]]), maxSteps, run }
}

/** Runs an agent. */
export const run = (
  agent: Agent,
  model: Model,
  input: string,
  options?: { readonly history?: History.History; readonly instructions?: string }
): Promise<Outcome> =>
  agent.run({
    instructions: options?.instructions ?? agent.instructions,
    tools: agent.tools,
    history: options?.history ?? [],
    input: { role: "user", content: [{ _tag: "Text", text: input }] },
    model
  })

/** The same hooks as the handlers of the agent have. */
export const hooks = (seen: Seen, i: number): Hooks => ({
  wrapAgent: async (run, next) => {
    seen.wrapAgent++
    const outcome = await next(run)
    seen.leftAgent++
    return outcome
  },
  beforeAgent: async (run) => {
    seen.beforeAgent++
    return { ...run, instructions: `${run.instructions}\n\n${added}` }
  },
  beforeModel: async (history) => {
    seen.beforeModel++
    return history
  },
  wrapModelCall: async (request, next) => {
    seen.wrapModelCall++
    const reply = await next({ ...request, options: { ...request.options, seed: i } })
    seen.leftModelCall++
    return reply
  },
  afterModel: async (history) => {
    seen.afterModel++
    return history
  },
  wrapToolCall: async (request, next) => {
    seen.wrapToolCall++
    const outcome = await next(request)
    seen.leftToolCall++
    return outcome
  }
})

export const agent = (seen: Seen, handlers: number): Agent =>
  make(Array.from({ length: handlers }, (_, i) => hooks(seen, i)))

/** A model that calls the tool so many times and then answers, at once. */
export const model =
  (seen: Seen, turns: number): Model =>
  async (request) => {
    seen.instructions += request.instructions.length
    return request.history.length > turns ? answerReply : toolReply
  }
