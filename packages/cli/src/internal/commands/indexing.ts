/** `heddle index`: the documents of a folder, for agents to find passages in. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { DocumentIndex, type Documents, Ingestion, type RagErrors } from "@heddle/rag"
import * as files from "@heddle/rag/files"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Environment } from "../Environment.ts"
import { type CliError, describe, failed, usage } from "../failure.ts"
import { Output } from "../Output.ts"
import { Project } from "../Project.ts"
import { stored } from "../services.ts"
import { bar } from "../show/bar.ts"
import { jsonText, paint, short } from "../text.ts"
import { database, inProject, json } from "./common.ts"

const folder = Args.text({ name: "folder" }).pipe(Args.withDescription("The folder with the documents."))
const globs = (name: string, description: string) =>
  CliOptions.text(name).pipe(CliOptions.withDescription(description), CliOptions.repeated)
const include = globs("include", 'Files that are read, as a glob, such as "*.md". Can be said several times.')
const exclude = globs("exclude", "Files and folders that are left out, as a glob. Can be said several times.")
const collection = CliOptions.text("collection").pipe(
  CliOptions.withDescription("The name of the collection, which holds this folder alone: its path unless said."),
  CliOptions.optional
)
const clear = CliOptions.boolean("clear").pipe(
  CliOptions.withDescription("Forgets all of the collection, and indexes nothing. The folder need not be there.")
)

/** Where documents are, and what they are called. */
interface Place {
  readonly folder: string
  /** The path from the project on, or else the whole path. */
  readonly name: string
  /** What a document is called, by its path from the folder on: so that a tool that reads files of the project finds it. */
  readonly sourceOf: (path: string) => string
}

const placeOf = (given: string): Effect.Effect<Place, never, Project | Environment | FileSystem | Path> =>
  Effect.gen(function* () {
    const { root } = yield* Project
    const { cwd } = yield* Environment
    const fs = yield* FileSystem
    const path = yield* Path
    const at = path.resolve(cwd, given)
    const folder = yield* Effect.orElseSucceed(fs.realPath(at), () => at)
    const below = path.relative(root, folder).split(path.sep).join("/")
    if (below === "") return { folder, name: ".", sourceOf: (source) => source }
    if (below === ".." || below.startsWith("../") || path.isAbsolute(below)) {
      return { folder, name: folder, sourceOf: (source) => source }
    }
    return { folder, name: below, sourceOf: (source) => `${below}/${source}` }
  })

const isFolder = (given: string, { folder }: Place): Effect.Effect<void, CliError, FileSystem> =>
  Effect.flatMap(FileSystem, (fs) => fs.stat(folder)).pipe(
    Effect.mapError((error) =>
      error._tag === "SystemError" && error.reason === "NotFound"
        ? usage(`There is no folder "${given}".`)
        : failed(`The folder "${given}" cannot be read: ${error.message}`, error)
    ),
    Effect.filterOrFail(
      ({ type }) => type === "Directory",
      () => usage(`"${given}" is not a folder.`)
    ),
    Effect.asVoid
  )

const called =
  (sourceOf: Place["sourceOf"]) =>
  <E, R>(documents: Documents.Documents<E, R>): Documents.Documents<E, R> =>
    Effect.map(documents, (opened) => ({
      ...opened,
      items: Stream.map(opened.items, (item) => ({ ...item, source: sourceOf(item.source) }))
    }))

/** `heddle index` */
export const index = Command.make(
  "index",
  { folder, include, exclude, collection, clear, json, db: database },
  (given) =>
    inProject(
      Effect.gen(function* () {
        const place = yield* placeOf(given.folder)
        const name = Option.getOrElse(given.collection, () => place.name)
        if (name === "") return yield* usage("A collection has a name, but that of --collection is empty.")
        const { database, root } = yield* Project
        const of = DocumentIndex.collection(name, root)
        const told = given.clear ? forgotten(of, given) : indexed(of, place, given)
        const services = Layer.mapError(stored(database), (error) => failed(error.message, error))
        // A folder that is not there makes no database.
        if (!given.clear) yield* isFolder(given.folder, place)
        yield* Effect.provide(told, services)
      }),
      given
    )
).pipe(
  Command.withDescription(
    "Indexes the documents of a folder, for agents with retrieval. Again, it takes what has changed."
  )
)

interface Given {
  readonly folder: string
  readonly collection: Option.Option<string>
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  readonly json: boolean
}

const indexed = (of: DocumentIndex.Collection, place: Place, given: Given) =>
  Effect.gen(function* () {
    const { err, out } = yield* Output
    const { exclude, include } = given
    const documents = files.folder(place.folder, { exclude, ...(include.length > 0 && { include }) })
    const shown = bar(err)
    let done = 0
    const events = Ingestion.run({ documents: called(place.sourceOf)(documents), collection: of })
    yield* Stream.runForEach(events, (event) => {
      if (given.json) return out.write(`${jsonText(event)}\n`)
      switch (event._tag) {
        case "Finished":
          return Effect.zipRight(shown.away, out.write(`${summary(of.name, event)}\n`))
        case "Skipped": {
          done++
          const text = `${event.source}: ${event.message}`
          return Effect.zipRight(shown.away, err.write(`${paint(err, "yellow", "!")} ${short(text, 300)}\n`))
        }
        case "Started":
          return shown.at(0, "")
        default:
          done++
          return shown.at(event.fraction ?? 0, `${done} ${done === 1 ? "document" : "documents"}`)
      }
    }).pipe(Effect.ensuring(shown.away), Effect.mapError(failure(given)))
  })

/** How the collection is forgotten. */
const clearing = (given: { readonly folder: string; readonly collection: Option.Option<string> }): string =>
  ["heddle index", JSON.stringify(given.folder), "--clear"]
    .concat(Option.isSome(given.collection) ? ["--collection", JSON.stringify(given.collection.value)] : [])
    .join(" ")

const failure =
  (given: Parameters<typeof clearing>[0]) =>
  (error: Documents.DocumentsUnavailable | RagErrors.RetrievalError): CliError => {
    const remedy =
      error._tag === "RetrievalError" && error.reason === "OtherEmbedding" ? `\nTo clear it: ${clearing(given)}` : ""
    return failed(`${describe(error)}${remedy}`, error)
  }

const summary = (name: string, { chunks, indexed, removed, skipped, unchanged }: Ingestion.Summary): string => {
  const parts = [
    `${indexed} indexed${indexed === 0 ? "" : ` (${chunks} ${chunks === 1 ? "chunk" : "chunks"})`}`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : [])
  ]
  return `${short(name, 200)}: ${parts.join(", ")}`
}

const forgotten = (of: DocumentIndex.Collection, given: Given) =>
  Effect.gen(function* () {
    const { out } = yield* Output
    const documents = yield* DocumentIndex.DocumentIndex
    const { length } = yield* documents.documents(of)
    yield* documents.clear(of)
    yield* out.write(
      given.json
        ? `${jsonText({ _tag: "Cleared", collection: of.name, documents: length })}\n`
        : `${short(of.name, 200)}: ${length} forgotten\n`
    )
  }).pipe(Effect.mapError(failure(given)))
