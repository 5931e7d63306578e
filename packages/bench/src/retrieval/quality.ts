/**
 * How well a retriever finds what is asked for.
 */
import { type RagErrors, Retriever } from "@heddle/rag"
import * as Effect from "effect/Effect"
import type { Question } from "./questions.ts"

/** A question, and at which rank the first right passage was found, from 1; `Infinity` where it was not. */
export interface Ranked {
  readonly question: Question
  readonly rank: number
}

/** How well it went, over some questions. */
export interface Quality {
  readonly questions: number
  /** The share of the questions for which one of the first five passages is right. */
  readonly recallAt5: number
  /** The mean of 1 / rank, where what is not among the first ten counts for nothing. */
  readonly mrr: number
}

/** How deep is looked. */
const topK = 10

/** Puts the questions to a retriever. */
export const ranked = (
  { search }: Retriever.Service,
  questions: ReadonlyArray<Question>
): Effect.Effect<ReadonlyArray<Ranked>, RagErrors.RetrievalError> =>
  Effect.forEach(questions, (question) =>
    Effect.map(search(Retriever.query(question.question, { topK })), (passages) => {
      const at = passages.findIndex((passage) => isRight(question, passage))
      return { question, rank: at < 0 ? Infinity : at + 1 }
    })
  )

/** Whether a passage has the answer in it. */
export const isRight = ({ answer, source }: Question, passage: Pick<Retriever.Passage, "source" | "text">): boolean =>
  passage.source === source && passage.text.includes(answer)

/** Sums up; of no questions, everything is `NaN`. */
export const quality = (all: ReadonlyArray<Ranked>): Quality => {
  const mean = (of: (rank: number) => number) => all.reduce((sum, { rank }) => sum + of(rank), 0) / all.length
  return { questions: all.length, recallAt5: mean((rank) => (rank <= 5 ? 1 : 0)), mrr: mean((rank) => 1 / rank) }
}
