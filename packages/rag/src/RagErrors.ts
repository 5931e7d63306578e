/**
 * The errors of retrieval.
 */
import { causeText } from "@heddle/core/cause"
import * as Data from "effect/Data"

/**
 * Why nothing could be searched or indexed. `Unavailable`: what holds the index does
 * not answer. `Timeout`: it took too long. `Embedding`: the embedding model failed.
 * `OtherEmbedding`: the index was made with another embedding model, or with vectors
 * of another size. `Ranking`: what ranks passages anew failed, or gave no scores.
 * `InvalidQuery`: what was asked makes no sense. `Damaged`: what is stored cannot be
 * read.
 */
export type RetrievalReason =
  "Unavailable" | "Timeout" | "Embedding" | "OtherEmbedding" | "Ranking" | "InvalidQuery" | "Damaged"

/** An index could not be searched or changed. */
export class RetrievalError extends Data.TaggedError("RetrievalError")<{
  readonly reason: RetrievalReason
  /** Says what happened and, where there is one, the way out. */
  readonly message: string
  readonly cause?: unknown
}> {}

/** The model gave no notes on a passage, or no text made of notes or passages. The run goes on without. */
export class NotesFailed extends Data.TaggedError("NotesFailed")<{
  /** `map`: notes on one passage; `reduce`: one text of the notes; `summary`: one text of the passages. */
  readonly step: "map" | "reduce" | "summary"
  /** Of `map`: the passage's id. */
  readonly passage?: string
  readonly reason: "Model" | "Timeout" | "Empty" | "TooLong"
  /** Of `Model`: what it failed with. */
  readonly cause?: unknown
}> {
  override get message(): string {
    const what = {
      map: `Notes on the passage "${this.passage}"`,
      reduce: "One text of the notes",
      summary: "One text of the passages"
    }[this.step]
    const why = {
      Model: "the model failed",
      Timeout: "it took too long",
      Empty: "the model said nothing",
      TooLong: "it was longer than it may be"
    }[this.reason]
    return `${what} could not be had: ${why}${this.cause === undefined ? "" : ` (${causeText(this.cause)})`}.`
  }
}

/** What was said of retrieval makes no sense, in all these points. */
export class InvalidRag extends Data.TaggedError("InvalidRag")<{
  /** Each says where, and what is expected there. */
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The retrieval is not configured right:\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}
