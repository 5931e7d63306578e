/**
 * What the type of a node says, and what all constructors of nodes need.
 */
import { Errors } from "@heddle/core"
import type * as Effect from "effect/Effect"
import type { Pipeable } from "effect/Pipeable"
import { isNodeImpl, type NodeImpl, type TypeId } from "./node.ts"

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

/** A value, or an Effect that gives it. */
export type OrEffect<A> = A | Effect.Effect<A, unknown, unknown>
/** What a function gives that returns an `X`, a value or an Effect. A promise is none of both, and not waited for. */
export type ValueOf<X> =
  X extends Effect.Effect<infer A, infer _E, infer _R> ? A : X extends PromiseLike<unknown> ? NotWaitedFor : X
/** Says, where a compiler shows it, that a function gave a promise. */
export interface NotWaitedFor {
  readonly "an Effect is needed in place of a promise": never
}
/** What a function fails with that returns an `X`. */
export type ErrorOf<X> = X extends Effect.Effect<infer _A, infer E, infer _R> ? E : never
/** What a function needs that returns an `X`. */
export type ContextOf<X> = X extends Effect.Effect<infer _A, infer _E, infer R> ? R : never

/** Says, where a compiler shows it, that nothing is what all of some nodes take. */
export interface NoCommonInput {
  readonly "the nodes take inputs that nothing can be": never
}

/** Refuses nodes that have no input in common. */
export type Compatible<Nodes> = [InputOfAll<Nodes>] extends [never] ? NoCommonInput : unknown

/** What all of some nodes can take. */
export type InputOfAll<Nodes> = { readonly [K in keyof Nodes]: (_: Input<Nodes[K]>) => void }[keyof Nodes] extends (
  _: infer In
) => void
  ? In
  : never

// -----------------------------------------------------------------------------
// for constructors
// -----------------------------------------------------------------------------

// The types of a node are what its constructor says; inside, they are gone.
export const typed = <In, Out, E, R>(node: NodeImpl) => node as unknown as Node<In, Out, E, R>
export const impl = (node: Any): NodeImpl => {
  if (isNodeImpl(node)) return node
  throw new Errors.DefinitionError(`A node is needed, and ${String(node)} is none.`)
}

export const named = (kind: string, name: string): string => {
  if (typeof name === "string" && name.trim() !== "") return name
  throw new Errors.DefinitionError(`${kind} needs a name, and ${JSON.stringify(name) ?? String(name)} is none.`)
}

export const count = (where: string, what: string, n: number, least: number): number => {
  if (Number.isInteger(n) && n >= least) return n
  throw new Errors.DefinitionError(`${where}: ${what} must be a whole number from ${least}, not ${n}.`)
}

export const called = <F>(where: string, f: F): F => {
  if (typeof f === "function") return f
  throw new Errors.DefinitionError(`${where} needs a function, and ${String(f)} is none.`)
}

export const entries = (where: string, what: string, nodes: Readonly<Record<string, Any>>) => {
  const list = Object.entries(nodes).map(([role, node]) => ({ role, node: impl(node) }))
  if (list.length === 0) throw new Errors.DefinitionError(`${where} needs a ${what} at least.`)
  return list
}
