/**
 * The agent's loop, for run and stream alike: before-model, model, after-model,
 * tools, until there is an answer.
 */
import * as Effect from "effect/Effect"
import type { AgentEvent } from "../AgentEvent.ts"
import type { AgentResult, RunConfig } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import * as ChatModel from "../ChatModel.ts"
import { StepLimitReached } from "../Errors.ts"
import * as History from "../History.ts"
import * as Message from "../Message.ts"
import * as Tool from "../Tool.ts"
import * as Tools from "../Tools.ts"
import type { LoopHooks } from "./compile.ts"
import type { Cell } from "./currentRun.ts"
import type { Attempt } from "./run.ts"

/** Where a run sends its events. */
export type AgentSink = Call.Sink<AgentEvent, AgentResult>

/** What an agent asks of the loop, beyond the run's configuration. */
export interface Plan {
  readonly hooks: LoopHooks
  readonly config: RunConfig
  /** The JSON Schema of the answer, if the agent has one. */
  readonly output: object | undefined
}

/**
 * Runs the loop to its result. Here and below a generator is not written where it is
 * called: V8 would make a type for each one, which holds all that it can see until the
 * next great collection of garbage.
 */
export const loop: (
  plan: Plan,
  attempt: Attempt,
  sink: AgentSink,
  cell: Cell
) => Effect.Effect<void, unknown, unknown> = Effect.fnUntraced(function* (plan, attempt, sink, cell) {
  const { config, hooks } = plan
  const { maxSteps, onStepLimit } = config.options
  while (true) {
    const last = attempt.steps >= maxSteps
    if (last && onStepLimit === "error") {
      return yield* new StepLimitReached({ agent: config.agent, maxSteps, history: attempt.history })
    }
    if (hooks.beforeModel !== undefined) {
      const changed = hooks.beforeModel(attempt.history)
      attempt.history = History.settle(Effect.isEffect(changed) ? yield* changed : changed)
    }
    attempt.steps++
    cell.forget()

    cell.offered = undefined
    const reply = yield* callModel(plan, attempt, last, sink)
    attempt.usage = ChatModel.addUsage(attempt.usage, reply.usage)
    cell.forget()
    attempt.reply = messageOf(reply)
    attempt.outcomes = undefined
    if (hooks.afterModel !== undefined) {
      const changed = hooks.afterModel(History.append(attempt.history, attempt.reply))
      takeIn(attempt, Effect.isEffect(changed) ? yield* changed : changed)
    }

    const calls = pendingCalls(attempt.reply)
    if (last || isAnswer(attempt.reply, reply)) {
      const history = attempt.historySoFar
      return yield* done(sink, attempt.result(history, History.answer(history), last ? "step-limit" : "answer"))
    }
    const tools = reply.offered ?? cell.offered ?? config.tools
    attempt.called ||= attempt.reply !== undefined && !isUnfinished(reply)
    if (calls.length > 0) {
      yield* callTools(plan, attempt, calls, tools, sink)
    }
    attempt.history = attempt.historySoFar
    const direct = calls.length > 0 ? directAnswer(attempt, calls, tools) : undefined
    attempt.reply = undefined
    if (direct !== undefined) return yield* done(sink, attempt.result(attempt.history, direct, "tool"))
  }
})

const done = (sink: AgentSink, value: AgentResult) => sink.whole(value) ?? Effect.void

/**
 * Takes over the history that after-model hooks made: its last message is worked
 * on if it is the model's. Calls of a reply that has moved away from the end are
 * not made, so they are cancelled.
 */
const takeIn = (attempt: Attempt, history: History.History) => {
  const last = history[history.length - 1]
  attempt.reply = last?.role === "assistant" ? last : undefined
  attempt.history = History.settle(attempt.reply === undefined ? history : history.slice(0, -1))
}

/** The message of a reply. Of one that was cut off nobody knows whether its calls are what the model meant, so none is run. */
const messageOf = ({ content, finishReason, metadata }: ChatModel.ModelReply): Message.AssistantMessage => ({
  ...Message.assistant(finishReason === "length" ? content.map(notRun) : content),
  ...(metadata && { metadata })
})

const notRun = (content: Message.AssistantMessage["content"][number]): typeof content =>
  content._tag === "ToolCall" && content.outcome._tag === "Pending"
    ? {
        ...content,
        outcome: Message.failed("The reply was cut off before this call was complete; nothing was done.")
      }
    : content

type PendingCall = readonly [index: number, call: Message.ToolCall]

const pendingCalls = (reply: Message.AssistantMessage | undefined): ReadonlyArray<PendingCall> => {
  const out: Array<PendingCall> = []
  reply?.content.forEach((content, i) => {
    if (content._tag === "ToolCall" && content.outcome._tag === "Pending") out.push([i, content])
  })
  return out
}

/**
 * A reply without tool calls is the answer, and so is one whose calls the provider has
 * run itself, if the model has come to an end. Calls that a hook has settled go back to
 * the model, as do those of a reply that was cut off. A pause is no end.
 */
const isAnswer = (message: Message.AssistantMessage | undefined, { content, finishReason }: ChatModel.ModelReply) => {
  if (message === undefined || finishReason === "pause") return false
  if (message.content.every(({ _tag }) => _tag !== "ToolCall")) return true
  return finishReason !== "tool-calls" && content.every(isSettled) && message.content.every(isSettled)
}

const isSettled = (content: Message.AssistantMessage["content"][number]): boolean =>
  content._tag !== "ToolCall" || content.outcome._tag !== "Pending"

/** Whether the model was kept from saying all, so that a call that it must make is still to come. */
const isUnfinished = ({ finishReason }: ChatModel.ModelReply) => finishReason === "length" || finishReason === "pause"

// -----------------------------------------------------------------------------
// the model
// -----------------------------------------------------------------------------

const callModel = (
  { config, hooks, output }: Plan,
  attempt: Attempt,
  last: boolean,
  sink: AgentSink
): Effect.Effect<ChatModel.ModelReply, unknown, unknown> => {
  const call = hooks.callModel({
    instructions: config.instructions,
    history: attempt.history,
    tools: last ? Tools.empty : config.tools,
    // A call that must be made has been made once the model has called: else it would never answer.
    toolChoice: last ? "none" : attempt.called && isForced(config) ? "auto" : config.options.toolChoice,
    output,
    options: config.options.model,
    purpose: "agent"
  })
  if (sink.demand === "value") return Call.run(call, ChatModel.fold)
  return shownStep(call, attempt.steps, sink)
}

/** A model call, with events. */
const shownStep = Effect.fnUntraced(function* (
  call: Call.Call<ChatModel.ModelPart, ChatModel.ModelReply, unknown, unknown>,
  step: number,
  sink: AgentSink
) {
  yield* emit(sink, { _tag: "StepStarted", step })
  const reply = yield* observed(call, ChatModel.fold, sink, (part) => modelEvent(step, part))
  const { content, finishReason, usage } = reply
  yield* emit(sink, { _tag: "StepFinished", step, content, finishReason, usage })
  return reply
})

const isForced = ({ options: { toolChoice } }: RunConfig) => toolChoice === "required" || typeof toolChoice === "object"

const emit = (sink: AgentSink, event: AgentEvent) => sink.emit(event) ?? Effect.void

/** Runs a call for its value, and sends its parts on as events. */
const observed = <Part, A>(
  call: Call.Call<Part, A, unknown, unknown>,
  fold: Call.Fold<Part, A>,
  sink: AgentSink,
  event: (part: Part | Call.Reset) => AgentEvent | undefined
): Effect.Effect<A, unknown, unknown> =>
  Call.runEach(call, fold, sink.demand, (part) => {
    const news = event(part)
    return news && sink.emit(news)
  })

const modelEvent = (step: number, part: ChatModel.ModelPart | Call.Reset): AgentEvent | undefined => {
  switch (part._tag) {
    case "Text":
    case "Reasoning":
      // A piece that only brings metadata is no news.
      return part.text === "" ? undefined : { _tag: part._tag, step, text: part.text }
    case "ToolCall":
      return { _tag: "ToolCall", step, id: part.id, name: part.name, arguments: part.arguments }
    case "Reset":
      return { _tag: "StepReset", step }
    case "Finish":
      return undefined
  }
}

// -----------------------------------------------------------------------------
// the tools
// -----------------------------------------------------------------------------

const callTools = (
  { config, hooks }: Plan,
  attempt: Attempt,
  calls: ReadonlyArray<PendingCall>,
  tools: Tools.Tools<unknown, unknown>,
  sink: AgentSink
): Effect.Effect<void, unknown, unknown> => {
  const one = ([index, toolCall]: PendingCall) => {
    const { arguments: args, id, name } = toolCall
    const call = hooks.callTool({ id, name, arguments: args, tool: tools.get(name), offered: tools.names })
    const settle = (outcome: Message.ToolOutcome) => {
      const outcomes = (attempt.outcomes ??= new Map<number, Message.ToolOutcome>())
      outcomes.set(index, outcome)
    }
    return sink.demand === "value"
      ? Effect.map(Call.run(call, Tool.fold), settle)
      : shownTool(call, toolCall, attempt.steps, settle, sink)
  }
  return calls.length === 1
    ? one(calls[0]!)
    : Effect.forEach(calls, one, { concurrency: config.options.toolConcurrency, discard: true })
}

/** A tool call, with events. */
const shownTool = Effect.fnUntraced(function* (
  call: Call.Call<Tool.ToolPart, Message.ToolOutcome, unknown, unknown>,
  { arguments: args, id, name }: Message.ToolCall,
  step: number,
  settle: (outcome: Message.ToolOutcome) => void,
  sink: AgentSink
) {
  yield* emit(sink, { _tag: "ToolStarted", step, id, name, arguments: args })
  const outcome = yield* observed(call, Tool.fold, sink, (part) => toolEvent(step, id, part))
  settle(outcome)
  yield* emit(sink, { _tag: "ToolFinished", step, id, name, outcome })
})

const toolEvent = (step: number, id: string, part: Tool.ToolPart | Call.Reset): AgentEvent | undefined => {
  switch (part._tag) {
    case "Text":
      return { _tag: "ToolText", step, id, text: part.text }
    case "Progress":
      return { _tag: "ToolProgress", step, id, value: part.value }
    case "Reset":
      return { _tag: "ToolReset", step, id }
    case "Done":
      return undefined
  }
}

/** The result of the first call, in call order, whose tool returns directly and has succeeded. */
const directAnswer = (
  attempt: Attempt,
  calls: ReadonlyArray<PendingCall>,
  tools: Tools.Tools<unknown, unknown>
): string | undefined => {
  for (const [index, call] of calls) {
    const outcome = attempt.outcomes?.get(index)
    if (outcome?._tag === "Succeeded" && tools.get(call.name)?.returnDirectly) return Message.renderOutcome(outcome)
  }
  return undefined
}
