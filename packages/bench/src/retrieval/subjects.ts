/**
 * What is measured: the documents, cut into chunks, and the retrievers over them.
 */
import { OfflineEmbedding } from "@heddle/models"
import { Chunking, DocumentIndex, LexicalIndex, type RagErrors, Retriever } from "@heddle/rag"
import { type DatabaseError, SqlRetriever } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { read, sources } from "./questions.ts"

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

const hybrid = (options: SqlRetriever.Options) =>
  SqlRetriever.layer(options).pipe(Layer.provide([OfflineEmbedding.layer, libsql.layer({ filename: ":memory:" })]))

/** Each has an index of its own. */
const layers: Readonly<
  Record<string, Layer.Layer<DocumentIndex.DocumentIndex | Retriever.Retriever, DatabaseError.DatabaseError>>
> = {
  lexical: LexicalIndex.layer,
  vector: hybrid({ weights: { words: 0 } }),
  hybrid: hybrid({})
}

/** Retrievers over all of them, each with its name. */
export const retrievers: Effect.Effect<
  ReadonlyArray<readonly [name: string, Retriever.Service]>,
  DatabaseError.DatabaseError | RagErrors.RetrievalError,
  Scope.Scope
> = Effect.forEach(Object.entries(layers), ([name, layer]) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(layer)
    yield* Context.get(services, DocumentIndex.DocumentIndex).put(DocumentIndex.collection("set"), documents)
    return [name, Context.get(services, Retriever.Retriever)] as const
  })
)
