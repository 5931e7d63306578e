/**
 * Documents of a folder or of files, on the `FileSystem` of `@effect/platform`, which
 * has to be installed.
 *
 * @example
 * ```ts no-run
 * import * as NodeContext from "@effect/platform-node/NodeContext"
 * import { DocumentIndex, Ingestion } from "@heddle/rag"
 * import { folder } from "@heddle/rag/files"
 * import { Effect } from "effect"
 *
 * const program = Ingestion.indexed({
 *   documents: folder("docs", { include: ["*.md"], exclude: ["drafts"] }),
 *   collection: DocumentIndex.collection("docs")
 * }).pipe(Effect.provide(NodeContext.layer))
 * ```
 */
import type { PlatformError } from "@effect/platform/Error"
import { FileSystem } from "@effect/platform/FileSystem"
import { Path } from "@effect/platform/Path"
import { Errors } from "@heddle/core"
import { whole } from "@heddle/core/store"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { document, type Documents, DocumentsUnavailable, type Item, type Skipped, skipped } from "./Documents.ts"
import { anyOf } from "./internal/fileGlob.ts"

/** How files are read. */
export interface FileOptions {
  /** Bytes of a file at the most; a larger one is skipped, and is not read; `Infinity` for any. @default 10 megabytes */
  readonly maxBytes?: number
}

/** Which files of a folder are read. */
export interface FolderOptions extends FileOptions {
  /**
   * Globs, one of which a file must match; all files unless said. `*` is any text and
   * `?` any character within a name, `**` any text. One without `/` is for names at any
   * depth, one with it for paths from the folder on.
   */
  readonly include?: ReadonlyArray<string>
  /** Globs of files and folders that are left out. Hidden ones and `node_modules` always are. */
  readonly exclude?: ReadonlyArray<string>
  /**
   * Whether links are followed that stay in the folder. Others never are, nor are those
   * that lead to what is left out: what holds for a path holds for where it leads. @default false
   */
  readonly followLinks?: boolean
}

/**
 * The files of a folder and of those in it, in the order of their paths from there on,
 * which are their sources, with `/` on every system. Their number is known before they
 * are read. Fails if the folder cannot be read; one in it that cannot be read is skipped.
 * Throws a `DefinitionError` for a path of `""`, and for a `maxBytes` that makes no sense.
 */
export const folder = (
  path: string,
  options: FolderOptions = {}
): Documents<DocumentsUnavailable, FileSystem | Path> => {
  if (path === "") throw new Errors.DefinitionError('A folder has a path, but this one is "".')
  const maxBytes = most(options)
  return Effect.gen(function* () {
    const fs = yield* FileSystem
    const paths = yield* Path
    const included = options.include === undefined ? () => true : anyOf(options.include)
    const excluded = anyOf(options.exclude ?? [])
    const root = yield* Effect.mapError(fs.realPath(path), unavailable(path))
    if ((yield* Effect.mapError(fs.stat(root), unavailable(path))).type !== "Directory") {
      return yield* Effect.fail(
        new DocumentsUnavailable({ reason: "NotAFolder", message: `"${path}" is not a folder.` })
      )
    }

    /** Where a real path is in the folder. */
    const within = (real: string) => paths.relative(root, real).replaceAll(paths.sep, "/")
    /** Whether a file or a folder is left out, by its path from the folder on. */
    const isLeftOut = (path: string) => {
      const name = path.slice(path.lastIndexOf("/") + 1)
      return name.startsWith(".") || name === "node_modules" || excluded(path)
    }

    type Found = Item | { readonly _tag: "File"; readonly source: string; readonly path: string }
    /** What is in a folder. `above` are the folders that it is in: a link to one of them has no end. */
    const list = (
      real: string,
      source: string,
      above: ReadonlyArray<string>
    ): Effect.Effect<Array<Found>, PlatformError> =>
      Effect.map(
        Effect.flatMap(fs.readDirectory(real), (names) =>
          Effect.forEach(names, (name) => look(real, source === "" ? name : `${source}/${name}`, name, above), {
            concurrency: 16
          })
        ),
        (all) => all.flat()
      )
    const look = (
      parent: string,
      source: string,
      name: string,
      above: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<Found>> => {
      if (isLeftOut(source) || isLeftOut(within(paths.join(parent, name)))) return Effect.succeed([])
      return Effect.gen(function* () {
        const isLink = yield* Effect.isSuccess(fs.readLink(paths.join(parent, name)))
        if (isLink && options.followLinks !== true) return []
        const real = isLink ? yield* fs.realPath(paths.join(parent, name)) : paths.join(parent, name)
        if (isLink && !real.startsWith(root.endsWith(paths.sep) ? root : root + paths.sep)) {
          return real === root ? [] : [skipped(source, "Link", "It is a link that leaves the folder.")]
        }
        if (isLink && upTo(within(real)).some(isLeftOut)) return []
        const { type } = yield* fs.stat(real)
        if (type === "Directory") return above.includes(real) ? [] : yield* list(real, source, [...above, real])
        return type === "File" && included(source) ? [{ _tag: "File" as const, source, path: real }] : []
      }).pipe(Effect.catchAll((error) => Effect.succeed([unread(source, error)])))
    }

    const found = yield* Effect.mapError(list(root, "", [root]), unavailable(path))
    return {
      total: found.length,
      items: Stream.fromIterable(found.toSorted((a, b) => (a.source < b.source ? -1 : 1))).pipe(
        Stream.mapEffect((one) => (one._tag === "File" ? read(fs, one, maxBytes) : Effect.succeed(one)))
      )
    }
  })
}

/**
 * Files, in the order given, each under its path as its source. One that is not there is
 * skipped as `Gone`, and what was indexed of it is removed. Throws a `DefinitionError` for a `maxBytes` that makes no sense.
 */
export const files = (all: ReadonlyArray<string>, options: FileOptions = {}): Documents<never, FileSystem> => {
  const maxBytes = most(options)
  return Effect.map(FileSystem, (fs) => ({
    total: all.length,
    items: Stream.mapEffect(Stream.fromIterable(all), (path) => read(fs, { source: path, path }, maxBytes))
  }))
}

const most = ({ maxBytes = 10_000_000 }: FileOptions): number => whole("maxBytes", maxBytes, 0)

const isNotFound = (error: PlatformError) => error._tag === "SystemError" && error.reason === "NotFound"

const unread = (source: string, error: PlatformError): Skipped =>
  isNotFound(error) ? skipped(source, "Gone", "It is not there.") : skipped(source, "Unreadable", error.message)

const unavailable = (path: string) => (cause: PlatformError) =>
  isNotFound(cause)
    ? new DocumentsUnavailable({ reason: "NotFound", message: `There is no folder "${path}".`, cause })
    : new DocumentsUnavailable({ reason: "Unreadable", message: `"${path}" cannot be read: ${cause.message}`, cause })

/** A path and those of the folders that it is in. */
const upTo = (path: string): ReadonlyArray<string> => {
  const names = path.split("/")
  return names.map((_, i) => names.slice(0, i + 1).join("/"))
}

/** Reads a file, but for one that is too large. */
const read = (
  fs: FileSystem,
  { path, source }: { readonly path: string; readonly source: string },
  maxBytes: number
): Effect.Effect<Item> => {
  const tooLarge = (size: string) => skipped(source, "TooLarge", `It has ${size} bytes, and maxBytes is ${maxBytes}.`)
  return Effect.gen(function* () {
    const { size, type } = yield* fs.stat(path)
    if (type !== "File") return skipped(source, "Unreadable", "It is not a file.")
    if (size > maxBytes) return tooLarge(String(size))
    // What says nothing of its size, or grows, is not read without end.
    const parts = yield* Stream.runCollect(fs.stream(path, maxBytes === Infinity ? {} : { bytesToRead: maxBytes + 1 }))
    const bytes = joined(Chunk.toReadonlyArray(parts))
    return bytes.length > maxBytes ? tooLarge(`more than ${maxBytes}`) : yield* document({ source }, bytes)
  }).pipe(Effect.catchAll((error) => Effect.succeed(unread(source, error))))
}

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
