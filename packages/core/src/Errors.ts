/**
 * The errors that a run itself may end with. What handlers and tools fail with
 * is added to them, in the type as at run time.
 */
import * as Data from "effect/Data"
import type { History } from "./History.ts"

/** Why a model call failed. A closed list, so that a handler can decide by it. */
export type ModelErrorReason =
  | "RateLimited"
  | "Overloaded"
  | "Timeout"
  | "Network"
  /** The key, what is paid for, or the model: one that there is not, or that the account may not use. */
  | "Authentication"
  | "ContextLength"
  | "ContentFilter"
  | "BadRequest"
  | "InvalidResponse"
  | "Unknown"

/** A model call failed. */
export class ModelError extends Data.TaggedError("ModelError")<{
  readonly reason: ModelErrorReason
  readonly message: string
  /** How long to wait before another try, in milliseconds, if the provider said so. */
  readonly retryAfter?: number
  readonly cause?: unknown
}> {}

/** A tool threw, or its result is not what its success schema says. `cause` is what was thrown, or the schema's error. */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly tool: string
  readonly callId: string
  readonly reason: "Threw" | "InvalidResult"
  readonly cause: unknown
}> {
  override get message(): string {
    const what = this.reason === "Threw" ? "threw" : "gave a result that its success schema refuses"
    return `Tool "${this.tool}" (call "${this.callId}") ${what}: ${String(this.cause)}`
  }
}

/** The run took as many steps as it may. `history` is what was said so far. */
export class StepLimitReached extends Data.TaggedError("StepLimitReached")<{
  readonly agent: string
  readonly maxSteps: number
  readonly history: History
}> {
  override get message(): string {
    return `Agent "${this.agent}" gave no answer within ${this.maxSteps} steps.`
  }
}

/** The answer is not what the agent's output schema says. `text` is the answer, `cause` the schema's error. */
export class InvalidOutput extends Data.TaggedError("InvalidOutput")<{
  readonly agent: string
  readonly text: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The answer of agent "${this.agent}" does not fit its output schema: ${String(this.cause)}`
  }
}

/** Thrown where a value is built that makes no sense, such as two tools of one name. A mistake in the program, so not in any `E`. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError"
}

/** A hook threw, or returned what it must not. The defect that a run dies with; `cause` is what was thrown. */
export class HandlerDefect extends Error {
  override readonly name = "HandlerDefect"
  readonly handler: string
  readonly hook: string
  constructor(handler: string, hook: string, problem: string, cause?: unknown) {
    super(`Handler "${handler}" ${problem} in ${hook}${cause === undefined ? "." : `: ${String(cause)}`}`, { cause })
    this.handler = handler
    this.hook = hook
  }
}
