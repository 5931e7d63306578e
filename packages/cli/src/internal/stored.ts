/** What is kept in a file. It takes a moment to load, so it is loaded by those who use it. */
import { SqlConversations, SqlHistoryStore, SqlRetriever } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import { OfflineEmbedding } from "@heddle/models"
import * as Layer from "effect/Layer"

const index = SqlRetriever.layer().pipe(Layer.provide(OfflineEmbedding.layer))

/** All that is kept in a file. */
export const stored = (filename: string) =>
  Layer.mergeAll(SqlConversations.layer, SqlHistoryStore.layer, index).pipe(Layer.provide(libsql.layer({ filename })))

/** The index in a file. */
export const indexed = (filename: string) => Layer.provide(index, libsql.layer({ filename }))
