/**
 * Nodes that decide what is run next: conditions, loops and routers.
 */
import { Errors } from "@heddle/core"
import type { LoopLimitReached, UnknownRoute } from "../WorkflowErrors.ts"
import { compile, makeNode } from "./node.ts"
import {
  type Any,
  called,
  type Compatible,
  type Context,
  type ContextOf,
  count,
  entries,
  type Error,
  type ErrorOf,
  impl,
  type InputOfAll,
  named,
  type Node,
  type OrEffect,
  type Output,
  typed,
  type ValueOf
} from "./nodeType.ts"
import * as Run from "./runners.ts"

/** Runs `onTrue` where `if` holds, else `onFalse`; without an `onFalse`, the input is passed on. */
export const condition = <In, Out, E, R, X extends OrEffect<boolean>, Out2 = In, E2 = never, R2 = never>(
  name: string,
  options: {
    readonly if: (input: In) => X
    readonly onTrue: Node<In, Out, E, R>
    readonly onFalse?: Node<In, Out2, E2, R2>
  }
): Node<In, Out | Out2, E | E2 | ErrorOf<X>, R | R2 | ContextOf<X>> => {
  called(`Condition "${named("A condition", name)}"`, options.if)
  const yes = impl(options.onTrue)
  const no = options.onFalse && impl(options.onFalse)
  return typed(
    makeNode({
      kind: "condition",
      name,
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
  if (onMax !== "fail" && onMax !== "stop") {
    throw new Errors.DefinitionError(`${where}: onMax must be "fail" or "stop", not ${JSON.stringify(onMax)}.`)
  }
  if (options.while === undefined && until === undefined && onMax === "fail") {
    throw new Errors.DefinitionError(`${where} needs a "while" or an "until", else it always fails.`)
  }
  const rule: Run.LoopRule = { while: options.while, until, max, onMax }
  return typed(
    makeNode({
      kind: "loop",
      name,
      children: [{ role: `≤ ${max}`, node }],
      compile: (env) => Run.loop(env.name, compile(node, env), rule)
    })
  )
}

/** Runs the route that `choose` names. */
export const router = <const Routes extends Readonly<Record<string, Any>>, X extends OrEffect<string>>(
  name: string,
  options: {
    readonly choose: (input: NoInfer<InputOfAll<Routes>>) => X
    readonly routes: Routes & Compatible<Routes>
  }
): Node<
  InputOfAll<Routes>,
  Output<Routes[keyof Routes]>,
  Error<Routes[keyof Routes]> | ErrorOf<X> | ([ValueOf<X>] extends [keyof Routes] ? never : UnknownRoute),
  Context<Routes[keyof Routes]> | ContextOf<X>
> => {
  const where = `Router "${named("A router", name)}"`
  called(where, options.choose)
  const routes = entries(where, "route", options.routes)
  return typed(
    makeNode({
      kind: "router",
      name,
      children: routes,
      compile: (env) =>
        Run.router(env.name, options.choose, new Map(routes.map(({ node, role }) => [role, compile(node, env)])))
    })
  )
}
