/**
 * What is measured: the documents, cut into chunks, and the retrievers over them.
 */
import type { Errors } from "@heddle/core"
import { OfflineEmbedding } from "@heddle/models"
import { Chunking, DocumentIndex, LexicalIndex, type RagErrors, Retriever } from "@heddle/rag"
import * as Effect from "effect/Effect"
import { read, sources } from "./questions.ts"
import * as vectors from "./vectors.ts"

/** The documents that the questions are about, in chunks as they are by default. */
export const documents: ReadonlyArray<DocumentIndex.IndexedDocument> = sources.map((source) => ({
  source,
  hash: "1",
  chunks: Chunking.chunk(source, {
    format: source.endsWith(".md") ? "markdown" : "text",
    text: read(source),
    metadata: {}
  })
}))

/** Retrievers over all of them, each with its name. */
export const retrievers: Effect.Effect<
  ReadonlyArray<readonly [name: string, Retriever.Service]>,
  RagErrors.RetrievalError | Errors.ModelError
> = Effect.gen(function* () {
  const { index, retriever: lexical } = LexicalIndex.make()
  yield* index.put(DocumentIndex.collection("set"), documents)
  const vector = yield* vectors.make(OfflineEmbedding.make(), documents)
  return [
    ["lexical", lexical],
    ["vector", vector],
    ["hybrid", Retriever.union([lexical, vector])]
  ]
})
