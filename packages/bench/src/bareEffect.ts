/**
 * The loop that one would write by hand with Effect: hooks in arrays, wraps
 * composed once per agent, a history that is copied and never changed, tools
 * looked up by name, arguments decoded by a schema built once.
 *
 * What it leaves out, and the agent does: streaming and events, scopes of a run,
 * naming the handler that failed, `finish`, concurrent tool calls, tool errors by
 * kind, instructions by section.
 */
import type { ChatModel, History, Message } from "@heddle/core"
import { Context, Effect, Either, ParseResult, Runtime, Schema } from "effect"
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

export interface Tool {
  readonly name: string
  readonly description: string
  readonly decode: (u: unknown) => Either.Either<{ readonly a: number; readonly b: number }, ParseResult.ParseError>
  readonly execute: (args: { readonly a: number; readonly b: number }) => Effect.Effect<string>
}
export interface Run {
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
  readonly history: History.History
  readonly input: Message.UserMessage
}
export interface Request {
  readonly instructions: string
  readonly history: History.History
  readonly tools: ReadonlyMap<string, Tool>
  readonly toolChoice: ChatModel.ToolChoice
  readonly options: ChatModel.ModelOptions
}
export interface ToolRequest {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  readonly tool: Tool | undefined
}
type Next<In, Out, R = Model> = (input: In) => Effect.Effect<Out, Failed, R>
type Wrap<In, Out, R = Model> = (input: In, next: Next<In, Out, R>) => Effect.Effect<Out, Failed, R>

export interface Hooks {
  readonly wrapAgent: Wrap<Run, Outcome>
  readonly beforeAgent: (run: Run) => Effect.Effect<Run>
  readonly beforeModel: (history: History.History) => Effect.Effect<History.History>
  readonly wrapModelCall: Wrap<Request, ChatModel.ModelReply>
  readonly afterModel: (history: History.History) => Effect.Effect<History.History>
  readonly wrapToolCall: Wrap<ToolRequest, Message.ToolOutcome, never>
}

export class Failed {
  readonly _tag = "Failed"
}

export class Model extends Context.Tag("Model")<
  Model,
  { readonly call: (request: Request) => Effect.Effect<ChatModel.ModelReply, Failed> }
>() {}

const decode = Schema.decodeUnknownEither(Schema.Struct({ a: Schema.Number, b: Schema.Number }), { errors: "all" })

export const tool: Tool = {
  name: toolName,
  description: toolDescription,
  decode,
  execute: ({ a, b }) => Effect.succeed(String(a + b))
}

export interface Agent {
  readonly name: string
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
  readonly maxSteps: number
  readonly run: (run: Run) => Effect.Effect<Outcome, Failed, Model>
}

const compose = <In, Out, R>(wraps: ReadonlyArray<Wrap<In, Out, R>>, base: Next<In, Out, R>): Next<In, Out, R> =>
  wraps.reduceRight<Next<In, Out, R>>((next, wrap) => (input) => wrap(input, next), base)

const runTool = ({ arguments: args, name, tool }: ToolRequest): Effect.Effect<Message.ToolOutcome> => {
  if (tool === undefined) return Effect.succeed({ _tag: "Failed", reason: `There is no tool named ${name}.` })
  const decoded = tool.decode(args)
  return Either.isLeft(decoded)
    ? Effect.succeed({ _tag: "Failed", reason: ParseResult.TreeFormatter.formatErrorSync(decoded.left) })
    : Effect.map(tool.execute(decoded.right), (result): Message.ToolOutcome => ({ _tag: "Succeeded", result }))
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
    (request) => Effect.flatMap(Model, (model) => model.call(request))
  )

  const loop = (given: Run): Effect.Effect<Outcome, Failed, Model> =>
    Effect.gen(function* () {
      let run = given
      for (const hook of beforeAgent) run = yield* hook(run)
      let history: History.History = [...run.history, run.input]
      let usage: ChatModel.Usage = { inputTokens: 0, outputTokens: 0 }
      for (let steps = 1; steps <= maxSteps; steps++) {
        for (const hook of beforeModel) history = yield* hook(history)
        const request: Request = {
          instructions: run.instructions,
          history,
          tools: run.tools,
          toolChoice: "auto",
          options: {}
        }
        const reply = yield* callModel(request)
        usage = {
          inputTokens: usage.inputTokens + reply.usage.inputTokens,
          outputTokens: usage.outputTokens + reply.usage.outputTokens
        }
        let message: Message.AssistantMessage = { role: "assistant", content: reply.content }
        if (afterModel.length > 0) {
          let after: History.History = [...history, message]
          for (const hook of afterModel) after = yield* hook(after)
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
            content.push({
              ...part,
              outcome: yield* callTool({ id, name, arguments: args, tool: run.tools.get(name) })
            })
          }
        }
        if (!called) return { text: textOf(content), history: [...history, message], steps, usage }
        history = [...history, { role: "assistant", content }]
      }
      return yield* Effect.fail(new Failed())
    })

  const run = compose(
    hooks.map((hook) => hook.wrapAgent),
    loop
  )
  return { name: "calculator", instructions, tools: new Map([[tool.name, tool]]), maxSteps, run }
}

/** Runs an agent. */
export const run = (
  agent: Agent,
  input: string,
  options?: { readonly history?: History.History; readonly instructions?: string }
): Effect.Effect<Outcome, Failed, Model> =>
  agent.run({
    instructions: options?.instructions ?? agent.instructions,
    tools: agent.tools,
    history: options?.history ?? [],
    input: { role: "user", content: [{ _tag: "Text", text: input }] }
  })

/** The same hooks as the handlers of the agent have. */
export const hooks = (seen: Seen, i: number): Hooks => ({
  wrapAgent: (run, next) => {
    seen.wrapAgent++
    return Effect.map(next(run), (outcome) => {
      seen.leftAgent++
      return outcome
    })
  },
  beforeAgent: (run) =>
    Effect.sync(() => {
      seen.beforeAgent++
      return { ...run, instructions: `${run.instructions}\n\n${added}` }
    }),
  beforeModel: (history) =>
    Effect.sync(() => {
      seen.beforeModel++
      return history
    }),
  wrapModelCall: (request, next) => {
    seen.wrapModelCall++
    return Effect.map(next({ ...request, options: { ...request.options, seed: i } }), (reply) => {
      seen.leftModelCall++
      return reply
    })
  },
  afterModel: (history) =>
    Effect.sync(() => {
      seen.afterModel++
      return history
    }),
  wrapToolCall: (request, next) => {
    seen.wrapToolCall++
    return Effect.map(next(request), (outcome) => {
      seen.leftToolCall++
      return outcome
    })
  }
})

export const agent = (seen: Seen, handlers: number): Agent =>
  make(Array.from({ length: handlers }, (_, i) => hooks(seen, i)))

const answering = Effect.succeed(answerReply)
const calling = Effect.succeed(toolReply)

/** A model that calls the tool so many times and then answers, at once. */
export const model = (seen: Seen, turns: number): Context.Tag.Service<Model> => ({
  call: (request) => {
    seen.instructions += request.instructions.length
    return request.history.length > turns ? answering : calling
  }
})

/** Runs on a runtime that holds the model, as an application does. */
export const runner = (model: Context.Tag.Service<Model>) =>
  Runtime.runPromise(Runtime.updateContext(Runtime.defaultRuntime, (context) => Context.add(context, Model, model)))
