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
import type { Agent, AgentRun, Call } from "@heddle/core"
import { Errors } from "@heddle/core"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import type * as Option from "effect/Option"
import type { Pipeable } from "effect/Pipeable"
import type { HistoryPolicy, Needs } from "./HistoryPolicy.ts"
import { checkedPolicy } from "./internal/history.ts"
import { around, type Child, compile, isNodeImpl, label, makeNode, type NodeImpl, TypeId } from "./internal/node.ts"
import * as Run from "./internal/runners.ts"
import type { LoopLimitReached, NodeTimeout, TooFewSucceeded, UnknownRoute } from "./WorkflowErrors.ts"

/** A node: takes an `In`, gives an `Out`, fails with `E`, needs `R`. */
export interface Node<in In, out Out, out E = never, out R = never> extends Pipeable {
  readonly [TypeId]: {
    readonly _In: (_: In) => void
    readonly _Out: (_: never) => Out
    readonly _E: (_: never) => E
    readonly _R: (_: never) => R
  }
  /** What it is called in events, records and diagrams. Sequences may have no name. */
  readonly name: string | undefined
}

/** Any node. It says nothing of types, so that those of a node written in its place are inferred from the node alone. */
export interface Any extends Pipeable {
  readonly [TypeId]: object
  readonly name: string | undefined
}
/** What a node takes. */
export type Input<N> = N extends Node<infer In, infer _Out, infer _E, infer _R> ? In : never
/** What a node gives. */
export type Output<N> = N extends Node<infer _In, infer Out, infer _E, infer _R> ? Out : never
/** What a node fails with. */
export type Error<N> = N extends Node<infer _In, infer _Out, infer E, infer _R> ? E : never
/** What a node needs. */
export type Context<N> = N extends Node<infer _In, infer _Out, infer _E, infer R> ? R : never

/** Whether a value is a node. */
export const isNode = (u: unknown): u is Any => isNodeImpl(u)

/** A value, or an Effect that gives it. */
export type OrEffect<A> = A | Effect.Effect<A, unknown, unknown>
/** What a function gives that returns an `X`, a value or an Effect. */
export type ValueOf<X> = X extends Effect.Effect<infer A, infer _E, infer _R> ? A : X
/** What a function fails with that returns an `X`. */
export type ErrorOf<X> = X extends Effect.Effect<infer _A, infer E, infer _R> ? E : never
/** What a function needs that returns an `X`. */
export type ContextOf<X> = X extends Effect.Effect<infer _A, infer _E, infer R> ? R : never

// The types of a node are what its constructor says; inside, they are gone.
const typed = <In, Out, E, R>(node: NodeImpl) => node as unknown as Node<In, Out, E, R>
const impl = (node: Any) => node as unknown as NodeImpl

const named = (kind: string, name: string): string => {
  if (typeof name === "string" && name.trim() !== "") return name
  throw new Errors.DefinitionError(`${kind} needs a name, and ${JSON.stringify(name) ?? String(name)} is none.`)
}

const count = (where: string, what: string, n: number, least: number): number => {
  if (Number.isInteger(n) && n >= least) return n
  throw new Errors.DefinitionError(`${where}: ${what} must be a whole number from ${least}, not ${n}.`)
}

// -----------------------------------------------------------------------------
// steps
// -----------------------------------------------------------------------------

/** A step that is a function of its input, which gives a value or an Effect. What it throws is a defect. */
export const step = <In, X>(name: string, f: (input: In) => X): Node<In, ValueOf<X>, ErrorOf<X>, ContextOf<X>> =>
  typed(makeNode({ kind: "step", name: named("A step", name), compile: () => (input) => Run.call(f, input) }))

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
  const children = nodes.flatMap(flat)
  return makeNode({ kind: "sequence", children, compile: (env) => Run.sequence(Run.compileAll(children, env)) })
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

/** Runs `onTrue` where `if` holds, else `onFalse`; without an `onFalse`, the input is passed on. */
export const condition: {
  <In, Out, E, R, Out2, E2, R2, X extends OrEffect<boolean>>(
    name: string,
    options: {
      readonly if: (input: In) => X
      readonly onTrue: Node<In, Out, E, R>
      readonly onFalse: Node<In, Out2, E2, R2>
    }
  ): Node<In, Out | Out2, E | E2 | ErrorOf<X>, R | R2 | ContextOf<X>>
  <In, Out, E, R, X extends OrEffect<boolean>>(
    name: string,
    options: {
      readonly if: (input: In) => X
      readonly onTrue: Node<In, Out, E, R>
    }
  ): Node<In, Out | In, E | ErrorOf<X>, R | ContextOf<X>>
} = (name: string, options: { readonly if: Run.Decide; readonly onTrue: Any; readonly onFalse?: Any }) => {
  const yes = impl(options.onTrue)
  const no = options.onFalse && impl(options.onFalse)
  return typed<unknown, never, never, never>(
    makeNode({
      kind: "condition",
      name: named("A condition", name),
      children: [{ role: "true", node: yes }, ...(no === undefined ? [] : [{ role: "false", node: no }])],
      compile: (env) => Run.condition(options.if, compile(yes, env), no && compile(no, env))
    })
  )
}

/** When a loop ends. */
export interface LoopOptions<
  A,
  W extends OrEffect<boolean>,
  U extends OrEffect<boolean>,
  OnMax extends "fail" | "stop"
> {
  /** Asked before each round, with the value and the number of rounds done. */
  readonly while?: (value: A, rounds: number) => W
  /** Asked after each round, with what it gave and the number of rounds done. */
  readonly until?: (value: A, rounds: number) => U
  /** Rounds at the most. */
  readonly max: number
  /** When the loop would go on after them: fail with `LoopLimitReached`, or end with what there is. */
  readonly onMax: OnMax
}

/** Runs a node again and again, each time with what it gave, `while` one thing holds or `until` another does. */
export const loop = <
  A,
  Out extends A,
  E,
  R,
  OnMax extends "fail" | "stop",
  W extends OrEffect<boolean> = boolean,
  U extends OrEffect<boolean> = boolean
>(
  name: string,
  body: Node<A, Out, E, R>,
  options: LoopOptions<A, W, U, OnMax>
): Node<
  A,
  A,
  E | ErrorOf<W> | ErrorOf<U> | ("fail" extends OnMax ? LoopLimitReached : never),
  R | ContextOf<W> | ContextOf<U>
> => {
  const node = impl(body)
  const { max, onMax, until } = options
  const where = `Loop "${named("A loop", name)}"`
  count(where, "max", max, 1)
  if (options.while === undefined && until === undefined && onMax === "fail") {
    throw new Errors.DefinitionError(`${where} needs a "while" or an "until", else it always fails.`)
  }
  const rule: Run.LoopRule = { while: options.while, until, max, onMax }
  return typed(
    makeNode({
      kind: "loop",
      name,
      children: [{ role: `≤ ${max}`, node }],
      compile: (env) => Run.loop(name, compile(node, env), rule)
    })
  )
}

/** Runs the route that `choose` names. */
export const router = <const Routes extends Readonly<Record<string, Any>>, X extends OrEffect<string>>(
  name: string,
  options: {
    readonly choose: (input: NoInfer<InputOfAll<Routes>>) => X
    readonly routes: Routes
  }
): Node<
  InputOfAll<Routes>,
  Output<Routes[keyof Routes]>,
  Error<Routes[keyof Routes]> | ErrorOf<X> | ([ValueOf<X>] extends [keyof Routes] ? never : UnknownRoute),
  Context<Routes[keyof Routes]> | ContextOf<X>
> => {
  const where = `Router "${named("A router", name)}"`
  const routes = entries(where, "route", options.routes)
  return typed(
    makeNode({
      kind: "router",
      name,
      children: routes,
      compile: (env) =>
        Run.router(name, options.choose, new Map(routes.map(({ node, role }) => [role, compile(node, env)])))
    })
  )
}

const entries = (where: string, what: string, nodes: Readonly<Record<string, Any>>) => {
  const list = Object.entries(nodes).map(([role, node]) => ({ role, node: impl(node) }))
  if (list.length === 0) throw new Errors.DefinitionError(`${where} needs a ${what} at least.`)
  return list
}

// -----------------------------------------------------------------------------
// beside each other
// -----------------------------------------------------------------------------

/** What all of some nodes can take. */
export type InputOfAll<Nodes> = { readonly [K in keyof Nodes]: (_: Input<Nodes[K]>) => void }[keyof Nodes] extends (
  _: infer In
) => void
  ? In
  : never

/**
 * What happens when branches fail. `"fail-fast"`: the others are interrupted, and
 * the node fails. `"settle"`: each branch's exit is kept. `atLeast`: the node fails
 * with `TooFewSucceeded` as soon as not so many can succeed any more; else it has
 * the values of those that did.
 */
export type Settlement = "fail-fast" | "settle" | { readonly atLeast: number }

/** What a parallel node gives: by the name of the branch, never by arrival. */
export type Settled<Branches, S extends Settlement> = S extends "settle"
  ? { readonly [K in keyof Branches]: Exit.Exit<Output<Branches[K]>, Error<Branches[K]>> }
  : S extends "fail-fast"
    ? { readonly [K in keyof Branches]: Output<Branches[K]> }
    : { readonly [K in keyof Branches]?: Output<Branches[K]> }

/** What a parallel node fails with. */
export type SettledError<E, S extends Settlement> = S extends "settle"
  ? never
  : S extends "fail-fast"
    ? E
    : TooFewSucceeded

/** How branches run beside each other. */
export interface ParallelOptions<S extends Settlement> {
  /** @default "fail-fast" */
  readonly settlement?: S
  /** How many run at a time. */
  readonly concurrency?: number | "unbounded"
}

const parallelOptions = <S extends Settlement>(
  where: string,
  { concurrency, settlement }: ParallelOptions<S> = {},
  byDefault: number | "unbounded"
) => {
  if (typeof settlement === "object") count(where, "atLeast", settlement.atLeast, 0)
  if (typeof concurrency === "number") count(where, "concurrency", concurrency, 1)
  return { settlement: settlement ?? "fail-fast", concurrency: concurrency ?? byDefault } as const
}

/** Runs all branches with the same input, at the same time unless `concurrency` says otherwise. */
export const parallel = <
  const Branches extends Readonly<Record<string, Any>>,
  const S extends Settlement = "fail-fast"
>(
  name: string,
  branches: Branches,
  options?: ParallelOptions<S>
): Node<
  InputOfAll<Branches>,
  Settled<Branches, S>,
  SettledError<Error<Branches[keyof Branches]>, S>,
  Context<Branches[keyof Branches]>
> => {
  const where = `Parallel "${named("A parallel", name)}"`
  const children = entries(where, "branch", branches)
  const { concurrency, settlement } = parallelOptions(where, options, "unbounded")
  if (typeof settlement === "object" && settlement.atLeast > children.length) {
    throw new Errors.DefinitionError(`${where} has ${children.length} branches: ${settlement.atLeast} cannot succeed.`)
  }
  return typed(
    makeNode({
      kind: "parallel",
      name,
      children,
      compile: (env) =>
        Run.parallel(
          name,
          children.map(({ node, role }) => [role, compile(node, env)] as const),
          settlement,
          concurrency
        )
    })
  )
}

/** What a node over an array gives, in the order of the array. */
export type EachSettled<Out, E, S extends Settlement> = ReadonlyArray<
  S extends "settle" ? Exit.Exit<Out, E> : S extends "fail-fast" ? Out : Option.Option<Out>
>

/** Runs a node once for each element of an array, 8 at a time unless `concurrency` says otherwise. */
export const each = <In, Out, E, R, const S extends Settlement = "fail-fast">(
  name: string,
  body: Node<In, Out, E, R>,
  options?: ParallelOptions<S>
): Node<ReadonlyArray<In>, EachSettled<Out, E, S>, SettledError<E, S>, R> => {
  const where = `Each "${named("An each", name)}"`
  const node = impl(body)
  const { concurrency, settlement } = parallelOptions(where, options, 8)
  return typed(
    makeNode({
      kind: "each",
      name,
      children: [{ role: "each", node }],
      compile: (env) => Run.each(name, compile(node, env), settlement, concurrency)
    })
  )
}

// -----------------------------------------------------------------------------
// around a node
// -----------------------------------------------------------------------------

/** Says how much of earlier runs the node, and what is inside of it, sees. */
export const withHistory: {
  <const P extends HistoryPolicy>(
    policy: P
  ): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In, Out, E, R | Needs<P>>
  <In, Out, E, R, const P extends HistoryPolicy>(self: Node<In, Out, E, R>, policy: P): Node<In, Out, E, R | Needs<P>>
} = dual(2, (self: Any, policy: HistoryPolicy) => {
  const node = impl(self)
  return makeNode({ ...node, policy: { ...node.policy, ...checkedPolicy(policy, `Node "${label(node)}"`) } })
})

/** Runs the node again when it fails, as `times`, `while` and `schedule` say; `times` or `schedule` must be given. */
export const retry: {
  <E, R2 = never>(
    options: Call.RetryOptions<E, R2>
  ): <In, Out, R>(self: Node<In, Out, E, R>) => Node<In, Out, E, R | NoInfer<R2>>
  <In, Out, E, R, R2 = never>(
    self: Node<In, Out, E, R>,
    options: Call.RetryOptions<E, R2>
  ): Node<In, Out, E, R | NoInfer<R2>>
} = dual(2, (self: Any, options: Call.RetryOptions<never, unknown>) => {
  const node = impl(self)
  const where = `Retry of "${label(node)}"`
  const { schedule, times } = options
  if (times !== undefined) count(where, "times", times, 0)
  else if (schedule === undefined) throw new Errors.DefinitionError(`${where} needs "times" or a "schedule".`)
  return around(node, times === undefined ? "retry" : `retry ${times}×`, (runner) => Run.retry(runner, options))
})

/** Interrupts the node and fails when it takes too long. With `retry` inside, all attempts together. */
export const timeout: {
  (after: Duration.DurationInput): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In, Out, E | NodeTimeout, R>
  <In, Out, E, R>(self: Node<In, Out, E, R>, after: Duration.DurationInput): Node<In, Out, E | NodeTimeout, R>
} = dual(2, (self: Any, after: Duration.DurationInput) => {
  const node = impl(self)
  const name = label(node)
  const millis = Duration.toMillis(after)
  if (!(millis > 0)) throw new Errors.DefinitionError(`The timeout of "${name}" must be more than 0.`)
  return around(node, `timeout ${Duration.format(after)}`, (runner) => Run.timeout(name, runner, millis))
})

/** Passes the input on in place of an output when the node fails. */
export const orSkip = <In, Out, E, R>(self: Node<In, Out, E, R>): Node<In, Out | In, never, R> =>
  typed(around(impl(self), "skip on failure", Run.orSkip))

/** Runs another node with the same input when the node fails, or asks a function of the error and the input. */
export const orElse: {
  <In2, Out2, E2, R2>(
    fallback: Node<In2, Out2, E2, R2>
  ): <In, Out, E, R>(self: Node<In, Out, E, R>) => Node<In & In2, Out | Out2, E2, R | R2>
  <In, E, X>(
    fallback: (error: E, input: In) => X
  ): <Out, R>(self: Node<In, Out, E, R>) => Node<In, Out | ValueOf<X>, ErrorOf<X>, R | ContextOf<X>>
  <In, Out, E, R, In2, Out2, E2, R2>(
    self: Node<In, Out, E, R>,
    fallback: Node<In2, Out2, E2, R2>
  ): Node<In & In2, Out | Out2, E2, R | R2>
  <In, Out, E, R, X>(
    self: Node<In, Out, E, R>,
    fallback: (error: E, input: In) => X
  ): Node<In, Out | ValueOf<X>, ErrorOf<X>, R | ContextOf<X>>
} = dual(2, (self: Any, fallback: Any | ((error: unknown, input: unknown) => unknown)) => {
  if (typeof fallback === "function") {
    return around(impl(self), "fallback", (runner) =>
      Run.orElse(runner, (error, input) => Run.call(fallback, error, input))
    )
  }
  const node = impl(fallback)
  const wrap: Parameters<typeof around>[2] = (runner, env) => {
    const other = compile(node, env)
    return Run.orElse(runner, (_, input, at) => other(input, at))
  }
  return around(impl(self), "fallback", wrap, [{ role: "fallback", isFallback: true, node }])
})
