/** The agent of `@heddle/core`, as a user writes it. */
import { Agent, Call, ChatModel, Handler, Instructions, Pipeline, Tool, Tools } from "@heddle/core"
import { Context, Effect, Runtime, Schema } from "effect"
import { added, answerReply, instructions, type Seen, toolDescription, toolName, toolReply } from "./work.ts"

export const tool = Tool.make({
  name: toolName,
  description: toolDescription,
  parameters: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  execute: ({ a, b }) => Effect.succeed(String(a + b))
})

/** A handler that uses every hook: before and after in an Effect, wraps that do a bit before and a bit after. */
export const handler = (seen: Seen, i: number) =>
  Handler.make(`handler-${i}`, {
    wrapAgent: (run, next) => {
      seen.wrapAgent++
      return Call.tapValue(next(run), () => {
        seen.leftAgent++
      })
    },
    beforeAgent: (run) =>
      Effect.sync(() => {
        seen.beforeAgent++
        return { ...run, instructions: Instructions.append(run.instructions, added) }
      }),
    beforeModel: (history) =>
      Effect.sync(() => {
        seen.beforeModel++
        return history
      }),
    wrapModelCall: (request, next) => {
      seen.wrapModelCall++
      return Call.tapValue(next({ ...request, options: { ...request.options, seed: i } }), () => {
        seen.leftModelCall++
      })
    },
    afterModel: (history) =>
      Effect.sync(() => {
        seen.afterModel++
        return history
      }),
    wrapToolCall: (request, next) => {
      seen.wrapToolCall++
      return Call.tapValue(next(request), () => {
        seen.leftToolCall++
      })
    }
  })

/** An agent with so many handlers. */
export const agent = (seen: Seen, handlers: number) =>
  Agent.make({
    name: "calculator",
    instructions,
    tools: Tools.make(tool),
    maxSteps: 1_000,
    handlers: Pipeline.make(...Array.from({ length: handlers }, (_, i) => handler(seen, i)))
  })

const answering = Call.succeed(answerReply)
const calling = Call.succeed(toolReply)

/** A model that calls the tool so many times and then answers, at once. */
export const model = (seen: Seen, turns: number): Context.Tag.Service<ChatModel.ChatModel> => ({
  call: (request) => {
    seen.instructions += Instructions.render(request.instructions).length
    return request.history.length > turns ? answering : calling
  }
})

/** Runs on a runtime that holds the model, as an application does. */
export const runner = (model: Context.Tag.Service<ChatModel.ChatModel>) =>
  Runtime.runPromise(
    Runtime.updateContext(Runtime.defaultRuntime, (context) => Context.add(context, ChatModel.ChatModel, model))
  )
