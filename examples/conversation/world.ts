/**
 * What the agents live on: the conversations in one file, a model, and summaries that
 * are written beside the runs.
 */
import { Summaries } from "@heddle/memory"
import { SqlConversations } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import { Layer } from "effect"
import { Model } from "./model.ts"
import { traced } from "./seen.ts"

/** Opens the file; it is closed with the layer. */
export const onFile = (filename: string) =>
  Summaries.layer().pipe(
    Layer.provideMerge(traced),
    Layer.provide(SqlConversations.layer),
    Layer.provide(libsql.layer({ filename })),
    Layer.provideMerge(Model)
  )
