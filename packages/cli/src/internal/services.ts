/**
 * What agents and workflows run on: the models, and what is kept.
 */
import { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import type { ChatModel } from "@heddle/core"
import { Conversations, Summaries } from "@heddle/memory"
import { type ModelProvider, ModelRegistry } from "@heddle/models"
import * as aiSdk from "@heddle/models/aiSdk"
import { type DocumentIndex, LexicalIndex, RagErrors, Retriever } from "@heddle/rag"
import { DatabaseError, fromCause } from "@heddle/sql/DatabaseError"
import { HistoryStore } from "@heddle/workflow"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeFile } from "./files.ts"

/** What is kept: in the file, or for as long as the command runs. */
export type Stores =
  Conversations.Conversations | HistoryStore.HistoryStore | DocumentIndex.DocumentIndex | Retriever.Retriever

/** What agents and workflows run on. */
export type Services = Stores | Summaries.Summaries | ChatModel.ChatModel | ModelRegistry.ModelRegistry

/** What is kept in a file, which its user alone can read if it is made for that. */
export const stored = (filename: string): Layer.Layer<Stores, DatabaseError, FileSystem | Path> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      yield* Effect.mapError(makeFile(filename), (error) => fromCause(`The file ${filename}`, error.cause ?? error))
      const { stored } = yield* Effect.promise(() => import("./stored.ts"))
      return Layer.mapError(stored(filename), forPerson(filename))
    })
  )

/** The error for those who have this command and not its packages. */
const forPerson =
  (filename: string) =>
  (error: DatabaseError): DatabaseError =>
    error.reason === "Newer"
      ? new DatabaseError({
          reason: error.reason,
          message: `The file ${filename} was written by a newer version of heddle. Update heddle, or name another file with --db.`,
          cause: error
        })
      : error

/** What is kept for as long as the command runs. */
export const fleeting: Layer.Layer<Stores> = Layer.mergeAll(
  Conversations.layerMemory(),
  HistoryStore.layerMemory(),
  LexicalIndex.layer
)

/** Searches the index in a file, which is opened when somebody searches, and not made where it is not there. */
export const searching = (filename: string): Layer.Layer<Retriever.Retriever, never, FileSystem> =>
  Layer.scoped(
    Retriever.Retriever,
    Effect.gen(function* () {
      const fs = yield* FileSystem
      const scope = yield* Effect.scope
      const unavailable = (message: string, cause?: unknown) =>
        new RagErrors.RetrievalError({ reason: "Unavailable", message, cause })
      const opened = yield* Effect.cached(
        Effect.gen(function* () {
          if (!(yield* Effect.orElseSucceed(fs.exists(filename), () => false))) {
            return yield* unavailable("Nothing is indexed yet: heddle index FOLDER indexes the documents of a folder.")
          }
          const { indexed } = yield* Effect.promise(() => import("./stored.ts"))
          const context = yield* Effect.mapError(Layer.buildWithScope(indexed(filename), scope), (error) =>
            unavailable(forPerson(filename)(error).message, error)
          )
          return Context.get(context, Retriever.Retriever)
        })
      )
      return { search: (query) => Effect.flatMap(opened, (retriever) => retriever.search(query)) }
    })
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
export const layer = <E, R>(options: {
  readonly stores: Layer.Layer<Stores, E, R>
  readonly defaultModel: string
  readonly providers: ReadonlyArray<ModelProvider.ModelProvider>
  readonly models: ReadonlyArray<ModelRegistry.Entry>
}) =>
  Summaries.layer().pipe(
    Layer.provideMerge(ModelRegistry.layerChatModel(options.defaultModel)),
    Layer.provideMerge(ModelRegistry.layer({ providers: options.providers, models: options.models })),
    Layer.provideMerge(options.stores)
  )
