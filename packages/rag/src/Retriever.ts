/**
 * The port to what can be searched, and ways to make one retriever of others.
 *
 * @example
 * ```ts
 * import { Retriever } from "@heddle/rag"
 * import { Effect } from "effect"
 *
 * const faq: Retriever.Service = {
 *   search: ({ query }) =>
 *     Effect.succeed(
 *       query.includes("open")
 *         ? [{ id: "faq-1", text: "We open at nine.", source: "faq.md", score: 0.9, metadata: {} }]
 *         : []
 *     )
 * }
 * const found = await Effect.runPromise(faq.search(Retriever.query("When do you open?")))
 * console.log(found.length) // 1
 * ```
 */
import { Tenant } from "@heddle/core"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RetrievalError } from "./RagErrors.ts"

/** What a passage is marked with, for filters and for whoever shows it. */
export type Metadata = Readonly<Record<string, string | number | boolean>>

/** A piece of a document that was found. */
export interface Passage {
  /** The same each time for the same text at the same place. */
  readonly id: string
  readonly text: string
  /** The document that it is from, for example a path or a URL. */
  readonly source: string
  /** From 0 to 1, the higher the better. What it means is for the retriever to say. */
  readonly score: number
  readonly metadata: Metadata
}

/** Which documents are looked at: all that it says must hold. */
export interface Filter {
  /** The collection that they were indexed in. */
  readonly collection?: string
  /** Globs, one of which the source must match: `*` is any text, `?` any character. */
  readonly sources?: ReadonlyArray<string>
  /** Values that the metadata must have. */
  readonly metadata?: Metadata
}

/** What is looked for. */
export interface Query {
  readonly query: string
  /** Passages at the most; a whole number from 0. */
  readonly topK: number
  /** Passages with a lower score are left out; 0 leaves out none. */
  readonly minScore: number
  /** Nothing of another tenant is ever found. */
  readonly tenant: string
  readonly filter?: Filter
}

/** What can be searched. */
export interface Service {
  /** Gives the passages, the best first; of the same score, always in the same order. */
  readonly search: (query: Query) => Effect.Effect<ReadonlyArray<Passage>, RetrievalError>
}

/** What can be searched. */
export class Retriever extends Context.Tag("@heddle/rag/Retriever")<Retriever, Service>() {}

/** A query, with what is not said at its default: five passages of any score. */
export const query = (text: string, options: Partial<Omit<Query, "query">> = {}): Query => ({
  query: text,
  topK: 5,
  minScore: 0,
  tenant: Tenant.defaultTenant,
  ...options
})
