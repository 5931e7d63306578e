/**
 * The errors of retrieval.
 */
import * as Data from "effect/Data"

/**
 * Why nothing could be searched or indexed. `Unavailable`: what holds the index does
 * not answer. `Timeout`: it took too long. `Embedding`: the embedding model failed.
 * `OtherEmbedding`: the index was made with another embedding model, or with vectors
 * of another size. `InvalidQuery`: what was asked makes no sense. `Damaged`: what is
 * stored cannot be read.
 */
export type RetrievalReason = "Unavailable" | "Timeout" | "Embedding" | "OtherEmbedding" | "InvalidQuery" | "Damaged"

/** An index could not be searched or changed. */
export class RetrievalError extends Data.TaggedError("RetrievalError")<{
  readonly reason: RetrievalReason
  /** Says what happened and, where there is one, the way out. */
  readonly message: string
  readonly cause?: unknown
}> {}

/** What was said of retrieval makes no sense, in all these points. */
export class InvalidRag extends Data.TaggedError("InvalidRag")<{
  /** Each says where, and what is expected there. */
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The retrieval is not configured right:\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}
