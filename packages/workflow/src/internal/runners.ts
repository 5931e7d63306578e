/**
 * How nodes run that run one thing at a time: steps, sequences, and those that decide.
 */
import { Agent, AgentEvent, type AgentRun, Call, Instructions } from "@heddle/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { LoopLimitReached, UnknownRoute } from "../WorkflowErrors.ts"
import { type Effective, historySource } from "./history.ts"
import type { Runner, Running } from "./node.ts"
import type { Place } from "./run.ts"

/** Calls a function that somebody gave, and takes an Effect that it returns for what it does. */
export const call = (f: (...args: ReadonlyArray<never>) => unknown, ...args: ReadonlyArray<unknown>): Running => {
  let result: unknown
  try {
    // The public types have seen to it that they fit.
    result = f(...(args as ReadonlyArray<never>))
  } catch (thrown) {
    return Effect.die(thrown)
  }
  if (Effect.isEffect(result)) return result as Running
  if (!isPromise(result)) return Effect.succeed(result)
  // Nobody waits for it: if it is rejected, that must not end the process.
  result.then(undefined, () => undefined)
  return Effect.die(new TypeError("A function of a workflow returned a promise: an Effect is what waits here."))
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function"

/** Goes on with a result, at once if it is there already. */
const then = (running: Running, f: (value: unknown) => Running): Running =>
  Exit.isExit(running) ? (Exit.isSuccess(running) ? f(running.value) : running) : Effect.flatMap(running, f)

// -----------------------------------------------------------------------------
// steps
// -----------------------------------------------------------------------------

/** How an agent runs as a step. */
export interface AgentOptions {
  readonly prompt?: ((input: never) => unknown) | undefined
  readonly result?: ((result: never, input: never) => unknown) | undefined
  readonly run?: Agent.CallOptions | undefined
}

/** Runs an agent, told of the earlier runs that `history` shows. */
export const agent = (agent: Agent.Any, { prompt, result, run: options }: AgentOptions, history: Effective): Runner => {
  const ask = (asked: Agent.Input, input: unknown, at: Place): Running => {
    const { run } = at
    const { text } = run.shown(history)
    const told = <A, E, R>(running: Effect.Effect<A, E, R>) =>
      text === "" ? running : Instructions.scoped(Instructions.append(text, historySource))(running)
    const given = (got: AgentRun.AgentResult) =>
      result === undefined ? Effect.succeed(got.output) : call(result, got, input)
    if (!run.live) return Effect.flatMap(told(Agent.run(agent, asked, options)), given)
    const { path } = at
    const running = Call.runEach(
      Agent.call(agent, asked, options),
      AgentEvent.fold<AgentRun.AgentResult>(),
      run.demand,
      (event) => run.emit({ _tag: "Agent", path, event })
    )
    return Effect.flatMap(told(running), given)
  }
  return (input, at) =>
    prompt === undefined
      ? ask(input as Agent.Input, input, at)
      : then(call(prompt, input), (asked) => ask(asked as Agent.Input, input, at))
}

// -----------------------------------------------------------------------------
// one after the other
// -----------------------------------------------------------------------------

/** Each takes what the one before gives. */
export const sequence = (runners: ReadonlyArray<Runner>): Runner => {
  const from = (first: number, input: unknown, at: Place): Running => {
    let running = runners[first]!(input, at)
    // What is there already goes on at once, in a loop: a sequence may be long.
    for (let i = first + 1; i < runners.length; i++) {
      if (!Exit.isExit(running)) return Effect.flatMap(running, (output) => from(i, output, at))
      if (Exit.isFailure(running)) return running
      running = runners[i]!(running.value, at)
    }
    return running
  }
  return (input, at) => from(0, input, at)
}

/** What decides, of a condition, a loop or a router. */
export type Decide = (input: never, round: never) => unknown

export const condition =
  (decide: Decide, yes: Runner, no: Runner | undefined): Runner =>
  (input, at) =>
    then(call(decide, input), (holds) => {
      const chosen = holds === true ? yes : (no ?? Effect.succeed)
      return telling(at, String(holds === true), () => chosen(input, at))
    })

export const router =
  (name: string, decide: Decide, routes: ReadonlyMap<string, Runner>): Runner =>
  (input, at) =>
    then(call(decide, input), (choice) => {
      const route = routes.get(choice as string)
      return route === undefined
        ? new UnknownRoute({ node: name, choice: String(choice), routes: [...routes.keys()] })
        : telling(at, choice as string, () => route(input, at))
    })

const telling = (at: Place, choice: string, running: () => Running): Running =>
  at.run.live ? Effect.flatMap(at.run.tell({ _tag: "Chosen", path: at.path, choice }), running) : running()

/** When a loop goes round. */
export interface LoopRule {
  readonly while: Decide | undefined
  readonly until: Decide | undefined
  readonly max: number
  readonly onMax: "fail" | "stop"
}

export const loop = (name: string, body: Runner, { max, onMax, until, while: goesOn }: LoopRule): Runner => {
  const ask = (decide: Decide | undefined, value: unknown, round: number, f: (holds: unknown) => Running) =>
    decide === undefined ? f(undefined) : then(call(decide, value, round), f)
  const from = (value: unknown, round: number, at: Place): Running =>
    ask(goesOn, value, round, (goesOn) => {
      if (goesOn === false) return Effect.succeed(value)
      if (round === max) {
        return onMax === "stop" ? Effect.succeed(value) : new LoopLimitReached({ node: name, max, value })
      }
      return Effect.flatMap(body(value, at.within(round + 1)), (next) =>
        ask(until, next, round + 1, (ends) => (ends === true ? Effect.succeed(next) : from(next, round + 1, at)))
      )
    })
  return (input, at) => from(input, 0, at)
}
