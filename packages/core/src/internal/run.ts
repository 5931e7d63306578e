/**
 * What all parts of a run share: its place in the context of its fibers, and
 * the state of one attempt.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Scope from "effect/Scope"
import type { AgentResult, RunConfig, RunEnd } from "../AgentRun.ts"
import * as ChatModel from "../ChatModel.ts"
import * as History from "../History.ts"
import * as Message from "../Message.ts"
import { type Cell, CurrentRun, PendingScope } from "./currentRun.ts"

/**
 * Runs an effect in another context. What `Effect.provide` does, at a quarter of
 * its cost: the context is put back by one exit handler.
 */
export const within = <A, E>(effect: Effect.Effect<A, E, unknown>, context: Context.Context<unknown>) =>
  Effect.withFiberRuntime<A, E>((fiber) => {
    const before = fiber.getFiberRef(FiberRef.currentContext)
    return Effect.zipRight(
      FiberRef.set(FiberRef.currentContext, context),
      Effect.onExit(effect as Effect.Effect<A, E>, () => FiberRef.set(FiberRef.currentContext, before))
    )
  })

/** The context with a cell in it. A pending change of instructions has been taken, and is gone from it. */
export const entered = (context: Context.Context<unknown>, cell: Cell): Context.Context<unknown> => {
  const services = new Map(context.unsafeMap)
  services.set(CurrentRun.key, cell)
  services.set(Scope.Scope.key, cell)
  services.delete(PendingScope.key)
  return Context.unsafeMake(services)
}

/** What a run begins with: what was said before, and the input. */
const beginning = ({ history, input }: Pick<RunConfig, "history" | "input">): History.History =>
  // A run that was cut off may have left calls without an outcome.
  History.append(History.settle(history), input)

/** How far an attempt at a run has come. Owned by its loop; read when it ends, however it does. */
export class Attempt {
  /** Settled messages. */
  history: History.History
  /** The reply that is being worked on: its calls may still be pending. */
  reply: Message.AssistantMessage | undefined = undefined
  /** The outcomes of its calls, as they come in. */
  outcomes: Map<number, Message.ToolOutcome> | undefined = undefined
  steps = 0
  /** Whether the model has called a tool. */
  called = false
  usage: ChatModel.Usage = ChatModel.noUsage
  #scope: Scope.CloseableScope | undefined
  #begun: Pick<RunConfig, "history" | "input">

  constructor(config: Pick<RunConfig, "history" | "input">) {
    this.#begun = config
    this.history = beginning(config)
  }

  /** Begins with what handlers have made of it. */
  begin(config: Pick<RunConfig, "history" | "input">): void {
    const { history, input } = this.#begun
    this.#begun = config
    // Nothing has been said yet: what has been begun with is still there.
    if (config.history !== history || config.input !== input) this.history = beginning(config)
  }

  /** What is acquired in the attempt; opened by the first who asks. */
  get scope(): Scope.Scope {
    return (this.#scope ??= Effect.runSync(Scope.make()))
  }

  /** Releases what was acquired, the last first. */
  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    return this.#scope && Scope.close(this.#scope, exit)
  }

  /** What was said so far, every call with an outcome. */
  get historySoFar(): History.History {
    return this.withReply(Message.cancelled)
  }

  /** What was said so far; calls that are going on are pending. */
  get historyNow(): History.History {
    return this.withReply(Message.pending)
  }

  private withReply(missing: Message.ToolOutcome): History.History {
    if (this.reply === undefined) return this.history
    const reply: Message.AssistantMessage = {
      ...this.reply,
      content: this.reply.content.map((content, i) =>
        content._tag === "ToolCall" && content.outcome._tag === "Pending"
          ? { ...content, outcome: this.outcomes?.get(i) ?? missing }
          : content
      )
    }
    return History.append(this.history, reply)
  }

  /** How far it has come. */
  get soFar() {
    return { history: this.historySoFar, steps: this.steps, usage: this.usage }
  }

  /** The result of the attempt. */
  result(history: History.History, text: string, end: RunEnd): AgentResult {
    return { output: text, text, history, steps: this.steps, usage: this.usage, end }
  }

  /** Takes over how far another came. */
  continueFrom({ history, steps, usage }: Pick<AgentResult, "history" | "steps" | "usage">): this {
    this.history = history
    this.reply = undefined
    this.steps = steps
    this.usage = usage
    return this
  }

  /** Goes on from where an attempt inside of this one has come to. */
  follow(inside: Attempt): void {
    this.history = inside.history
    this.reply = inside.reply
    this.outcomes = inside.outcomes
    this.steps = inside.steps
    this.usage = inside.usage
  }

  /** The result, where a handler ended the run with an answer. */
  answered(answer: string): AgentResult {
    return this.result(History.append(this.historySoFar, Message.assistant(answer)), answer, "finish")
  }
}
