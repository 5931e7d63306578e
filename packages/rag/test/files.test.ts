import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Errors } from "@heddle/core"
import { DocumentIndex, type Documents, Ingestion, LexicalIndex, Retriever } from "@heddle/rag"
import { files, folder, type FolderOptions } from "@heddle/rag/files"
import { Effect, Stream } from "effect"
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "heddle-rag-"))
})
afterEach(() => rm(root, { recursive: true }))

const write = async (all: Record<string, string | Uint8Array>) => {
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

const all = (
  documents: Documents.Documents<Documents.DocumentsUnavailable, FileSystem.FileSystem | NodeContext.NodeContext>
) =>
  Effect.gen(function* () {
    const { items, total } = yield* documents
    const found = [...(yield* Stream.runCollect(items))]
    expect(total).toBe(found.length)
    return found
  })

const run = <A, E>(effect: Effect.Effect<A, E, NodeContext.NodeContext>) =>
  Effect.runPromise(Effect.provide(effect, NodeContext.layer))

/** The sources of a folder, with why they are skipped. */
const sources = async (options?: FolderOptions) =>
  (await run(all(folder(join(root, "docs"), options)))).map((one) =>
    one._tag === "Skipped" ? `${one.source}: ${one.reason}` : one.source
  )

describe("a folder", () => {
  it("has its files in the order of their paths, but hidden ones and packages", async () => {
    const names = ["b.md", "a/z.md", "a.md", "a/b/c.txt", "B.md", "a-b.md", "ü ö.md"]
    await write(Object.fromEntries(names.map((name) => [`docs/${name}`, "x"])))
    await write({
      "docs/.env": "x",
      "docs/.git/config": "x",
      "docs/node_modules/a.md": "x",
      "docs/a/node_modules/b.md": "x"
    })
    expect(await sources()).toEqual(names.toSorted())
  })

  it("gives those that are included, and not excluded", async () => {
    await write(
      Object.fromEntries(
        ["a.md", "b.txt", "x/a.md", "x/y/b.md", "drafts/a.md", "x/drafts/c.md", "a+b.md"].map((name) => [
          `docs/${name}`,
          "x"
        ])
      )
    )
    expect(await sources({ include: ["*.md"], exclude: ["drafts"] })).toEqual(["a+b.md", "a.md", "x/a.md", "x/y/b.md"])
    expect(await sources({ include: ["**/a.md"] })).toEqual(["a.md", "drafts/a.md", "x/a.md"])
    expect(await sources({ include: ["x/**"], exclude: ["/x/drafts/"] })).toEqual(["x/a.md", "x/y/b.md"])
    expect(await sources({ include: ["x/*"] })).toEqual(["x/a.md"])
    expect(await sources({ include: ["?.md"] })).toEqual(
      ["a.md", "drafts/a.md", "x/a.md", "x/drafts/c.md", "x/y/b.md"].toSorted()
    )
    expect(await sources({ include: ["a+b.md"] })).toEqual(["a+b.md"])
    expect(await sources({ include: [] })).toEqual([])
  })

  it("reports what cannot be read, and gives the rest", async () => {
    await write({
      "docs/a.md": "a",
      "docs/binary.md": Uint8Array.of(1, 0, 2),
      "docs/empty.md": "",
      "docs/latin.txt": Uint8Array.of(0xe9),
      "docs/large.md": "x",
      "docs/z.md": "z"
    })
    await truncate(join(root, "docs/large.md"), 200_000_000)
    expect(await sources()).toEqual([
      "a.md",
      "binary.md: Binary",
      "empty.md: Empty",
      "large.md: TooLarge",
      "latin.txt: Encoding",
      "z.md"
    ])
    expect(await sources({ maxBytes: 0 })).toContain("a.md: TooLarge")
  })

  it("reads a file of any size where there is no limit", async () => {
    await write({ "docs/a.md": "a".repeat(10_000_001) })
    expect(await sources()).toEqual(["a.md: TooLarge"])
    expect(await sources({ maxBytes: Infinity })).toEqual(["a.md"])
  })

  it("refuses what is no path and no number of bytes", () => {
    expect(() => folder("")).toThrow(Errors.DefinitionError)
    for (const maxBytes of [-1, 1.5, NaN, -Infinity]) {
      expect(() => folder("docs", { maxBytes })).toThrow(Errors.DefinitionError)
      expect(() => files(["a.md"], { maxBytes })).toThrow(Errors.DefinitionError)
    }
  })

  it("reads nothing of a file that is too large, and no more than that of one that does not say so", async () => {
    await write({ "docs/a.md": "a" })
    await truncate(join(root, "docs/a.md"), 200_000_000)
    for (const [size, most] of [
      [200_000_000, 0],
      [0, 200_000]
    ] as const) {
      let read = 0
      const telling = Effect.map(FileSystem.FileSystem, (fs) => ({
        ...fs,
        stat: (path: string) =>
          Effect.map(fs.stat(path), (info) => (info.type === "File" ? { ...info, size: FileSystem.Size(size) } : info)),
        stream: (...asked: Parameters<typeof fs.stream>) =>
          Stream.tap(fs.stream(...asked), (part) => Effect.sync(() => (read += part.length)))
      }))
      const found = await Effect.runPromise(
        all(folder(join(root, "docs"), { maxBytes: 100_000 })).pipe(
          Effect.provideServiceEffect(FileSystem.FileSystem, telling),
          Effect.provide(NodeContext.layer)
        )
      )
      expect(found).toMatchObject([{ source: "a.md", reason: "TooLarge" }])
      expect(read).toBeLessThanOrEqual(most)
    }
  })

  it("follows links on demand, and none that leaves it or has no end", async () => {
    await write({ "docs/x/a.md": "a", "outside/secret.md": "s", "docs2/b.md": "b" })
    await symlink(join(root, "outside"), join(root, "docs/out"))
    await symlink(join(root, "outside/secret.md"), join(root, "docs/secret.md"))
    await symlink(join(root, "docs2"), join(root, "docs/beside"))
    await symlink(join(root, "docs"), join(root, "docs/x/up"))
    await symlink(join(root, "docs/x"), join(root, "docs/y"))
    await symlink(join(root, "docs/gone"), join(root, "docs/broken"))
    await symlink("../x/a.md", join(root, "docs/x/same.md"))
    expect(await sources()).toEqual(["x/a.md"])
    expect(await sources({ followLinks: true })).toEqual([
      "beside: Link",
      "broken: Gone",
      "out: Link",
      "secret.md: Link",
      "x/a.md",
      "x/same.md",
      "y/a.md",
      "y/same.md"
    ])
  })

  it("follows no link to what is left out", async () => {
    await write({
      "docs/.hidden/key.md": "k",
      "docs/.env.md": "k",
      "docs/node_modules/pkg/read.md": "r",
      "docs/drafts/x.md": "x",
      "docs/drafts/deep/y.md": "y",
      "docs/a/secret.md": "s",
      "docs/a/open.md": "o"
    })
    const link = (to: string, name: string) => symlink(join(root, "docs", to), join(root, "docs", name))
    await link(".hidden", "hidden")
    await link(".hidden/key.md", "key.md")
    await link(".env.md", "env.md")
    await link("node_modules/pkg", "pkg")
    await link("drafts", "pub")
    await link("drafts/deep", "deep")
    await link("pub", "pubs")
    await link("a", "b")
    expect(await sources({ followLinks: true, exclude: ["drafts", "a/secret.md"] })).toEqual(["a/open.md", "b/open.md"])
    // What its own name leaves out is left out as well.
    expect(await sources({ followLinks: true, exclude: ["drafts", "b", "secret.md"] })).toEqual(["a/open.md"])
  })

  it("below what is hidden is read, for it is the folder that was asked for", async () => {
    await write({ ".notes/a.md": "a" })
    await symlink(join(root, ".notes"), join(root, "docs"))
    await symlink(join(root, ".notes/a.md"), join(root, ".notes/b.md"))
    expect(await sources({ followLinks: true })).toEqual(["a.md", "b.md"])
  })

  it("may be a link itself", async () => {
    await write({ "real/a.md": "a" })
    await symlink(join(root, "real"), join(root, "docs"))
    expect(await sources()).toEqual(["a.md"])
  })

  it("that is not there, or is a file, is an error that says so", async () => {
    await write({ docs: "x" })
    const reason = (path: string) => run(Effect.flip(all(folder(join(root, path)))))
    expect(await reason("gone")).toMatchObject({ _tag: "DocumentsUnavailable", reason: "NotFound" })
    expect(await reason("docs")).toMatchObject({ _tag: "DocumentsUnavailable", reason: "NotAFolder" })
  })

  it("is read although one in it cannot be", async () => {
    await write({ "docs/a.md": "a", "docs/shut/b.md": "b" })
    const failing = Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      readDirectory: (path: string) => fs.readDirectory(path.endsWith("shut") ? join(path, "gone") : path)
    }))
    const found = await run(
      Effect.provideServiceEffect(all(folder(join(root, "docs"))), FileSystem.FileSystem, failing)
    )
    expect(found.map(({ _tag, source }) => [_tag, source])).toEqual([
      ["Document", "a.md"],
      ["Skipped", "shut"]
    ])
  })
})

it("files are read in the order given, and one that is not there is skipped as gone", async () => {
  await write({ "a.md": "a", "b.md": "b", "c/d.md": "d" })
  const paths = ["b.md", "gone.md", "a.md", "c"].map((name) => join(root, name))
  const found = await run(all(files(paths)))
  expect(found.map((one) => [one._tag === "Skipped" ? one.reason : one._tag, one.source])).toEqual([
    ["Document", paths[0]],
    ["Gone", paths[1]],
    ["Document", paths[2]],
    ["Unreadable", paths[3]]
  ])
})

it("a file that is gone is found no more", async () => {
  await write({ "a.md": "a zebra", "b.md": "a zebra" })
  const paths = ["a.md", "b.md"].map((name) => join(root, name))
  const { index, retriever } = LexicalIndex.make()
  const indexed = () =>
    Ingestion.indexed({ documents: files(paths), collection: DocumentIndex.collection("docs") }).pipe(
      Effect.provideService(DocumentIndex.DocumentIndex, index),
      run
    )
  await indexed()
  await rm(paths[0]!)
  expect(await indexed()).toMatchObject({ removed: 1, unchanged: 1, skipped: [{ source: paths[0], reason: "Gone" }] })
  const found = await Effect.runPromise(retriever.search(Retriever.query("zebra")))
  expect(found.map(({ source }) => source)).toEqual([paths[1]])
})
