/** The whole: opens the index, brings it up to date, asks in each mode. */
import { NodeContext } from "@effect/platform-node"
import { ChatModel } from "@heddle/core"
import { temporaryFile } from "@heddle/example-conversation/process.ts"
import { paint, short, type Terminal } from "@heddle/example-quickstart/terminal.ts"
import { Effect, Layer } from "effect"
import type { Arguments } from "./arguments.ts"
import { ask, noting } from "./ask.ts"
import { indexing } from "./indexing.ts"
import { chosen, layerOf } from "./model.ts"

/** Indexes and answers. `live` is where a bar can be drawn in place, if there is such a place. */
export const askDocs = (given: Arguments, terminal: Terminal, live: Terminal | undefined, env: NodeJS.ProcessEnv) =>
  Effect.gen(function* () {
    const filename = given.db ?? (yield* temporaryFile)
    const name = chosen(given.model, env)
    const calls: Array<string> = []
    const model = Layer.effect(
      ChatModel.ChatModel,
      Effect.map(ChatModel.ChatModel, (model) => noting(model, calls))
    ).pipe(Layer.provide(layerOf(name)))

    terminal.write(`${paint(terminal, "bold", "Indexing")} ${short(given.folder, 80)}\n`)
    yield* Effect.gen(function* () {
      yield* indexing(given.folder, terminal, live)
      terminal.write(`\n${paint(terminal, "bold", "Question")} ${short(given.question, 200)}\n`)
      const why =
        name === "offline/offline" ? " (no language model: it quotes what was found; set an API key for one)" : ""
      terminal.write(`${paint(terminal, "bold", "Model")}    ${name}${why}\n`)
      for (const mode of given.modes) yield* ask(given.question, mode, calls, terminal)
    }).pipe(Effect.provide(Layer.mergeAll(indexIn(filename), model, NodeContext.layer)))
  }).pipe(Effect.scoped)
