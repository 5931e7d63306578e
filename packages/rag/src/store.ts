/**
 * For those who write a retriever or an index: what every one does in the same way.
 * `checked` keeps queries away that make no sense, and `accepts` says what a filter
 * lets through.
 *
 * @example
 * ```ts
 * import { accepts } from "@heddle/rag/store"
 *
 * const isAccepted = accepts({ sources: ["docs/*.md"], metadata: { language: "en" } })
 * console.log(isAccepted({ collection: "notes", source: "docs/hours.md", metadata: { language: "en" } })) // true
 * ```
 */
export { accepts } from "./internal/filter.ts"
export { checked } from "./internal/query.ts"
