/**
 * The nodes of a workflow: values of one type, which compose. What a node takes
 * and gives, fails with and needs is in its type, and the compiler checks every
 * edge between two of them.
 *
 * @example
 * ```ts
 * import { Agent } from "@heddle/core"
 * import { Node, Workflow } from "@heddle/workflow"
 *
 * const writer = Agent.make({ name: "writer", instructions: "Write a paragraph." })
 *
 * const workflow = Workflow.make({
 *   name: "article",
 *   node: Node.step("brief", (topic: string) => `Write about ${topic}.`).pipe(
 *     Node.andThen(Node.agent("draft", writer)),
 *     Node.andThen(Node.step("count", (draft: string) => ({ draft, words: draft.split(" ").length })))
 *   )
 * })
 * ```
 */
import { type Agent, type AgentRun, Errors } from "@heddle/core"
import { dual } from "effect/Function"
import { type Child, compile, isNodeImpl, makeNode, type NodeImpl } from "./internal/node.ts"
import {
  type Any,
  called,
  type Context,
  type ContextOf,
  type Error,
  type ErrorOf,
  impl,
  type Input,
  named,
  type Node,
  type OrEffect,
  type Output,
  typed,
  type ValueOf
} from "./internal/nodeType.ts"
import * as Run from "./internal/runners.ts"

export { orElse, orSkip, retry, timeout, withHistory } from "./internal/around.ts"
export {
  each,
  type EachSettled,
  parallel,
  type ParallelOptions,
  type Settled,
  type SettledError
} from "./internal/branches.ts"
export { condition, loop, type LoopOptions, router } from "./internal/choices.ts"
export type {
  Any,
  Context,
  ContextOf,
  Error,
  ErrorOf,
  Input,
  Compatible,
  InputOfAll,
  NoCommonInput,
  NotWaitedFor,
  Node,
  OrEffect,
  Output,
  ValueOf
} from "./internal/nodeType.ts"
export type { Settlement } from "./internal/together.ts"

/** Whether a value is a node. */
export const isNode = (u: unknown): u is Any => isNodeImpl(u)

// -----------------------------------------------------------------------------
// steps
// -----------------------------------------------------------------------------

/** A step that is a function of its input, which gives a value or an Effect. What it throws is a defect. */
export const step = <In, X>(name: string, f: (input: In) => X): Node<In, ValueOf<X>, ErrorOf<X>, ContextOf<X>> => {
  called(`Step "${named("A step", name)}"`, f)
  return typed(makeNode({ kind: "step", name, compile: () => (input) => Run.call(f, input) }))
}

/** How an agent runs as a step. */
export interface AgentOptions<in In, in Out, out X> {
  /** What the node gives, a value or an Effect, of the agent's result and the input of the node. The agent's output unless said otherwise. */
  readonly result?: (result: AgentRun.AgentResult<Out>, input: In) => X
  /** Over what the agent says. */
  readonly run?: Agent.CallOptions
}

/**
 * A step that is an agent. Where earlier runs are shown, they are a section of its
 * instructions, for this run of the agent alone. `prompt` says what it is asked, as a value or an
 * Effect.
 */
export const agent: {
  <In, Out, E, R, P extends OrEffect<Agent.Input>, X = Out>(
    name: string,
    agent: Agent.Agent<Out, E, R>,
    options: AgentOptions<In, Out, X> & { readonly prompt: (input: In) => P }
  ): Node<In, ValueOf<X>, E | ErrorOf<P | X>, R | ContextOf<P | X>>
  <Out, E, R, X = Out>(
    name: string,
    agent: Agent.Agent<Out, E, R>,
    options?: AgentOptions<Agent.Input, Out, X>
  ): Node<Agent.Input, ValueOf<X>, E | ErrorOf<X>, R | ContextOf<X>>
} = (name: string, agent: Agent.Any, options: Run.AgentOptions = {}) =>
  typed<unknown, never, never, never>(
    makeNode({
      kind: "agent",
      name: named("An agent step", name),
      compile: ({ history }) => Run.agent(agent, options, history)
    })
  )

// -----------------------------------------------------------------------------
// one after the other
// -----------------------------------------------------------------------------

// Grouping changes nothing: what is nothing but a sequence is taken apart.
const flat = (node: NodeImpl): ReadonlyArray<Child> =>
  node.kind === "sequence" && node.name === undefined && node.policy === undefined && node.marks.length === 0
    ? node.children
    : [{ node }]

const sequenceOf = (nodes: ReadonlyArray<NodeImpl>): NodeImpl => {
  if (nodes.length === 0) throw new Errors.DefinitionError("A sequence needs a node at least.")
  const children = nodes.flatMap(flat)
  return makeNode({
    kind: "sequence",
    children,
    compile: (env) => Run.sequence(children.map(({ node }) => compile(node, env)))
  })
}

/** First one node, then another with what it gave. Associative. */
export const andThen: {
  <Mid, Out, E2, R2>(
    that: Node<Mid, Out, E2, R2>
  ): <In, E, R>(self: Node<In, Mid, E, R>) => Node<In, Out, E | E2, R | R2>
  <In, Mid, E, R, Out, E2, R2>(self: Node<In, Mid, E, R>, that: Node<Mid, Out, E2, R2>): Node<In, Out, E | E2, R | R2>
} = dual(2, (self: Any, that: Any) => sequenceOf([impl(self), impl(that)]))

/** Each node's input is what the one before gives. */
type Chained<Nodes extends ReadonlyArray<unknown>> = Nodes extends readonly [infer A, infer B, ...infer Rest]
  ? Output<A> extends Input<B>
    ? readonly [A, ...Chained<readonly [B, ...Rest]>]
    : readonly [A, Node<Output<A>, unknown, unknown, unknown>, ...Rest]
  : Nodes

type Last<Nodes extends ReadonlyArray<Any>> = Nodes extends readonly [...infer _, infer L] ? L : never

/** Nodes one after the other, each with what the one before gave. */
export const sequence = <const Nodes extends readonly [Any, ...Array<Any>]>(
  ...nodes: Nodes & Chained<Nodes>
): Node<Input<Nodes[0]>, Output<Last<Nodes>>, Error<Nodes[number]>, Context<Nodes[number]>> =>
  typed(sequenceOf(nodes.map(impl)))

/** Gives a node another name; a sequence, one at all, and with it a place of its own in events and paths. */
export const withName: {
  (name: string): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In, Out, E, R>
  <In, Out, E, R>(self: Node<In, Out, E, R>, name: string): Node<In, Out, E, R>
} = dual(2, (self: Any, name: string) => {
  const node = impl(self)
  return makeNode({ ...node, name: named("A node", name) })
})
