/**
 * A folder of documents: which there are, what they say, where words occur.
 */
import { Effect, Schema } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"

/** A document cannot be had. */
export class DocumentError extends Schema.TaggedError<DocumentError>()("DocumentError", {
  path: Schema.String,
  reason: Schema.Literal("NotFound", "TooLarge", "NotADocument", "Unreadable")
}) {
  override get message(): string {
    return `${this.path}: ${{ NotFound: "not found", TooLarge: "too large", NotADocument: "not a document", Unreadable: "unreadable" }[this.reason]}`
  }
}

/** Files and folders in `root` that are documents or hold them. */
export interface Library {
  readonly root: string
  readonly include: ReadonlyArray<string>
}

/** A line that has words that were searched for. */
export interface Hit {
  readonly path: string
  readonly line: number
  readonly text: string
}

const isDocument = /\.(?:md|mdx|txt)$/i
const largest = 512 * 1024
const mostDocuments = 1_000
const mostHits = 6
const longestHit = 600

const failed = (file: string) => (cause: unknown) => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  const missing = code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR" || code === "ENAMETOOLONG"
  return new DocumentError({ path: file, reason: missing ? "NotFound" : "Unreadable" })
}

/** The paths of all documents, from the root. Links are not followed. */
export const list = (self: Library): Effect.Effect<ReadonlyArray<string>, DocumentError> =>
  Effect.map(
    Effect.forEach(self.include, (entry) => under(self, entry)),
    (found) => found.flat().toSorted().slice(0, mostDocuments)
  )

const under = (self: Library, entry: string): Effect.Effect<ReadonlyArray<string>, DocumentError> =>
  Effect.tryPromise({
    try: async () => {
      const full = path.join(self.root, entry)
      const stat = await fs.lstat(full)
      if (stat.isFile()) return isDocument.test(entry) ? [entry] : []
      if (!stat.isDirectory()) return []
      const entries = await fs.readdir(full, { recursive: true, withFileTypes: true })
      return entries
        .filter((found) => found.isFile() && isDocument.test(found.name))
        .map((found) => path.relative(self.root, path.join(found.parentPath, found.name)).split(path.sep).join("/"))
    },
    catch: failed(entry)
  }).pipe(
    Effect.catchIf(
      (error) => error.reason === "NotFound",
      () => Effect.succeed([])
    )
  )

/** The text of a document. */
export const read = (self: Library, file: string): Effect.Effect<string, DocumentError> =>
  Effect.gen(function* () {
    const full = path.resolve(self.root, file)
    if (!isDocument.test(file)) return yield* new DocumentError({ path: file, reason: "NotADocument" })
    const { size } = yield* Effect.tryPromise({ try: () => fs.stat(full), catch: failed(file) })
    if (size > largest) return yield* new DocumentError({ path: file, reason: "TooLarge" })
    return yield* Effect.tryPromise({
      try: (signal) => fs.readFile(full, { encoding: "utf8", signal }),
      catch: failed(file)
    })
  })

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** The lines that have most of the words, the best first, two of a document at the most. */
export const search = (self: Library, query: string): Effect.Effect<ReadonlyArray<Hit>, DocumentError> =>
  Effect.gen(function* () {
    // Words are matched by how they begin, so that "hooks" finds "hook".
    const asked = Array.from(new Set(wordsOf(query)), (word) =>
      word.length > 3 ? word.replace(/(?:ing|ed|s)$/, "") : word
    ).slice(0, 50)
    const documents = yield* list(self)
    const found = yield* Effect.forEach(
      documents,
      (file) =>
        read(self, file).pipe(
          Effect.map((text) => hits(file, text, asked)),
          // One that cannot be read does not hide the others.
          Effect.orElseSucceed((): ReadonlyArray<Scored> => [])
        ),
      { concurrency: 8 }
    )
    return found
      .flat()
      .toSorted((a, b) => b.score - a.score)
      .slice(0, mostHits)
      .map(({ hit }) => hit)
  })

interface Scored {
  readonly hit: Hit
  readonly score: number
}

const hits = (file: string, text: string, asked: ReadonlyArray<string>): ReadonlyArray<Scored> => {
  const whole = matches(text, asked) / 10
  return text
    .split("\n")
    .flatMap((line, i): ReadonlyArray<Scored> => {
      const score = matches(line, asked)
      return score === 0
        ? []
        : [{ score: score + whole, hit: { path: file, line: i + 1, text: line.trim().slice(0, longestHit) } }]
    })
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 2)
}

/** How many of the words a text has. */
const matches = (text: string, asked: ReadonlyArray<string>): number => {
  const words = new Set(wordsOf(text))
  return asked.filter((word) => words.has(word) || Array.from(words).some((other) => other.startsWith(word))).length
}
