/**
 * Nodes whose parts run beside each other.
 */
import { Errors } from "@heddle/core"
import type * as Exit from "effect/Exit"
import type * as Option from "effect/Option"
import type { TooFewSucceeded } from "../WorkflowErrors.ts"
import { compile, makeNode } from "./node.ts"
import {
  type Any,
  type Compatible,
  type Context,
  count,
  entries,
  type Error,
  impl,
  type InputOfAll,
  named,
  type Node,
  type Output,
  typed
} from "./nodeType.ts"
import { each as runEach, parallel as runParallel, type Settlement } from "./together.ts"

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
  else if (settlement !== undefined && settlement !== "fail-fast" && settlement !== "settle") {
    throw new Errors.DefinitionError(
      `${where}: settlement must be "fail-fast", "settle" or { atLeast }, not ${JSON.stringify(settlement)}.`
    )
  }
  if (concurrency !== undefined && concurrency !== "unbounded") count(where, "concurrency", concurrency, 1)
  return { settlement: settlement ?? "fail-fast", concurrency: concurrency ?? byDefault } as const
}

/** Runs all branches with the same input, at the same time unless `concurrency` says otherwise. */
export const parallel = <
  const Branches extends Readonly<Record<string, Any>>,
  const S extends Settlement = "fail-fast"
>(
  name: string,
  branches: Branches & Compatible<Branches>,
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
        runParallel(
          env.name,
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
      compile: (env) => runEach(env.name, compile(node, env), settlement, concurrency)
    })
  )
}
