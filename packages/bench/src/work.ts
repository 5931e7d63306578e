/**
 * The work that all subjects do: what the model says, what the tool gives, and
 * what a run must have come to. The bare loops take from the core its types of
 * plain data and nothing that runs.
 */
import { isDeepStrictEqual } from "node:util"
import type { ChatModel, History, Message } from "@heddle/core"
import { assert } from "./measure.ts"

export const question = "What is 1 + 2?"
export const answer = "It is 3."
export const instructions = "You calculate. Use the tool."
export const added = "Be exact."
export const toolName = "add"
export const toolDescription = "Adds two numbers."

/** The reply that ends a run. */
export const answerReply: ChatModel.ModelReply = {
  content: [{ _tag: "Text", text: answer }],
  finishReason: "stop",
  usage: { inputTokens: 10, outputTokens: 2 }
}

/** The reply that calls the tool. */
export const toolReply: ChatModel.ModelReply = {
  content: [{ _tag: "ToolCall", id: "call", name: toolName, arguments: { a: 1, b: 2 }, outcome: { _tag: "Pending" } }],
  finishReason: "tool-calls",
  usage: { inputTokens: 20, outputTokens: 4 }
}

/** What a subject's run ends with. */
export interface Outcome {
  readonly text: string
  readonly history: History.History
  readonly steps: number
  readonly usage: ChatModel.Usage
}

const assistant = (reply: ChatModel.ModelReply): Message.Message => ({ role: "assistant", content: reply.content })

/** The history that a run of so many tool calls must have. */
const expectedHistory = (turns: number): History.History => [
  { role: "user", content: [{ _tag: "Text", text: question }] },
  ...Array.from({ length: turns }, (): Message.Message => ({
    role: "assistant",
    content: [
      {
        _tag: "ToolCall",
        id: "call",
        name: toolName,
        arguments: { a: 1, b: 2 },
        outcome: { _tag: "Succeeded", result: "3" }
      }
    ]
  })),
  assistant(answerReply)
]

/** How often each hook was entered, and the wraps left; and how much text the model was given. */
export interface Seen {
  wrapAgent: number
  leftAgent: number
  beforeAgent: number
  beforeModel: number
  wrapModelCall: number
  leftModelCall: number
  afterModel: number
  wrapToolCall: number
  leftToolCall: number
  instructions: number
}

export const nothingSeen = (): Seen => ({
  wrapAgent: 0,
  leftAgent: 0,
  beforeAgent: 0,
  beforeModel: 0,
  wrapModelCall: 0,
  leftModelCall: 0,
  afterModel: 0,
  wrapToolCall: 0,
  leftToolCall: 0,
  instructions: 0
})

/** Checks the whole of one run, hooks and all. */
export const checkRun = (who: string, outcome: Outcome, seen: Seen, turns: number, handlers: number) => {
  const models = turns + 1
  const text = instructions.length + handlers * (2 + added.length)
  assert(outcome.text === answer && outcome.steps === models, `${who} answers after ${models} model calls`)
  assert(isDeepStrictEqual(outcome.history, expectedHistory(turns)), `${who} keeps the whole history`)
  assert(
    isDeepStrictEqual(outcome.usage, { inputTokens: 10 + 20 * turns, outputTokens: 2 + 4 * turns }),
    `${who} adds up the usage`
  )
  assert(
    isDeepStrictEqual(seen, {
      wrapAgent: handlers,
      leftAgent: handlers,
      beforeAgent: handlers,
      beforeModel: handlers * models,
      wrapModelCall: handlers * models,
      leftModelCall: handlers * models,
      afterModel: handlers * models,
      wrapToolCall: handlers * turns,
      leftToolCall: handlers * turns,
      instructions: text * models
    }),
    `${who} calls every hook of ${handlers} handlers and gives the model all instructions`
  )
}
