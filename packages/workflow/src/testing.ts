/**
 * The rules that every store of runs keeps, as vitest tests. `@heddle/workflow/rules`
 * has them for other runners.
 *
 * @example
 * ```ts no-run
 * import { HistoryStore } from "@heddle/workflow"
 * import { historyStore } from "@heddle/workflow/testing"
 *
 * historyStore("the store in memory", HistoryStore.layerMemory())
 * ```
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { describe, it } from "vitest"
import type { HistoryStore } from "./HistoryStore.ts"
import { rules } from "./internal/historyStoreRules.ts"

/**
 * Tests that a store keeps the rules, in the suite that it is called in, or in
 * one of its own if that has a name. The layer is built anew for each rule, and
 * has to give an empty store with room for 100 sessions and 100 runs in each.
 */
export const historyStore: {
  <E>(layer: Layer.Layer<HistoryStore, E>): void
  <E>(name: string, layer: Layer.Layer<HistoryStore, E>): void
} = <E>(...args: [Layer.Layer<HistoryStore, E>] | [string, Layer.Layer<HistoryStore, E>]) => {
  if (args.length === 2) return void describe(args[0], () => historyStore(args[1]))
  for (const { check, rule } of rules) it(rule, () => Effect.runPromise(Effect.provide(check, args[0])))
}
