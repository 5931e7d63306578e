import { Errors } from "@heddle/core"
import { Chunking, DocumentIndex, Documents, Ingestion, RagErrors, Retriever } from "@heddle/rag"
import { Deferred, Effect, FastCheck as fc, Fiber, Stream } from "effect"
import { describe, expect, it, vi } from "vitest"
import { layer, make } from "./referenceIndex.ts"

const docs = DocumentIndex.collection("docs")
const texts = (all: Record<string, string>) =>
  Documents.texts(Object.entries(all).map(([source, text]) => ({ source, text })))
const indexed = (all: Record<string, string>, options: Partial<Ingestion.Options> = {}) =>
  Ingestion.indexed({ documents: texts(all), collection: docs, ...options })
const listed = Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.documents(docs))
const sources = Effect.map(listed, (all) => all.map(({ source }) => source))
const found = (query: string) =>
  Effect.map(
    Effect.flatMap(Retriever.Retriever, (retriever) => retriever.search(Retriever.query(query, { topK: 100 }))),
    (all) => all.map(({ text }) => text)
  )
const events = <E, R>(options: Ingestion.Options<E, R>) =>
  Effect.map(Stream.runCollect(Ingestion.run(options)), (all) => [...all])

const run = <A, E>(effect: Effect.Effect<A, E, DocumentIndex.DocumentIndex | Retriever.Retriever>) =>
  Effect.runPromise(Effect.provide(effect, layer()))

/** An index that tells what is put. */
const counting = () => {
  const puts: Array<ReadonlyArray<DocumentIndex.IndexedDocument>> = []
  return {
    puts,
    layer: layer(({ index, retriever }) => ({
      retriever,
      index: {
        ...index,
        put: (of, all) =>
          Effect.zipRight(
            Effect.sync(() => puts.push(all)),
            index.put(of, all)
          )
      }
    }))
  }
}

describe("a run", () => {
  it("indexes what is new or has changed, leaves the rest alone, and removes what is gone", () =>
    run(
      Effect.gen(function* () {
        expect(yield* indexed({ "a.md": "# A\n\na zebra", "b.md": "# B\n\nb", "c.md": "c" })).toEqual({
          indexed: 3,
          chunks: 3,
          unchanged: 0,
          removed: 0,
          skipped: []
        })
        expect(yield* found("zebra")).toEqual(["# A\n\na zebra"])
        const next = { "a.md": "# A\n\na lion\n\n## More\n\nmore", "b.md": "# B\n\nb", "d.md": "d" }
        expect(yield* indexed(next)).toMatchObject({ indexed: 2, chunks: 3, unchanged: 1, removed: 1 })
        expect(yield* sources).toEqual(["a.md", "b.md", "d.md"])
        expect(yield* found("zebra")).toEqual([])
        expect(yield* indexed(next)).toMatchObject({ indexed: 0, chunks: 0, unchanged: 3, removed: 0 })
        expect(yield* indexed({})).toMatchObject({ removed: 3 })
      })
    ))

  it("tells of each document, and how far it is", () =>
    run(
      Effect.gen(function* () {
        yield* indexed({ "a.md": "a", "gone.md": "x" })
        const all = yield* events({ documents: texts({ "a.md": "a", "b.md": "b", "c.md": "" }), collection: docs })
        expect(all).toEqual([
          { _tag: "Started", total: 3, fraction: 0 },
          { _tag: "Unchanged", source: "a.md", fraction: 1 / 3 },
          { _tag: "Skipped", source: "c.md", reason: "Empty", message: "It is empty.", fraction: 2 / 3 },
          { _tag: "Indexed", source: "b.md", chunks: 1, fraction: 1 },
          { _tag: "Removed", source: "gone.md", fraction: 1 },
          {
            _tag: "Finished",
            indexed: 1,
            chunks: 1,
            unchanged: 1,
            removed: 1,
            skipped: [Documents.skipped("c.md", "Empty", "It is empty.")],
            fraction: 1
          }
        ])
        const { items } = yield* texts({ "a.md": "a" })
        const unknown = yield* events({ documents: Effect.succeed({ items }), collection: docs })
        expect(unknown.map((event) => event.fraction)).toEqual([undefined, undefined, undefined, 1])
      })
    ))

  it("does not read what is unchanged, and cuts all anew when the chunking changes", () =>
    run(
      Effect.gen(function* () {
        let reads = 0
        const counted = Effect.map(texts({ "a.md": "a", "b.md": "b" }), ({ items }) => ({
          items: Stream.map(items, (item) =>
            item._tag === "Skipped" ? item : { ...item, read: Effect.tap(item.read, () => void reads++) }
          )
        }))
        const options = { documents: counted, collection: docs }
        yield* Ingestion.indexed(options)
        yield* Ingestion.indexed({ ...options, chunking: { maxCharacters: 1200, overlap: 150 } })
        expect(reads).toBe(2)
        yield* Ingestion.indexed({ ...options, chunking: { overlap: 0 } })
        expect(reads).toBe(4)
      })
    ))

  it("puts documents in groups, each as a whole", async () => {
    const { layer, puts } = counting()
    const all = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.md`, `# A\n\na\n\n# B\n\n${n}`]))
    await Effect.runPromise(Effect.provide(indexed(all, { batch: 5 }), layer))
    expect(puts.map((group) => group.length)).toEqual([3, 3, 3, 1])
    expect(puts.flat().every(({ chunks }) => chunks.length === 2)).toBe(true)
  })

  it("takes the first of documents with one source, and says so of the others", () =>
    run(
      Effect.gen(function* () {
        const documents = Documents.texts(["first zebra", "second zebra"].map((text) => ({ source: "a.md", text })))
        for (const unchanged of [0, 1]) {
          const done = yield* Ingestion.indexed({ documents, collection: docs })
          expect(done).toMatchObject({ unchanged, skipped: [{ source: "a.md", reason: "Duplicate" }] })
          expect(yield* found("zebra")).toEqual(["first zebra"])
        }
      })
    ))

  it("removes what is known not to say any more what it said, and leaves what may come back", () =>
    run(
      Effect.gen(function* () {
        const reasons = [
          "Empty",
          "Binary",
          "TooLarge",
          "Encoding",
          "Link",
          "Gone",
          "Format",
          "MissingPackage",
          "Unreadable"
        ] as const
        yield* indexed(Object.fromEntries([...reasons, "shut/a.md", "shut-b.md"].map((source) => [source, source])))
        const items = [...reasons, "shut" as const].map((source) =>
          Documents.skipped(source, source === "shut" ? "Unreadable" : source, "")
        )
        const documents = Effect.succeed({ items: Stream.fromIterable(items) })
        expect(yield* Ingestion.indexed({ documents, collection: docs })).toMatchObject({ removed: 7 })
        expect(yield* sources).toEqual(["Format", "MissingPackage", "Unreadable", "shut/a.md"])
      })
    ))

  it("fails as its documents do, and removes nothing then", () =>
    run(
      Effect.gen(function* () {
        yield* indexed({ "a.md": "a", "b.md": "b" })
        const { items } = yield* texts({ "a.md": "changed" })
        const documents = Effect.succeed({ items: Stream.concat(items, Stream.fail("broken" as const)) })
        expect(yield* Effect.flip(Ingestion.indexed({ documents, collection: docs }))).toBe("broken")
        expect(yield* sources).toEqual(["a.md", "b.md"])
      })
    ))

  it("fails as its index does", async () => {
    const error = new RagErrors.RetrievalError({ reason: "Unavailable", message: "It does not answer." })
    const broken = layer(({ index, retriever }) => ({ retriever, index: { ...index, put: () => Effect.fail(error) } }))
    expect(await Effect.runPromise(Effect.flip(Effect.provide(indexed({ "a.md": "a" }), broken)))).toBe(error)
  })

  it("refuses options that make no sense", () => {
    for (const options of [
      { chunking: { maxCharacters: 1 } },
      ...[0, -1, 1.5, NaN].flatMap((n) => [{ batch: n }, { concurrency: n }, { maxChunks: n }])
    ]) {
      expect(() => indexed({}, options), JSON.stringify(options)).toThrow(Errors.DefinitionError)
    }
  })

  it("takes no number for all at once", () =>
    run(
      Effect.gen(function* () {
        const all = { batch: Infinity, concurrency: Infinity, maxChunks: Infinity }
        expect(yield* indexed({ "a.md": "a", "b.md": "b" }, all)).toMatchObject({ indexed: 2 })
      })
    ))

  it("skips a document of too many chunks, without cutting all of it, and removes what it was", () =>
    run(
      Effect.gen(function* () {
        const sections = (n: number) => "# x\n\nx\n\n".repeat(n)
        expect(yield* indexed({ "a.md": sections(5), "b.md": "b" }, { maxChunks: 5 })).toMatchObject({ chunks: 6 })
        const skipped = [{ source: "a.md", reason: "TooLarge" }]
        expect(yield* indexed({ "a.md": sections(5), "b.md": "b" }, { maxChunks: 4 })).toMatchObject({
          unchanged: 1,
          removed: 1,
          skipped
        })
        expect(yield* indexed({ "a.md": sections(10_000) })).toMatchObject({ chunks: 10_000 })
        const text = sections(1_000_000)
        const read = vi.spyOn(String.prototype, "charCodeAt")
        const done = yield* indexed({ "a.md": text })
        const looked = read.mock.calls.length
        read.mockRestore()
        expect(done).toMatchObject({ chunks: 0, skipped })
        expect(looked).toBeLessThan(text.length / 10)
      })
    ))

  describe("what the embedding model does not take", () => {
    const refusing = (reason: Errors.ModelErrorReason, isBad: (text: string) => boolean) =>
      layer(({ index, retriever }) => ({
        retriever,
        index: {
          ...index,
          put: (of, all) => {
            const cause = new Errors.ModelError({ reason, message: "No." })
            const error = new RagErrors.RetrievalError({ reason: "Embedding", message: "It says no.", cause })
            return all.some(({ chunks }) => chunks.some(({ text }) => isBad(text)))
              ? Effect.fail(error)
              : index.put(of, all)
          }
        }
      }))
    const four = { "a.md": "a", "b.md": "b bad", "c.md": "c", "d.md": "d bad" }
    const isBad = (text: string) => text.includes("bad")
    const skipped = ["b.md", "d.md"].map((source) => ({ source, reason: "Refused", message: "It says no." }))

    it.each(["BadRequest", "ContextLength", "ContentFilter"] as const)("is skipped, and nothing else: %s", (reason) =>
      Effect.runPromise(
        Effect.gen(function* () {
          expect(yield* indexed(four)).toMatchObject({ indexed: 2, chunks: 2, skipped })
          // Alone in a run, too.
          expect(yield* indexed(four)).toMatchObject({ indexed: 0, unchanged: 2, skipped })
          expect(yield* indexed(four, { batch: 1 })).toMatchObject({ unchanged: 2, skipped })
        }).pipe(Effect.provide(refusing(reason, isBad)))
      )
    )

    it("leaves what was indexed as it was", () =>
      Effect.runPromise(
        Effect.gen(function* () {
          yield* indexed({ "a.md": "a", "b.md": "b" })
          yield* indexed({ "a.md": "a", "b.md": "b bad" })
          expect(yield* sources).toEqual(["a.md", "b.md"])
        }).pipe(Effect.provide(refusing("BadRequest", isBad)))
      ))

    it.each([1, 256])("fails the run if it takes nothing at all, in batches of %d", (batch) =>
      Effect.runPromise(
        Effect.gen(function* () {
          const error = yield* Effect.flip(indexed(four, { batch }))
          expect(error).toMatchObject({ reason: "Embedding" })
        }).pipe(Effect.provide(refusing("BadRequest", () => true)))
      )
    )

    it.each(["Network", "Authentication", "RateLimited"] as const)("fails the run for other reasons: %s", (reason) =>
      Effect.runPromise(
        Effect.gen(function* () {
          expect(yield* Effect.flip(indexed(four))).toMatchObject({ reason: "Embedding", cause: { reason } })
          expect(yield* sources).toEqual([])
        }).pipe(Effect.provide(refusing(reason, isBad)))
      )
    )
  })

  it("keeps collections and tenants apart", () =>
    run(
      Effect.gen(function* () {
        const other = DocumentIndex.collection("docs", "acme")
        yield* indexed({ "a.md": "a zebra" })
        yield* indexed({ "b.md": "b zebra" }, { collection: other })
        yield* indexed({ "c.md": "c zebra" }, { collection: DocumentIndex.collection("other") })
        expect(yield* sources).toEqual(["a.md"])
        expect((yield* found("zebra")).toSorted()).toEqual(["a zebra", "c zebra"])
      })
    ))
})

it("a run that is stopped anywhere leaves each document old or new, and the next one does the rest", async () => {
  const versions = (n: number) =>
    Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`${i}.md`, `# A\n\n${i} ${n}\n\n# B\n\n${i} ${n}`]))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 1, max: 8 }), async (steps, batch) => {
      const both = make()
      const slow: DocumentIndex.Service = {
        ...both.index,
        put: (of, all) => Effect.zipLeft(Effect.zipRight(Effect.yieldNow(), both.index.put(of, all)), Effect.yieldNow())
      }
      const program = Effect.gen(function* () {
        yield* indexed({ ...versions(0), "gone.md": "x" }, { batch })
        const fiber = yield* Effect.fork(indexed(versions(1), { batch }))
        yield* Effect.repeatN(Effect.yieldNow(), steps)
        yield* Fiber.interrupt(fiber)
        const all = yield* both.retriever.search(Retriever.query("A B x", { topK: 1000 }))
        for (let i = 0; i < 12; i++) {
          const [first, ...rest] = all.filter(({ source }) => source === `${i}.md`).map(({ text }) => text.at(-1))
          expect(rest).toEqual([first])
        }
        yield* indexed(versions(1), { batch })
        const after = yield* both.retriever.search(Retriever.query("A B x", { topK: 1000 }))
        expect(after.length).toBe(24)
        expect(after.every(({ text }) => text.endsWith(" 1"))).toBe(true)
      })
      await Effect.runPromise(Effect.provideService(program, DocumentIndex.DocumentIndex, slow))
    }),
    { numRuns: 60 }
  )
})

it("no more documents are read than are worked on", async () => {
  let ahead = 0
  let most = 0
  const program = Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const both = make()
    const waiting: DocumentIndex.Service = {
      ...both.index,
      put: (of, all) =>
        Effect.zipRight(
          Deferred.await(gate),
          Effect.zipLeft(
            both.index.put(of, all),
            Effect.sync(() => (ahead -= all.length))
          )
        )
    }
    const items = Stream.range(1, 1000).pipe(
      Stream.mapEffect((n) => Documents.document({ source: `${n}.md` }, new TextEncoder().encode(`${n}`))),
      Stream.tap(() => Effect.sync(() => (most = Math.max(most, ++ahead)))),
      Stream.rechunk(1)
    )
    const documents = Effect.succeed({ items })
    const fiber = yield* Effect.fork(
      Effect.provideService(
        Ingestion.indexed({ documents, collection: docs, batch: 8, concurrency: 2 }),
        DocumentIndex.DocumentIndex,
        waiting
      )
    )
    yield* Effect.repeatN(Effect.yieldNow(), 2000)
    expect(ahead).toBeLessThan(40)
    yield* Deferred.succeed(gate, undefined)
    expect(yield* Fiber.join(fiber)).toMatchObject({ indexed: 1000 })
    expect(most).toBeLessThan(60)
  })
  await Effect.runPromise(program)
})

it("chunks say that they are of the version that is told", () => {
  // If these change, `Chunking.version` has to, so that what is indexed is cut anew.
  const text = "# A\n\nOne. Two.\n\n- a\n- b\n\n```\ncode\n```\n"
  const chunks = Chunking.chunk("a.md", { format: "markdown", text, metadata: {} }, { maxCharacters: 24, overlap: 8 })
  expect([Chunking.version, ...chunks.map(({ id, text }) => `${id.slice(0, 8)} ${JSON.stringify(text)}`)])
    .toMatchInlineSnapshot(`
    [
      1,
      "d85dd5f7 "# A\\n\\nOne. Two.\\n\\n- a\\n- b"",
      "0f067bb4 "- b\\n\\n\`\`\`\\ncode\\n\`\`\`"",
    ]
  `)
})
