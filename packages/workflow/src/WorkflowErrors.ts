/**
 * The errors that a workflow itself may end with. What its steps fail with is
 * added to them, in the type as at run time.
 */
import * as Data from "effect/Data"
import { describe } from "./internal/describe.ts"
import { pathText, summary } from "./internal/definition/path.ts"

/** The history of runs could not be read, written or deleted. `cause` is what the store says. */
export class HistoryUnavailable extends Data.TaggedError("HistoryUnavailable")<{
  readonly operation: "append" | "last" | "remove" | "sessions"
  readonly sessionId?: string
  readonly cause: unknown
}> {
  override get message(): string {
    const of = this.sessionId === undefined ? "" : ` of session "${this.sessionId}"`
    return `The run history${of} is unavailable (${this.operation}): ${describe(this.cause)}`
  }
}

/** A run has an empty session or run id, or none though it wants history. */
export class InvalidSession extends Data.TaggedError("InvalidSession")<{
  readonly workflow: string
  readonly message: string
}> {}

/** A run entered as many nodes as it may. */
export class NodeLimitReached extends Data.TaggedError("NodeLimitReached")<{
  readonly workflow: string
  readonly maxNodes: number
}> {
  override get message(): string {
    return `Workflow "${this.workflow}" did not end within ${this.maxNodes} nodes.`
  }
}

/** A loop went round as often as it may. `value` is what it had got by then. */
export class LoopLimitReached extends Data.TaggedError("LoopLimitReached")<{
  readonly node: string
  readonly max: number
  readonly value: unknown
}> {
  override get message(): string {
    return `Loop "${this.node}" did not end within ${this.max} rounds.`
  }
}

/** A node did not end in time. */
export class NodeTimeout extends Data.TaggedError("NodeTimeout")<{
  readonly node: string
  /** In milliseconds. */
  readonly after: number
}> {
  override get message(): string {
    return `Node "${this.node}" did not end within ${this.after} ms.`
  }
}

/** A router chose a route that it does not have. */
export class UnknownRoute extends Data.TaggedError("UnknownRoute")<{
  readonly node: string
  readonly choice: string
  readonly routes: ReadonlyArray<string>
}> {
  override get message(): string {
    return `Router "${this.node}" has no route ${JSON.stringify(this.choice)}, only ${this.routes.join(", ")}.`
  }
}

/** Too many branches of a parallel node failed. */
export class TooFewSucceeded extends Data.TaggedError("TooFewSucceeded")<{
  readonly node: string
  /** How many had to succeed, of how many. */
  readonly needed: number
  readonly branches: number
  /** In the order of the branches. */
  readonly failures: ReadonlyArray<{ readonly branch: string; readonly error: unknown }>
}> {
  override get message(): string {
    const failed = this.failures.length === 0 ? "none" : this.failures.map(({ branch }) => branch).join(", ")
    return `Of the ${this.branches} branches of "${this.node}", ${this.needed} had to succeed; failed: ${failed}.`
  }
}

/** An expression of a definition failed, or gave no `true` or `false` where a condition stands, or no string where a prompt or a route does. */
export class ExpressionFailed extends Data.TaggedError("ExpressionFailed")<{
  readonly node: string
  readonly expression: string
  readonly cause: unknown
}> {
  override get message(): string {
    return `The expression \`${this.expression}\` of "${this.node}" failed: ${summary(this.cause)}`
  }
}

/** One thing that is wrong with a definition, and where: the keys and indices on the way there. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** A definition is no workflow. `problems` is all that is wrong with it. */
export class InvalidDefinition extends Data.TaggedError("InvalidDefinition")<{
  readonly problems: ReadonlyArray<Problem>
}> {
  override get message(): string {
    const lines = this.problems.map(({ message, path }) =>
      path.length === 0 ? message : `${pathText(path)}: ${message}`
    )
    return `The definition is no workflow:\n${lines.map((line) => `- ${line}`).join("\n")}`
  }
}
