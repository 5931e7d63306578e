/**
 * The labelled set: questions, and what has to be found for each of them.
 */
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** A question, and the phrase that a passage of its source has if it is the right one. */
const Question = Schema.Struct({
  question: Schema.NonEmptyString,
  /** How it relates to the text. */
  kind: Schema.Literal("same words", "other words", "misspelt", "one word", "long", "other language"),
  /** A path from the root of the repository on. */
  source: Schema.NonEmptyString,
  /** To the letter. */
  answer: Schema.NonEmptyString
})
/** A question, and the phrase that a passage of its source has if it is the right one. */
export type Question = typeof Question.Type

const root = new URL("../../../../", import.meta.url)

/** A document, as it stands in the repository. */
export const read = (source: string): string => readFileSync(fileURLToPath(new URL(source, root)), "utf8")

/** All questions, in their order: those about one document stand together. */
export const questions: ReadonlyArray<Question> = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Question)))(
  read("packages/bench/retrieval/questions.json")
)

/** The documents that they are about. */
export const sources: ReadonlyArray<string> = Array.from(new Set(questions.map(({ source }) => source)))
