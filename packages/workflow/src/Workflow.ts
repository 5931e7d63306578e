/**
 * A workflow: a node with a name of its own that can be run, in a session whose
 * earlier runs its steps may see. It is itself a node, so that it can stand in
 * another workflow.
 *
 * @example
 * ```ts
 * import { HistoryStore, Node, Workflow } from "@heddle/workflow"
 * import { Effect } from "effect"
 *
 * const workflow = Workflow.make({
 *   name: "greeting",
 *   node: Node.step("greet", (name: string) => `Hello, ${name}!`),
 *   history: { mode: "on", runs: 5 }
 * })
 *
 * const program = Workflow.run(workflow, "Ada", { sessionId: "s-1" }).pipe(Effect.provide(HistoryStore.layerMemory()))
 * ```
 */
import { Call, Errors } from "@heddle/core"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { HistoryPolicy, Known, Needs } from "./HistoryPolicy.ts"
import type { HistoryStore } from "./HistoryStore.ts"
import { byDefault, checkedPolicy } from "./internal/history.ts"
import { mermaid } from "./internal/mermaid.ts"
import { compile, makeNode, type NodeImpl, refuseDuplicates } from "./internal/node.ts"
import { count, impl, named } from "./internal/nodeType.ts"
import { plan, start, type WorkflowImpl } from "./internal/start.ts"
import type * as Node from "./Node.ts"
import type { HistoryUnavailable, InvalidSession, NodeLimitReached } from "./WorkflowErrors.ts"
import * as WorkflowEvent from "./WorkflowEvent.ts"

/** A node that can be run by itself. */
export interface Workflow<in In, out Out, out E = never, out R = never> extends Node.Node<In, Out, E, R> {
  readonly name: string
  /** Nodes that a run of it enters at the most. */
  readonly maxNodes: number
}

/** What a workflow is made of. */
export interface Options<In, Out, E, R, P extends HistoryPolicy> {
  readonly name: string
  readonly node: Node.Node<In, Out, E, R>
  /** How much of earlier runs its nodes see, unless they say otherwise. Off by default. */
  readonly history?: P
  /** When the history cannot be read: fail, or go on without it after a warning. Of a workflow inside of another, that of the outer one counts. @default "fail" */
  readonly onHistoryUnavailable?: "fail" | "continue"
  /** Nodes that a run enters at the most, those of workflows inside of it and further attempts of a retry among them: against workflows that do not end. @default 10,000 */
  readonly maxNodes?: number
}

/** Makes a workflow. Throws a `DefinitionError` when a name occurs twice in it, or an option makes no sense. */
export const make = <In, Out, E, R, const P extends HistoryPolicy = Record<never, never>>(
  options: Options<In, Out, E, R, P> & { readonly history?: Known<P> }
): Workflow<In, Out, E, R | Needs<P>> => {
  const { history, maxNodes = 10_000, name, onHistoryUnavailable = "fail" } = options
  const where = `Workflow "${named("A workflow", name)}"`
  count(where, "maxNodes", maxNodes, 1)
  if (onHistoryUnavailable !== "fail" && onHistoryUnavailable !== "continue") {
    const given = JSON.stringify(onHistoryUnavailable)
    throw new Errors.DefinitionError(`${where}: onHistoryUnavailable must be "fail" or "continue", not ${given}.`)
  }
  const node = impl(options.node)
  refuseDuplicates(name, node)
  const workflow = makeNode({
    kind: "workflow",
    name,
    children: [{ node }],
    policy: history && checkedPolicy(history, where),
    compile: (env) => compile(node, env),
    maxNodes,
    onHistoryUnavailable
  })
  return Object.assign(workflow, { plan: plan(workflow) }) as unknown as Workflow<In, Out, E, R | Needs<P>>
}

// -----------------------------------------------------------------------------
// running
// -----------------------------------------------------------------------------

/** What may be said of one run. */
export interface RunOptions {
  /** The session whose earlier runs are shown, and to which the run is added when it has ended. */
  readonly sessionId?: string
  /** Made up when it is not given. */
  readonly runId?: string
}

/** What may be said of a run in a session. */
export interface SessionOptions extends RunOptions {
  readonly sessionId: string
}

/** What a run fails with besides what its nodes fail with. */
export type RunError = NodeLimitReached | InvalidSession

/** The options of a run: a workflow that shows history needs a session. */
export type OptionsFor<R> = HistoryStore extends R ? [options: SessionOptions] : [options?: WithoutSession]

/** What may be said of a run outside of any session. */
export interface WithoutSession {
  readonly runId?: string
  readonly sessionId?: never
}

/** A run of a workflow as a call: its parts are events. */
export type WorkflowCall<Out, E, R> = Call.Call<
  WorkflowEvent.WorkflowEvent<Out>,
  WorkflowEvent.WorkflowResult<Out>,
  E,
  R
>

/** A run as a call: what `run` and `stream` run. */
export const call: {
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    options: SessionOptions
  ): WorkflowCall<Out, E | RunError | HistoryUnavailable, R | HistoryStore>
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    ...options: OptionsFor<R>
  ): WorkflowCall<Out, E | RunError, R>
} = (self: Workflow<never, unknown, unknown, unknown>, input: unknown, options?: RunOptions) =>
  // Inside, a workflow's types are gone; `make` has them right.
  Call.fromSink((sink) => start(self as unknown as WorkflowImpl, input, options, sink as never)) as never

/**
 * Runs a workflow for its result. In a session, the run is added to its history
 * when it has ended, however it has ended.
 *
 * Interrupting it interrupts every branch; nothing starts after that.
 */
export const run: {
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    options: SessionOptions
  ): Effect.Effect<WorkflowEvent.WorkflowResult<Out>, E | RunError | HistoryUnavailable, R | HistoryStore>
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    ...options: OptionsFor<R>
  ): Effect.Effect<WorkflowEvent.WorkflowResult<Out>, E | RunError, R>
} = (self: Workflow<never, unknown, unknown, unknown>, input: unknown, options?: RunOptions) =>
  Call.run(call(self, input as never, options as SessionOptions), WorkflowEvent.fold()) as never

/** Runs a workflow as a stream of what happens, with back-pressure. A stream of a run that fails fails after its last event. */
export const stream: {
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    options: SessionOptions
  ): Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E | RunError | HistoryUnavailable, R | HistoryStore>
  <In, Out, E, R>(
    self: Workflow<In, Out, E, R>,
    input: In,
    ...options: OptionsFor<R>
  ): Stream.Stream<WorkflowEvent.WorkflowEvent<Out>, E | RunError, R>
} = (self: Workflow<never, unknown, unknown, unknown>, input: unknown, options?: RunOptions) =>
  Call.stream(call(self, input as never, options as SessionOptions), WorkflowEvent.fold()) as never

// -----------------------------------------------------------------------------
// explaining
// -----------------------------------------------------------------------------

/** The graph as a Mermaid flowchart, with what each node sees of earlier runs, and what is done when it fails. */
export const toMermaid = <In, Out, E, R>(self: Workflow<In, Out, E, R>): string =>
  mermaid(self as unknown as NodeImpl, byDefault)
