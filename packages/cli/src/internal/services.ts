/**
 * What agents and workflows run on: the models, and what is kept.
 */
import type { ChatModel } from "@heddle/core"
import { Conversations, Summaries } from "@heddle/memory"
import { type ModelProvider, ModelRegistry, OfflineEmbedding } from "@heddle/models"
import * as aiSdk from "@heddle/models/aiSdk"
import { type DocumentIndex, LexicalIndex, type Retriever } from "@heddle/rag"
import { type DatabaseError, SqlConversations, SqlHistoryStore, SqlRetriever } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import { HistoryStore } from "@heddle/workflow"
import * as Layer from "effect/Layer"

/** What is kept: in the file, or for as long as the command runs. */
export type Stores =
  Conversations.Conversations | HistoryStore.HistoryStore | DocumentIndex.DocumentIndex | Retriever.Retriever

/** What agents and workflows run on. */
export type Services = Stores | Summaries.Summaries | ChatModel.ChatModel | ModelRegistry.ModelRegistry

const index = SqlRetriever.layer().pipe(Layer.provide(OfflineEmbedding.layer))

/** What is kept in a file. */
export const stored = (filename: string): Layer.Layer<Stores, DatabaseError.DatabaseError> =>
  Layer.mergeAll(SqlConversations.layer, SqlHistoryStore.layer, index).pipe(Layer.provide(libsql.layer({ filename })))

/** What is kept for as long as the command runs. */
export const fleeting: Layer.Layer<Stores> = Layer.mergeAll(
  Conversations.layerMemory(),
  HistoryStore.layerMemory(),
  LexicalIndex.layer
)

/** What is indexed in a file, and nothing else of it. */
export const searching = (filename: string): Layer.Layer<Stores, DatabaseError.DatabaseError> =>
  Layer.mergeAll(
    Conversations.layerMemory(),
    HistoryStore.layerMemory(),
    index.pipe(Layer.provide(libsql.layer({ filename })))
  )

/** Providers that every command has, whose models can be named as `provider/model`. */
export const providers: ReadonlyArray<ModelProvider.ModelProvider> = [
  aiSdk.anthropic,
  aiSdk.google,
  aiSdk.ollama,
  aiSdk.openai,
  aiSdk.openaiCompatible
]

/** All of it. `defaultModel` answers where nobody names a model; it has to be in the registry when it is asked. */
export const layer = <E>(options: {
  readonly stores: Layer.Layer<Stores, E>
  readonly defaultModel: string
  readonly providers: ReadonlyArray<ModelProvider.ModelProvider>
  readonly models: ReadonlyArray<ModelRegistry.Entry>
}) =>
  Summaries.layer().pipe(
    Layer.provideMerge(ModelRegistry.layerChatModel(options.defaultModel)),
    Layer.provideMerge(ModelRegistry.layer({ providers: options.providers, models: options.models })),
    Layer.provideMerge(options.stores)
  )
