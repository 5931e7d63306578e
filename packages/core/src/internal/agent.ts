/**
 * What an agent is made of, and how a run of it begins and ends.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type { Any, CallOptions, Input } from "../Agent.ts"
import type { AgentEvent } from "../AgentEvent.ts"
import type { AgentResult, RunConfig, RunOptions } from "../AgentRun.ts"
import * as Call from "../Call.ts"
import { DefinitionError, InvalidOutput } from "../Errors.ts"
import * as Instructions from "../Instructions.ts"
import * as Message from "../Message.ts"
import type * as Tools from "../Tools.ts"
import { Cell, PendingScope } from "./currentRun.ts"
import { type Beginning, enter, lastEvent, type Ready } from "./enter.ts"
import type { AgentSink } from "./loop.ts"
import { Attempt } from "./run.ts"

/** An agent, with what its runs need. */
export interface AgentImpl extends Any {
  readonly ready: Ready
  readonly decode: ((text: string) => Either.Either<unknown, unknown>) | undefined
}

const asMessage = (input: Input): Message.UserMessage => (typeof input === "string" ? Message.user(input) : input)

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
    instructions:
      change === undefined ? agent.instructions : Instructions.attribute(change(agent.instructions), "scoped"),
    tools: agent.tools as Tools.Tools,
    history,
    input: asMessage(input),
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
  let begun: (Beginning & { readonly sink: Outermost }) | undefined
  const entering = enter(agent.ready, (context) => {
    const pending = Context.get(context, PendingScope)
    const both = pending && change ? (i: Instructions.Instructions) => change(pending(i)) : (pending ?? change)
    const config = configure(agent, input, options, both)
    begun = { config, attempt: new Attempt(config), cell: new Cell(config.instructions), sink: new Outermost(sink) }
    return begun
  })
  const decoded = Effect.flatMap(entering, () => {
    const result = begun?.sink.result
    if (result === undefined) return Effect.die(new Error(`Agent "${agent.name}" ended well without a result.`))
    const { text } = result
    const output = agent.decode === undefined ? Either.right(text) : agent.decode(text)
    return Either.isRight(output)
      ? (sink.whole({ ...result, output: output.right }) ?? Effect.void)
      : new InvalidOutput({ agent: agent.name, text, cause: output.left })
  })
  if (sink.demand === "value") return decoded
  const soFar = {
    attempt: new Attempt({ history: options?.history ?? [], input: asMessage(input) }),
    cell: new Cell(agent.instructions)
  }
  return Effect.suspend(() => sink.emit({ _tag: "RunStarted", agent: agent.name }) ?? Effect.void).pipe(
    Effect.zipRight(decoded),
    Effect.onExit((exit) => {
      if (Exit.isSuccess(exit)) return Effect.void
      const { attempt, cell } = begun ?? soFar
      return sink.emit(lastEvent(exit.cause, attempt, cell)) ?? Effect.void
    })
  )
}

/** Keeps the result back until it is decoded, and what attempts inside of the run say last: the run says it for itself. */
class Outermost implements AgentSink {
  readonly fold: AgentSink["fold"]
  readonly demand: Call.Demand
  result: AgentResult | undefined = undefined
  private readonly outer: AgentSink

  constructor(outer: AgentSink) {
    this.fold = outer.fold
    this.demand = outer.demand
    this.outer = outer
  }
  emit(event: AgentEvent | Call.Reset): Call.Wait {
    switch (event._tag) {
      case "Completed":
        return this.whole(event.result)
      case "Failed":
      case "Cancelled":
        return undefined
      case "Reset":
        this.result = undefined
    }
    return this.demand === "value" ? undefined : this.outer.emit(event)
  }
  whole(result: AgentResult): Call.Wait {
    this.result = result
  }
}
