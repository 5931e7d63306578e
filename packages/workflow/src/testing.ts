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
import { type Suite, suite } from "@heddle/testing/vitest"
import type { HistoryStore } from "./HistoryStore.ts"
import { rules } from "./internal/historyStoreRules.ts"

/**
 * Tests that a store keeps the rules, in the suite that it is called in, or in
 * one of its own if that has a name. The layer is built anew for each rule, and
 * has to give an empty store with room for 100 sessions and 100 runs in each.
 */
export const historyStore: Suite<HistoryStore> = suite(rules)
