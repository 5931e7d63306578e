/**
 * For those who write a retriever or an index: what every one does in the same way.
 * `checked` keeps queries away that make no sense, and `accepts` says what a filter
 * lets through. `bm25` is how words are counted, and `queryTerms` which words of a long
 * query are looked for, for an index that finds what `LexicalIndex` does, with the same
 * scores. `timely` is a timeout that costs a search nothing which is done at once.
 *
 * @example
 * ```ts
 * import { accepts } from "@heddle/rag/store"
 *
 * const isAccepted = accepts({ sources: ["docs/*.md"], metadata: { language: "en" } })
 * console.log(isAccepted({ collection: "notes", source: "docs/hours.md", metadata: { language: "en" } })) // true
 * ```
 */
export * as bm25 from "./internal/bm25.ts"
export { accepts } from "./internal/filter.ts"
export { checked } from "./internal/query.ts"
export * as queryTerms from "./internal/queryTerms.ts"
export { timely } from "./internal/timely.ts"
