/**
 * The rules that every `HistoryStore` keeps, with what checks them: for a test
 * runner other than vitest, for which `@heddle/workflow/testing` has them ready.
 *
 * @example
 * ```ts
 * import { HistoryStore } from "@heddle/workflow"
 * import { HistoryStoreRules } from "@heddle/workflow/rules"
 * import { Effect } from "effect"
 *
 * const check = Effect.forEach(HistoryStoreRules.rules, ({ check }) =>
 *   Effect.provide(check, HistoryStore.layerMemory())
 * )
 * ```
 */
export * as HistoryStoreRules from "./internal/historyStoreRules.ts"
