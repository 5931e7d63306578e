/**
 * What an agent is made of, and how a run of it begins and ends.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Any, CallOptions, Input } from "../Agent.ts"
import type { AgentEvent } from "../AgentEvent.ts"
import type { AgentResult, RunConfig, RunOptions } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import { DefinitionError, InvalidOutput } from "../Errors.ts"
import * as History from "../History.ts"
import type * as Instructions from "../Instructions.ts"
import * as Message from "../Message.ts"
import type * as Tools from "../Tools.ts"
import { Cell, PendingScope } from "./currentRun.ts"
import { enter, type Ready } from "./enter.ts"
import type { AgentSink } from "./loop.ts"

/** An agent, with what its runs need. */
export interface AgentImpl extends Any {
  readonly ready: Ready
  readonly decode: ((text: string) => Either.Either<unknown, unknown>) | undefined
}

/** Refuses options that no run could be carried out with. */
export const checked = (options: RunOptions): RunOptions => {
  const { maxSteps, toolConcurrency } = options
  if (!(maxSteps >= 0)) throw new DefinitionError(`maxSteps must be 0 or more, not ${maxSteps}.`)
  if (!(toolConcurrency >= 1)) throw new DefinitionError(`toolConcurrency must be 1 or more, not ${toolConcurrency}.`)
  return options
}

const configure = (
  agent: AgentImpl,
  input: Input,
  options: CallOptions | undefined,
  change: Instructions.Change | undefined
): RunConfig => {
  const { history = [], ...given } = options ?? {}
  const changed = Object.keys(given).length > 0
  return {
    agent: agent.name,
    instructions: change === undefined ? agent.instructions : change(agent.instructions),
    tools: agent.tools as Tools.Tools,
    // A run that was cut off may have left calls without an outcome.
    history: History.settle(history),
    input: typeof input === "string" ? Message.user(input) : input,
    options: changed
      ? checked({ ...agent.options, ...given, model: { ...agent.options.model, ...given.model } })
      : agent.options
  }
}

/** Runs the agent to its result, and decodes the answer. */
export const start = (
  agent: AgentImpl,
  input: Input,
  options: CallOptions | undefined,
  change: Instructions.Change | undefined,
  sink: AgentSink
): Effect.Effect<void, unknown, unknown> => {
  const watched = sink.demand !== "value"
  let outermost: Outermost | undefined
  const entering = enter(agent.ready, (context) => {
    const pending = Context.get(context, PendingScope)
    const both = pending && change ? (i: Instructions.Instructions) => change(pending(i)) : (pending ?? change)
    const config = configure(agent, input, options, both)
    const cell = new Cell(config.instructions)
    outermost = new Outermost(sink, cell)
    return { config, cell, sink: outermost }
  })
  const send = (event: AgentEvent) => (watched ? (sink.emit(event) ?? Effect.void) : Effect.void)
  const decoded = Effect.flatMap(entering, () => {
    const result = outermost?.result
    if (result === undefined) return Effect.die(new Error(`Agent "${agent.name}" ended well without a result.`))
    const { history, steps, text, usage } = result
    const output = agent.decode === undefined ? Either.right(text) : agent.decode(text)
    if (Either.isRight(output)) return sink.whole({ ...result, output: output.right }) ?? Effect.void
    const error = new InvalidOutput({ agent: agent.name, text, cause: output.left })
    return Effect.zipRight(send({ _tag: "Failed", error, cause: Cause.fail(error), history, steps, usage }), error)
  })
  return watched ? Effect.zipRight(send({ _tag: "RunStarted", agent: agent.name }), decoded) : decoded
}

/** Keeps the result back until it is decoded, and knows whether the last event says how the run ended. */
class Outermost implements AgentSink {
  readonly fold: AgentSink["fold"]
  readonly demand: Call.Demand
  result: AgentResult | undefined = undefined
  private readonly outer: AgentSink
  private readonly cell: Cell

  constructor(outer: AgentSink, cell: Cell) {
    this.fold = outer.fold
    this.demand = outer.demand
    this.outer = outer
    this.cell = cell
  }
  emit(event: AgentEvent | Call.Reset): Call.Wait {
    if (event._tag === "Completed") return this.whole(event.result)
    if (Call.isReset(event)) this.result = undefined
    this.cell.said = event._tag === "Failed" || event._tag === "Cancelled"
    return this.demand === "value" ? undefined : this.outer.emit(event)
  }
  whole(result: AgentResult): Call.Wait {
    this.result = result
  }
}
