/**
 * The rules that every index keeps, with what checks them: for a test runner other
 * than vitest, for which `@heddle/rag/testing` has them ready.
 *
 * @example
 * ```ts
 * import { type DocumentIndex, type Retriever } from "@heddle/rag"
 * import { IndexRules } from "@heddle/rag/rules"
 * import { Effect, type Layer } from "effect"
 *
 * const check = (index: Layer.Layer<DocumentIndex.DocumentIndex | Retriever.Retriever>) =>
 *   Effect.forEach(IndexRules.rules, ({ check }) => Effect.provide(check, index))
 * ```
 */
export * as IndexRules from "./internal/indexRules.ts"
