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
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import { makeCached } from "./internal/cached.ts"
import { fuse } from "./internal/fuse.ts"
import { checked } from "./internal/query.ts"
import { rank } from "./internal/rank.ts"
import { sift } from "./internal/sift.ts"
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
  /** Globs, one of which the source must match, in its case: `*` is any text, `?` any character. */
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

// -----------------------------------------------------------------------------
// retrievers made of others
// -----------------------------------------------------------------------------

/** How passages are ranked anew. */
export interface RerankOptions<E> {
  /** Passages that are asked for and ranked, where the query does not want more; from 1. @default 50 */
  readonly candidates?: number
  /** Gives a score from 0 to 1 for each passage, in their order. It is not asked where nothing was found. */
  readonly score: (query: string, passages: ReadonlyArray<Passage>) => Effect.Effect<ReadonlyArray<number>, E>
}

/**
 * The same retriever with other scores, as another model or a rule of one's own gives
 * them. `topK` and `minScore` hold for the new scores; of the same score, the order
 * is as it was. Fails with the reason `Ranking` if `score` fails or gives no scores.
 *
 * @example
 * ```ts
 * import { LexicalIndex, Retriever } from "@heddle/rag"
 * import { Effect } from "effect"
 *
 * const { retriever } = LexicalIndex.make()
 * const shortFirst = Retriever.rerank(retriever, {
 *   candidates: 20,
 *   score: (_query, passages) => Effect.succeed(passages.map(({ text }) => 1 / (1 + text.length)))
 * })
 * ```
 */
export const rerank: {
  <E>(options: RerankOptions<E>): (self: Service) => Service
  <E>(self: Service, options: RerankOptions<E>): Service
} = dual(2, <E>(self: Service, options: RerankOptions<E>) => checked(rank(self, options)))

/** How far a filter looks. */
export interface FilterOptions {
  /** Passages that are looked at, at the most, where the query does not want more; from 1. @default 1000 */
  readonly maxCandidates?: number
}

/**
 * The same retriever without the passages that a predicate refuses. It asks for more
 * and more until there are `topK`, there is nothing more to be found, or it has looked
 * at `maxCandidates`. What can be said by a `Filter` is better said by one: an index
 * knows about it before it searches.
 *
 * @example
 * ```ts
 * import { LexicalIndex, Retriever } from "@heddle/rag"
 *
 * const { retriever } = LexicalIndex.make()
 * const recent = Retriever.filter(retriever, ({ metadata }) => Number(metadata["year"]) >= 2020)
 * ```
 */
export const filter: {
  (predicate: (passage: Passage) => boolean, options?: FilterOptions): (self: Service) => Service
  (self: Service, predicate: (passage: Passage) => boolean, options?: FilterOptions): Service
} = dual(
  (args) => typeof args[0] !== "function",
  (self: Service, predicate: (passage: Passage) => boolean, options: FilterOptions = {}) =>
    checked(sift(self, predicate, options))
)

/** How what several retrievers find is made one. */
export interface UnionOptions {
  /** Passages that each is asked for, where the query does not want more; from 1. @default 20 */
  readonly candidates?: number
  /** What each counts, in their order; 1 unless said. Numbers above 0. */
  readonly weights?: ReadonlyArray<number>
  /** How little the first ranks differ, from 0: what one has found first counts like what two have found at the rank `rankConstant + 2`. @default 5 */
  readonly rankConstant?: number
  /** Whether the search fails with the first that fails, or goes on with the others, and says so in the log, until all have failed. @default "fail" */
  readonly onFailure?: "continue" | "fail"
  /**
   * How long each may take, more than 0. One that takes longer has failed, with the reason
   * `Timeout`. Without it, all wait for one that hangs, whatever `onFailure` says. @default none
   */
  readonly timeout?: Duration.DurationInput
}

/**
 * Several retrievers as one. All are asked at once. As their scores cannot be
 * compared, what they find is fused by its ranks (reciprocal rank fusion): a passage
 * counts for 1 / (rankConstant + rank) with each that has found it, and its score is
 * the share of what one would reach that all have found first. With two, what is found
 * by one of them is never above 0.5.
 *
 * A passage that several find, by its source and its id, is there once, as the first
 * of them has it. One retriever alone is left as it is, but for the timeout; of none, nothing is found.
 *
 * @example
 * ```ts
 * import { LexicalIndex, Retriever } from "@heddle/rag"
 *
 * const handbook = LexicalIndex.make()
 * const tickets = LexicalIndex.make()
 * const both = Retriever.union([handbook.retriever, tickets.retriever], {
 *   onFailure: "continue",
 *   timeout: "2 seconds"
 * })
 * ```
 */
export const union = (retrievers: ReadonlyArray<Service>, options: UnionOptions = {}): Service =>
  fuse(retrievers, options)

/** What a cache keeps. */
export interface CacheOptions {
  /** Queries at the most, from 1; the one that was not asked for the longest time goes first. */
  readonly capacity: number
  /** How long a result is kept, from when it was found. */
  readonly timeToLive: Duration.DurationInput
}

/**
 * Makes the same retriever with a memory of what it has found. A query is another one
 * if anything about it is, its tenant included. Who asks the same at the same time
 * waits for one search, which is interrupted when nobody waits any more. Failures are
 * not kept. It knows nothing of changes of the index: what is found may be as old as
 * `timeToLive`. The passages are copies, and frozen.
 *
 * As a search is for many, it has the context that this was made in, and the tenant of
 * the query; it has nothing else of who asks. In an open transaction of `@effect/sql`
 * nothing is remembered: what it has written is found by it, and by nobody else.
 *
 * @example
 * ```ts
 * import { LexicalIndex, Retriever } from "@heddle/rag"
 * import { Effect, Layer } from "effect"
 *
 * const Cached = Layer.effect(
 *   Retriever.Retriever,
 *   Effect.flatMap(Retriever.Retriever, Retriever.cached({ capacity: 1000, timeToLive: "5 minutes" }))
 * ).pipe(Layer.provide(LexicalIndex.layer))
 * ```
 */
export const cached: {
  (options: CacheOptions): (self: Service) => Effect.Effect<Service>
  (self: Service, options: CacheOptions): Effect.Effect<Service>
} = dual(2, (self: Service, options: CacheOptions) => makeCached(self, options))
