/**
 * Registers the rules of a port as tests.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { describe, it } from "vitest"
import type { Rule } from "../Rules.ts"

/** Tests that a service keeps the rules, in the suite that it is called in, or in one of its own if that has a name. */
export interface Suite<R> {
  <E>(layer: Layer.Layer<R, E>): void
  <E>(name: string, layer: Layer.Layer<R, E>): void
}

/** Makes tests of rules. The layer is built anew for each rule, and closed after it. */
export const suite = <R>(rules: ReadonlyArray<Rule<R>>): Suite<R> => {
  const register: Suite<R> = <E>(...args: [Layer.Layer<R, E>] | [string, Layer.Layer<R, E>]) => {
    if (args.length === 2) return void describe(args[0], () => register(args[1]))
    for (const { check, rule } of rules) it(rule, () => Effect.runPromise(Effect.provide(check, args[0])))
  }
  return register
}
