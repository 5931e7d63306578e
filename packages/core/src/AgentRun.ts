/**
 * What a run is made of: its configuration, which `beforeAgent` may change, and
 * its result.
 */
import * as Effect from "effect/Effect"
import type * as Call from "./Call.ts"
import type { AgentEvent } from "./AgentEvent.ts"
import type { ModelOptions, ToolChoice, Usage } from "./ChatModel.ts"
import type { History } from "./History.ts"
import type { Instructions } from "./Instructions.ts"
import { CurrentRun } from "./internal/currentRun.ts"
import type { UserMessage } from "./Message.ts"
import type { Tools } from "./Tools.ts"

/** How a run is carried out. */
export interface RunOptions {
  /** Model calls at the most. */
  readonly maxSteps: number
  /** At the limit: fail with `StepLimitReached`, or call the model once more, without tools, for an answer. */
  readonly onStepLimit: "error" | "answer"
  /** How many tool calls of one reply run at a time. */
  readonly toolConcurrency: number
  readonly toolChoice: ToolChoice
  /** Options of the model calls. */
  readonly model: ModelOptions
  /** Whatever handlers want to know of the caller. Not shown to the model. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A run before it begins. `E` and `R` are those of its tools. */
export interface RunConfig<out E = never, out R = never> {
  /** The name of the agent. */
  readonly agent: string
  readonly instructions: Instructions
  readonly tools: Tools<E, R>
  /** What was said before this run. */
  readonly history: History
  readonly input: UserMessage
  readonly options: RunOptions
}

/** What ended a run: the model's answer, a tool that returns directly, a handler's `finish`, or the last call at the step limit. */
export type RunEnd = "answer" | "tool" | "finish" | "step-limit"

/** The result of a run. */
export interface AgentResult<out Output = unknown> {
  /** The answer: decoded by the agent's output schema if it has one, else the text. */
  readonly output: Output
  readonly text: string
  /** All messages: those before the run, the input, and what the run added. */
  readonly history: History
  /** Model calls made. */
  readonly steps: number
  readonly usage: Usage
  readonly end: RunEnd
  /** What went wrong without failing the run. Missing if nothing did. */
  readonly warnings?: ReadonlyArray<Warning>
}

/** Something that a handler could not do, and that the run went on without. */
export interface Warning {
  /** The name of the handler. */
  readonly handler: string
  readonly error: unknown
}

/** A run as a call: its parts are events. */
export type AgentCall<A = AgentResult, E = never, R = never> = Call.Call<AgentEvent<A>, A, E, R>

/**
 * Reads the metadata of the run at hand, from inside a hook or a tool: what the agent
 * and the call say, as handlers have left it. In an agent that runs as a tool it is that
 * agent's own. Outside of a run there is none.
 */
export const currentMetadata: Effect.Effect<RunOptions["metadata"]> = Effect.map(
  CurrentRun,
  (cell) => cell?.metadata ?? {}
)
