/**
 * How words and meaning are weighed against each other, filled in and checked.
 */
import { type EmbeddingModel, Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Duration from "effect/Duration"
import type { Options } from "../../SqlRetriever.ts"
import { oneOf, time } from "../given.ts"

export interface Settled {
  readonly weights: { readonly words: number; readonly vectors: number }
  readonly fusion: "scores" | "ranks"
  readonly candidates: number
  readonly minSimilarity: number
  readonly onEmbeddingFailure: "fail" | "lexical"
  readonly embeddingTimeout: Duration.Duration | undefined
}

/** A search by meaning as well as by words. */
export interface Embedding extends Settled {
  readonly model: EmbeddingModel.Service
}

/** Throws a `DefinitionError` for what makes no sense. */
export const settled = ({
  batch = {},
  candidates = 100,
  embeddingTimeout,
  fusion = "scores",
  minSimilarity = 0,
  onEmbeddingFailure = "fail",
  weights
}: Options): Settled & { readonly batch: EmbeddingModel.BatchOptions } => {
  const { vectors = 1, words = 1 } = weights ?? {}
  if (![vectors, words].every((weight) => weight >= 0 && weight < Infinity) || vectors + words === 0) {
    throw new Errors.DefinitionError(
      `weights are numbers from 0 up, not both 0, but are ${words} for words and ${vectors} for vectors.`
    )
  }
  if (!(minSimilarity >= -1 && minSimilarity <= 1)) {
    throw new Errors.DefinitionError(`minSimilarity is a number from -1 to 1, but is ${minSimilarity}.`)
  }
  const timeout = embeddingTimeout === undefined ? undefined : time("embeddingTimeout", embeddingTimeout)
  if (timeout !== undefined && Duration.toMillis(timeout) === 0) {
    throw new Errors.DefinitionError("embeddingTimeout is more than 0, but is not.")
  }
  return {
    weights: { words, vectors },
    minSimilarity,
    fusion: oneOf("fusion", fusion, ["scores", "ranks"]),
    onEmbeddingFailure: oneOf("onEmbeddingFailure", onEmbeddingFailure, ["fail", "lexical"]),
    embeddingTimeout: timeout,
    candidates: whole("candidates", candidates, 1),
    batch: {
      ...(batch.maxTexts !== undefined && { maxTexts: whole("batch.maxTexts", batch.maxTexts, 1) }),
      ...(batch.concurrency !== undefined && { concurrency: whole("batch.concurrency", batch.concurrency, 1) })
    }
  }
}
