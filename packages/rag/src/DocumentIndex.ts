/**
 * The port to what documents are indexed in. What holds one is a `Retriever` as well,
 * which finds what was put in here.
 *
 * Documents are kept by tenant, collection and source. A collection is what is
 * indexed together, so that what is gone from it can be removed: a folder, say.
 */
import { Errors, Tenant } from "@heddle/core"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RetrievalError } from "./RagErrors.ts"
import type { Metadata } from "./Retriever.ts"

/** Where documents are kept. Neither is empty. */
export interface Collection {
  readonly tenant: string
  readonly name: string
}

/** A collection of a tenant. Throws a `DefinitionError` if one of the names is empty. */
export const collection = (name: string, tenant: string = Tenant.defaultTenant): Collection => {
  if (name === "" || tenant === "") {
    throw new Errors.DefinitionError(`A collection and its tenant have names, but these are "${name}" and "${tenant}".`)
  }
  return { tenant, name }
}

/** A piece of a document, as it is found. */
export interface Chunk {
  /** No other chunk of the collection has it. */
  readonly id: string
  readonly text: string
  /** What is searched besides the text, for example the headings above it. */
  readonly context: string
  readonly metadata: Metadata
}

/** A document, as it is indexed. */
export interface IndexedDocument {
  readonly source: string
  /** Changes when anything about the document changes. */
  readonly hash: string
  readonly chunks: ReadonlyArray<Chunk>
}

/** What is known of a document that is indexed. */
export interface DocumentInfo {
  readonly source: string
  readonly hash: string
  readonly chunks: number
}

/** What documents are indexed in. Each operation happens at one moment: who searches sees all of it or nothing. */
export interface Service {
  /** The documents of a collection, in the order of their sources. */
  readonly documents: (of: Collection) => Effect.Effect<ReadonlyArray<DocumentInfo>, RetrievalError>
  /** Puts documents into a collection, each in the place of the one with its source. */
  readonly put: (of: Collection, documents: ReadonlyArray<IndexedDocument>) => Effect.Effect<void, RetrievalError>
  /** Removes documents; sources that are not there are no mistake. */
  readonly remove: (of: Collection, sources: ReadonlyArray<string>) => Effect.Effect<void, RetrievalError>
  /** Removes all documents of a collection, and with them what it knows of an embedding model. */
  readonly clear: (of: Collection) => Effect.Effect<void, RetrievalError>
}

/** What documents are indexed in. */
export class DocumentIndex extends Context.Tag("@heddle/rag/DocumentIndex")<DocumentIndex, Service>() {}
