/** The whole: opens the index, brings it up to date, asks in each mode. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { ChatModel } from "@heddle/core"
import { paint, short, type Terminal } from "@heddle/example-quickstart/terminal.ts"
import { OfflineEmbedding } from "@heddle/models"
import { SqlRetriever } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import { Effect, Layer } from "effect"
import type { Arguments } from "./arguments.ts"
import { ask, noting } from "./ask.ts"
import { indexing } from "./indexing.ts"
import { chosen, layerOf, offline } from "./model.ts"

/** What documents are indexed in: a file, or memory that is gone afterwards. */
const indexIn = (filename = ":memory:") =>
  SqlRetriever.layer().pipe(Layer.provide([libsql.layer({ filename }), OfflineEmbedding.layer]))

/** Indexes and answers. `live` is where a bar can be drawn in place, if there is such a place. */
export const askDocs = (given: Arguments, terminal: Terminal, live: Terminal | undefined, env: NodeJS.ProcessEnv) => {
  const name = chosen(given.model, env)
  const calls: Array<string> = []
  const model = Layer.effect(
    ChatModel.ChatModel,
    Effect.map(ChatModel.ChatModel, (model) => noting(model, calls))
  ).pipe(Layer.provide(layerOf(name)))
  const head = (title: string, text: string) => terminal.write(`${paint(terminal, "bold", title.padEnd(9))}${text}\n`)

  return Effect.gen(function* () {
    head("Indexing", short(given.folder, 80))
    yield* indexing(given.folder, terminal, live)
    head("\nQuestion", short(given.question, 200))
    head("Model", name === offline ? `${name}: no language model; it quotes what was found` : name)
    for (const mode of given.modes) yield* ask(given.question, mode, calls, terminal)
  }).pipe(Effect.provide(Layer.mergeAll(indexIn(given.db), model, NodeContext.layer)))
}
