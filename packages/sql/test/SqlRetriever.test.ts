import { describe, expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { KeyValueStore } from "@effect/platform"
import { Agent, EmbeddingModel, Errors } from "@heddle/core"
import { DocumentIndex, LexicalIndex, Rag, type RagErrors, Retriever } from "@heddle/rag"
import { cached } from "@heddle/rag/embeddingCache"
import { documentIndex } from "@heddle/rag/testing"
import { type DatabaseError, SqlRetriever } from "@heddle/sql"
import { layer as libsql } from "@heddle/sql/libsql"
import { ScriptedModel } from "@heddle/testing"
import { hostile } from "@heddle/testing/Rules"
import { Context, Effect, FastCheck, Fiber, Layer, TestClock } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { file, ownFile } from "./support/files.ts"

const notes = DocumentIndex.collection("notes")

const document = (source: string, texts: ReadonlyArray<string>, metadata: Retriever.Metadata = {}) => ({
  source,
  hash: texts.join(),
  chunks: texts.map((text, n) => ({ id: `${source}#${n}`, text, context: "", metadata }))
})

const put = (...documents: ReadonlyArray<DocumentIndex.IndexedDocument>) =>
  Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.put(notes, documents))

const search = (text: string, options?: Partial<Retriever.Query>) =>
  Effect.flatMap(Retriever.Retriever, (retriever) => retriever.search(Retriever.query(text, options)))

const ids = (passages: ReadonlyArray<Retriever.Passage>) => passages.map(({ id }) => id)

/** What a text is about, whatever its words: animals, or places. */
const topics = [
  ["zebra", "horse", "lion"],
  ["river", "sea", "shore"],
  ["loom", "warp", "weft"]
]

const topical = (name = "topical", size = topics.length): EmbeddingModel.Service => ({
  name,
  embed: (texts) =>
    Effect.succeed(
      texts.map((text) =>
        Float32Array.from({ length: size }, (_, n) => (topics[n] ?? []).filter((word) => text.includes(word)).length)
      )
    )
})

/** The vector that a text lists. */
const listed: EmbeddingModel.Service = {
  name: "listed",
  embed: (texts) => Effect.succeed(texts.map((text) => Float32Array.from(text.split(",").map(Number))))
}

/** `NaN` if one of the two has no direction. */
const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const product = (x: ReadonlyArray<number>, y: ReadonlyArray<number>) => x.reduce((sum, n, i) => sum + n * y[i]!, 0)
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b))
}

const lexical = <E>(database: Layer.Layer<SqlClient.SqlClient, E>) =>
  Layer.provideMerge(SqlRetriever.layerLexical, database)

const hybrid = <E>(
  database: Layer.Layer<SqlClient.SqlClient, E>,
  model: EmbeddingModel.Service = topical(),
  options?: SqlRetriever.Options
) => SqlRetriever.layer(options).pipe(Layer.provide(EmbeddingModel.layer(model)), Layer.provideMerge(database))

describe("by words", () => documentIndex(Layer.orDie(lexical(ownFile()))))

describe("by words and meaning", () => documentIndex(Layer.orDie(hybrid(ownFile()))))

describe("by words", () => {
  const words = FastCheck.constantFrom("one", "two", "three", "running", "四五六", "wrapToolCall", "the", "")
  const text = FastCheck.array(words, { maxLength: 8 }).map((all) => all.join(" "))
  const steps = FastCheck.array(
    FastCheck.tuple(
      FastCheck.constantFrom("put", "put", "remove"),
      FastCheck.constantFrom("a", "b", "c"),
      FastCheck.array(text, { maxLength: 4 })
    ),
    { maxLength: 8 }
  )
  it.effect.prop(
    "finds what the index in memory finds, with the same scores",
    [steps, FastCheck.array(text, { minLength: 1, maxLength: 3 })],
    ([all, queries]) =>
      Effect.gen(function* () {
        const memory = LexicalIndex.make()
        const index = yield* DocumentIndex.DocumentIndex
        // What others have changes nothing.
        yield* index.put(DocumentIndex.collection("notes", "other"), [document("x", ["one one", "two", "none"])])
        for (const [step, source, texts] of all) {
          for (const each of [memory.index, index]) {
            yield* step === "put" ? each.put(notes, [document(source, texts)]) : each.remove(notes, [source])
          }
          expect(yield* index.documents(notes)).toEqual(yield* memory.index.documents(notes))
          // The second time it is known where the words are.
          for (const query of [...queries, ...queries]) {
            const wanted = yield* memory.retriever.search(Retriever.query(query, { topK: 20 }))
            const found = yield* search(query, { topK: 20 })
            const byId = new Map(found.map((passage) => [passage.id, passage]))
            expect(byId.size).toBe(wanted.length)
            for (const { score, ...passage } of wanted) {
              expect(byId.get(passage.id)).toMatchObject(passage)
              expect(byId.get(passage.id)!.score).toBeCloseTo(score, 6)
            }
          }
        }
      }).pipe(Effect.provide(lexical(ownFile()))),
    { fastCheck: { numRuns: 40 } }
  )

  it.effect("looks for those words of a long query that the index in memory looks for", () =>
    Effect.gen(function* () {
      const { index, retriever } = LexicalIndex.make()
      const word = (n: number) => `q${Array.from(String(n), (digit) => "bcfghjkmpr"[Number(digit)]).join("")}q`
      const all = Array.from({ length: 90 }, (_, n) =>
        document(`${n}`, [Array.from({ length: n % 9 }, (_, k) => `everywhere ${word(n + k)}`).join(" ")])
      )
      yield* index.put(notes, all)
      yield* put(...all)
      // What others have changes nothing.
      const many = Array.from({ length: 80 }, (_, n) => word(n)).join(" ")
      yield* Effect.flatMap(DocumentIndex.DocumentIndex, (index) =>
        index.put(DocumentIndex.collection("notes", "other"), [document("x", [many, many, many])])
      )
      for (const first of [0, 5, 20, 80]) {
        const many = Array.from({ length: 600 }, (_, n) => word(first + n)).join(" ")
        const long = `everywhere ${many} ${word(first + 1)} ${word(83)}`
        const wanted = yield* retriever.search(Retriever.query(long, { topK: 100 }))
        const found = yield* search(long, { topK: 100 })
        expect(ids(found)).toEqual(ids(wanted))
        expect(found.length).toBeLessThan(all.length)
        for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(wanted[i]!.score, 6)
      }
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.scoped("what was put is there when the file is opened again", () =>
    Effect.gen(function* () {
      const layer = lexical(libsql({ filename: yield* file }))
      yield* Effect.provide(put(document("a", ["a zebra", "a lion"], { page: 1 })), layer)
      const [passage] = yield* Effect.provide(search("zebras"), layer)
      expect(passage).toMatchObject({ id: "a#0", text: "a zebra", source: "a", metadata: { page: 1 } })
    })
  )

  it.effect("is searched for what all filters of a run let through", () =>
    Effect.gen(function* () {
      const documents = ["docs/a.md", "docs/b.md", "news/b.md"].map((source) => document(source, ["a zebra"]))
      yield* put(...documents, ...Array.from({ length: 50 }, (_, n) => document(`docs/a${n}.md`, ["a zebra"])))
      const model = yield* ScriptedModel.make(() => "A zebra.")
      const shown = (filter: Retriever.Filter) =>
        Agent.run(
          Agent.make({
            name: "helper",
            handlers: Rag.handler({ settings: { topK: 2 }, filter: { collection: "notes", sources: ["docs/*"] } })
          }),
          "zebra",
          Rag.call({ filter })
        ).pipe(
          Effect.map((result) => Rag.shown(result).map(({ source }) => source)),
          Effect.provide(model.layer)
        )
      expect(yield* shown({ sources: ["*/b.md"] })).toEqual(["docs/b.md"])
      expect(yield* shown({ sources: ["news/*"] })).toEqual([])
      expect(yield* shown({ collection: "other" })).toEqual([])
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.effect("takes a query as words, whatever it says", () =>
    Effect.gen(function* () {
      yield* put(document("a", ["a zebra"]), document("b", ["by a river at the sea"]))
      for (const query of [
        'zebra"',
        "zebra*",
        "NEAR(zebra",
        "-zebra",
        "^zebra",
        "words:zebra",
        "zebra\0",
        "zebra \ud800"
      ]) {
        expect(ids(yield* search(query)), query).toEqual(["a#0"])
      }
      expect(ids(yield* search(`zebra ${"x1 y2 z3 ".repeat(11_000)}`))).toEqual(["a#0"])
      const many = Array.from({ length: 10_000 }, (_, n) => `word${n}x`).join(" ")
      expect(ids(yield* search(`zebra ${many}`))).toEqual(["a#0"])
      for (const query of ["zeb*", "1x", '"', "*", "NEAR(", "-", "\0", "\ud800"])
        expect(yield* search(query)).toEqual([])
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.effect("keeps names, texts and metadata as they are", () =>
    Effect.gen(function* () {
      const index = yield* DocumentIndex.DocumentIndex
      for (const name of hostile.filter((name) => name !== "")) {
        const of = DocumentIndex.collection(name, name)
        const metadata = { [name]: name, a: NaN, b: -Infinity, c: false, "": NaN }
        yield* index.put(of, [
          { source: name, hash: name, chunks: [{ id: name, text: `zebra ${name}`, context: name, metadata }] }
        ])
        expect(yield* index.documents(of)).toEqual([{ source: name, hash: name, chunks: 1 }])
        const [passage] = yield* search("zebra", { tenant: name, filter: { collection: name } })
        expect(passage).toMatchObject({ id: name, text: `zebra ${name}`, source: name })
        expect(Object.entries(passage!.metadata)).toEqual(Object.entries(metadata))
      }
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.scoped("sees at once what another connection has written", () =>
    Effect.gen(function* () {
      const filename = yield* file
      const other = yield* Layer.build(lexical(libsql({ filename })))
      const mine = yield* Layer.build(lexical(libsql({ filename })))
      const there = (...wanted: ReadonlyArray<string>) =>
        Effect.map(Effect.provide(search("zebra"), mine), (found) => expect(ids(found)).toEqual(wanted))
      yield* there()
      yield* Effect.provide(put(document("a", ["a zebra"])), other)
      yield* there("a#0")
      yield* Effect.provide(put(document("b", ["a zebra"]), document("a", ["no more", "a zebra"])), other)
      yield* there("a#1", "b#0")
      yield* Effect.provide(
        Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.remove(notes, ["a"])),
        other
      )
      yield* there("b#0")
      yield* Effect.provide(
        Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.clear(notes)),
        other
      )
      yield* there()
    })
  )

  it.effect("finds the one of 10,000 chunks that a filter leaves", () =>
    Effect.gen(function* () {
      const texts = Array.from({ length: 100 }, (_, n) => `zebra zebra ${n}`)
      yield* put(
        ...Array.from({ length: 99 }, (_, n) => document(`many/${n}.md`, texts)),
        document("one.md", [`${"grass ".repeat(50)} zebra`], { draft: true }),
        document("many/99.md", texts.slice(1))
      )
      for (const filter of [{ sources: ["one*"] }, { metadata: { draft: true } }]) {
        expect(ids(yield* search("zebra", { topK: 1, filter }))).toEqual(["one.md#0"])
      }
      expect(yield* search("zebra", { topK: 20_000 })).toHaveLength(10_000)
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.effect("an interruption at any moment leaves whole documents, and an index that works", () =>
    Effect.gen(function* () {
      const version = (n: number) => [
        document("a", Array(5).fill(`zebra ${n}`)),
        document("b", Array(5).fill(`zebra ${n}`))
      ]
      yield* put(...version(0))
      for (let n = 1; n <= 60; n++) {
        const fiber = yield* Effect.fork(put(...version(n)))
        for (let steps = 0; steps < n; steps++) yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        const found = yield* search("zebra", { topK: 100 })
        expect(found).toHaveLength(10)
        expect(new Set(found.map(({ text }) => text)).size).toBe(1)
      }
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.effect("a program's own transaction sees what it has put, and what is undone is found no more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* put(document("a", ["a zebra"]))
      yield* search("zebra")
      for (const text of ["a zebra and a lion", "a zebra and a horse"]) {
        const exit = yield* Effect.exit(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* put(document("b", [text]))
              expect((yield* search("zebra")).map(({ text }) => text)).toContain(text)
              if (text.includes("lion")) yield* Effect.fail("undone")
            })
          )
        )
        expect(exit._tag).toBe(text.includes("lion") ? "Failure" : "Success")
      }
      expect((yield* search("zebra")).map(({ text }) => text)).toEqual(["a zebra", "a zebra and a horse"])
      expect(yield* search("lion")).toEqual([])
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.scoped("in a transaction of another file a search finds what is in its own, and nothing is put", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const model = topical()
      const counting: EmbeddingModel.Service = {
        ...model,
        embed: (texts, kind) =>
          Effect.zipRight(
            Effect.sync(() => void asked.push(...texts)),
            model.embed(texts, kind)
          )
      }
      const [a, b, none] = yield* Effect.all([
        Layer.build(hybrid(ownFile(), counting)),
        Layer.build(lexical(ownFile())),
        Layer.build(ownFile())
      ])
      yield* Effect.provide(put(document("a", ["a zebra of mine"])), a)
      yield* Effect.provide(put(document("b", ["a zebra of theirs"])), b)
      const found = Effect.provide(Effect.map(search("zebra"), ids), a)
      const documents = Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.documents(notes))
      for (const other of [b, none]) {
        const sql = Context.get(other, SqlClient.SqlClient)
        yield* sql.withTransaction(
          Effect.gen(function* () {
            expect(yield* found).toEqual(["a#0"])
            expect((yield* Effect.provide(documents, a)).map(({ source }) => source)).toEqual(["a"])
            asked.length = 0
            const index = Context.get(a, DocumentIndex.DocumentIndex)
            for (const change of [
              index.put(notes, [document("c", ["a zebra too"])]),
              index.remove(notes, ["a"]),
              index.clear(notes)
            ]) {
              const error = yield* Effect.flip(change)
              expect(error).toMatchObject({ _tag: "RetrievalError", reason: "Unavailable" })
              expect(error.message).toContain("the open transaction is one of another database")
            }
            expect(asked).toEqual([])
          })
        )
      }
      expect(yield* found).toEqual(["a#0"])
      expect(yield* Effect.provide(Effect.map(search("zebra"), ids), b)).toEqual(["b#0"])
    })
  )

  it.scoped("what is kept in memory is used and kept in a transaction of another file too, and not in one's own", () =>
    Effect.gen(function* () {
      const [a, b] = yield* Effect.replicateEffect(Layer.build(lexical(ownFile())), 2)
      const mine = Context.get(a!, SqlClient.SqlClient)
      const theirs = Context.get(b!, SqlClient.SqlClient)
      const found = Effect.provide(Effect.map(search("zebra"), ids), a!)
      yield* Effect.provide(put(document("a", ["a zebra"])), a!)
      expect(yield* theirs.withTransaction(found)).toEqual(["a#0"])
      // Who reads it anew is told of it.
      yield* mine`UPDATE heddle_chunks SET metadata = '{"a'`
      expect(yield* theirs.withTransaction(found)).toEqual(["a#0"])
      expect(yield* found).toEqual(["a#0"])
      expect((yield* Effect.flip(mine.withTransaction(found))).message).toContain("is not what was written")
    })
  )

  it.effect("a cache keeps nothing that an open transaction has found", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const self = yield* Retriever.Retriever
      const cached = yield* Retriever.cached(self, { capacity: 10, timeToLive: "1 hour" })
      const found = (text: string) => Effect.map(cached.search(Retriever.query(text)), ids)
      yield* put(document("a", ["a zebra"]))
      expect(yield* found("zebra")).toEqual(["a#0"])
      yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* put(document("b", ["a zebra and a lion"]))
            expect((yield* found("zebra")).toSorted()).toEqual(["a#0", "b#0"])
            expect(yield* found("lion")).toEqual(["b#0"])
            return yield* Effect.fail("undone")
          })
        )
        .pipe(Effect.flip)
      expect(yield* found("zebra")).toEqual(["a#0"])
      expect(yield* found("lion")).toEqual([])
    }).pipe(Effect.provide(lexical(ownFile())))
  )

  it.effect("tells of what is damaged", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* put(document("a", ["a zebra"]))
      yield* sql`UPDATE heddle_chunks SET metadata = '{"a'`
      const error = yield* Effect.flip(search("zebra"))
      expect(error).toMatchObject({ _tag: "RetrievalError", reason: "Damaged", cause: { _tag: "DatabaseError" } })
      yield* sql`DROP TABLE heddle_chunks`
      expect(yield* Effect.flip(put(document("a", ["b"])))).toMatchObject({ reason: "Unavailable" })
    }).pipe(Effect.provide(lexical(ownFile())))
  )
})

describe("by words and meaning", () => {
  const animals = [
    document("a", ["a horse in the grass", "the shore of the sea", "warp and weft"]),
    document("b", ["lion lion lion", "nothing of the kind"])
  ]

  it.effect("finds what means the like, after what says it and means it", () =>
    Effect.gen(function* () {
      yield* put(...animals)
      const found = yield* search("horse")
      expect(ids(found)).toEqual(["a#0", "b#0"])
      expect(found[0]!.score).toBe(1)
      expect(found[1]!.score).toBe(0.5)
      expect(ids(yield* search("horse", { minScore: 0.6 }))).toEqual(["a#0"])
      expect(ids(yield* search("zebra"))).toEqual(["a#0", "b#0"])
      expect(ids(yield* search("kind"))).toEqual(["b#1"])
    }).pipe(Effect.provide(hybrid(ownFile())))
  )

  it.effect("a model whose cosines are all close to 1 says as much as another", () => {
    const alike: EmbeddingModel.Service = {
      name: "alike",
      embed: (texts, purpose) =>
        Effect.map(topical().embed(texts, purpose), (all) => all.map((vector) => Float32Array.of(...vector, 30)))
    }
    return Effect.gen(function* () {
      yield* put(document("a", ["a horse in the grass", "a river of the kind", "the sea", "the shore", "a warp"]))
      const found = yield* search("horse kind")
      // Both have one of the words; only one of them has the meaning.
      const [first, other] = ["a#0", "a#1"].map((id) => found.find((passage) => passage.id === id)!.score)
      expect(first! - other!).toBeGreaterThan(0.3)
    }).pipe(Effect.provide(hybrid(ownFile(), alike)))
  })

  it.effect("what has no direction is close to nothing, however little is wanted, and is found by its words", () =>
    Effect.gen(function* () {
      // "A walk" and "Why" are about nothing: their vectors are of zeros alone.
      yield* put(document("a", ["a zebra", "a walk", "a river"]))
      expect(ids(yield* search("horse"))).toEqual(["a#0", "a#2"])
      expect(ids(yield* search("walk"))).toEqual(["a#1"])
      expect(yield* search("Why?")).toEqual([])
      // What is in memory is moved together.
      yield* put(document("b", ["a walk"]), document("c", ["a lion"]))
      yield* put(document("a", ["a walk", "a zebra"]))
      expect(ids(yield* search("horse")).toSorted()).toEqual(["a#1", "c#0"])
      expect(yield* search("Why?")).toEqual([])
    }).pipe(Effect.provide(hybrid(ownFile(), topical(), { minSimilarity: -1 })))
  )

  const steps = FastCheck.array(
    FastCheck.tuple(
      FastCheck.constantFrom("a", "b", "c", "d"),
      FastCheck.array(FastCheck.array(FastCheck.integer({ min: -2, max: 2 }), { minLength: 9, maxLength: 9 }), {
        maxLength: 4
      })
    ),
    { minLength: 1, maxLength: 6 }
  )
  it.effect.prop(
    "finds what is closest, whatever was put and taken out before",
    [steps],
    ([all]) =>
      Effect.gen(function* () {
        const index = yield* DocumentIndex.DocumentIndex
        const query = [1, -2, 0, 1, 2, 0, -1, 1, 1]
        const there = new Map<string, ReadonlyArray<ReadonlyArray<number>>>()
        for (const [source, vectors] of all) {
          there.set(source, vectors)
          if (vectors.length === 0) yield* index.remove(notes, [source])
          else yield* put(document(source, vectors.map(String)))
          for (const sources of [undefined, ["a"], ["b", "d"]]) {
            const found = yield* search(String(query), { topK: 100, ...(sources && { filter: { sources } }) })
            const wanted = Array.from(there).flatMap(([source, vectors]) =>
              vectors.flatMap((vector, n) => {
                const close = cosine(vector, query)
                return close > -0.9 && (sources ?? [source]).includes(source) ? [{ id: `${source}#${n}`, close }] : []
              })
            )
            const byId = new Map(wanted.map(({ close, id }) => [id, close]))
            expect(ids(found).toSorted()).toEqual(Array.from(byId.keys()).toSorted())
            // Those below the mean are all the same.
            const inOrder = found.filter(({ score }) => score > 0).map(({ id }) => byId.get(id)!)
            for (const [n, close] of inOrder.entries()) expect(close).toBeLessThan((inOrder[n - 1] ?? 1) + 1e-6)
          }
        }
      }).pipe(Effect.provide(hybrid(ownFile(), listed, { minSimilarity: -0.9, weights: { words: 0 } }))),
    { fastCheck: { numRuns: 40 } }
  )

  it.effect("ranks can be put together in place of scores", () =>
    Effect.gen(function* () {
      yield* put(...animals)
      const found = yield* search("horse")
      // The one is the first by words and by meaning, the other the second by meaning.
      expect(found.map(({ id, score }) => [id, score])).toEqual([
        ["a#0", 1],
        ["b#0", 61 / 62 / 2]
      ])
    }).pipe(Effect.provide(hybrid(ownFile(), topical(), { fusion: "ranks" })))
  )

  it.effect("a weight of 0 leaves out an order", () =>
    Effect.gen(function* () {
      const file = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      const only = (weights: SqlRetriever.Options["weights"]) => hybrid(file, topical(), { weights: weights! })
      yield* Effect.provide(put(...animals), hybrid(file))
      expect(ids(yield* Effect.provide(search("kind horse"), only({ words: 0 })))).toEqual(["a#0", "b#0"])
      const words = yield* Effect.provide(search("kind horse"), only({ vectors: 0 }))
      expect(words).toEqual(yield* Effect.provide(search("kind horse"), lexical(file)))
      expect(ids(words).toSorted()).toEqual(["a#0", "b#1"])
    }).pipe(Effect.provide(ownFile()))
  )

  it.effect("a filter comes before the candidates are chosen", () =>
    Effect.gen(function* () {
      yield* put(document("a", Array(300).fill("zebra")), document("b", ["horse, river"]))
      expect(ids(yield* search("zebra", { topK: 1, filter: { sources: ["b"] } }))).toEqual(["b#0"])
    }).pipe(Effect.provide(hybrid(ownFile(), topical(), { candidates: 1 })))
  )

  it.effect("another model, and vectors of another size, are refused with the way out", () =>
    Effect.gen(function* () {
      const file = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      yield* Effect.provide(put(...animals), hybrid(file))
      type Services = DocumentIndex.DocumentIndex | Retriever.Retriever
      const tried: ReadonlyArray<Effect.Effect<unknown, RagErrors.RetrievalError, Services>> = [
        put(document("c", ["zebra"])),
        search("zebra")
      ]
      const refused = (used: Layer.Layer<Services, DatabaseError.DatabaseError>) =>
        Effect.forEach(tried, (effect) =>
          Effect.map(Effect.flip(Effect.provide(effect, used)), (error) => {
            expect(error).toMatchObject({ _tag: "RetrievalError", reason: "OtherEmbedding" })
            expect(error).toHaveProperty("message", expect.stringContaining('"notes"'))
            expect(error).toHaveProperty("message", expect.stringContaining("Clear the collection"))
          })
        )
      yield* refused(hybrid(file, topical("another")))
      yield* refused(hybrid(file, topical("topical", 5)))
      // Words can be searched without a model, and added only with it.
      expect(ids(yield* Effect.provide(search("horse"), lexical(file)))).toEqual(["a#0"])
      const error = yield* Effect.flip(Effect.provide(put(document("c", ["zebra"])), lexical(file)))
      expect(error.reason).toBe("OtherEmbedding")
      // The way out.
      const clear = Effect.flatMap(DocumentIndex.DocumentIndex, (index) => index.clear(notes))
      yield* Effect.provide(clear, hybrid(file, topical("another")))
      yield* Effect.provide(put(...animals), lexical(file))
      yield* refused(hybrid(file))
      yield* Effect.provide(Effect.zipRight(clear, put(...animals)), hybrid(file, topical("another", 5)))
      expect(ids(yield* Effect.provide(search("zebra"), hybrid(file, topical("another", 5))))).toEqual(["a#0", "b#0"])
    }).pipe(Effect.provide(ownFile()))
  )

  it.effect("a model that fails, or gives what is no vector, fails the operation, or only the meaning", () =>
    Effect.gen(function* () {
      const file = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      yield* Effect.provide(put(...animals), hybrid(file))
      const offline = new Errors.ModelError({ reason: "Network", message: "no network" })
      for (const embed of [
        () => Effect.fail(offline),
        () => Effect.succeed([]),
        (texts: ReadonlyArray<string>) => Effect.succeed(texts.map(() => new Float32Array())),
        (texts: ReadonlyArray<string>) => Effect.succeed(texts.map(() => Float32Array.of(NaN, 0, 0)))
      ]) {
        const broken = hybrid(file, { name: "topical", embed })
        const tried: ReadonlyArray<
          Effect.Effect<unknown, RagErrors.RetrievalError, DocumentIndex.DocumentIndex | Retriever.Retriever>
        > = [put(document("a", ["zebra"])), search("horse")]
        for (const effect of tried) {
          expect(yield* Effect.flip(Effect.provide(effect, broken))).toMatchObject({ reason: "Embedding" })
        }
        const lenient = hybrid(
          file,
          { name: "topical", embed },
          { onEmbeddingFailure: "lexical", weights: { words: 0 } }
        )
        expect(yield* Effect.provide(search("horse"), lenient)).toEqual(
          yield* Effect.provide(search("horse"), lexical(file))
        )
      }
    }).pipe(Effect.provide(ownFile()))
  )

  it.effect("a model that does not answer a query fails the search in time, or only the meaning", () =>
    Effect.gen(function* () {
      const file = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      yield* Effect.provide(put(...animals), hybrid(file))
      const hanging: EmbeddingModel.Service = { name: "topical", embed: () => Effect.uninterruptible(Effect.never) }
      const found = (options: SqlRetriever.Options) =>
        Effect.gen(function* () {
          const layer = hybrid(file, hanging, { ...options, embeddingTimeout: "2 seconds" })
          const searching = yield* Effect.fork(Effect.either(Effect.provide(search("horse"), layer)))
          yield* TestClock.adjust("2 seconds")
          return yield* Fiber.join(searching)
        })
      expect(yield* found({})).toMatchObject({ left: { _tag: "RetrievalError", reason: "Timeout" } })
      expect(yield* found({ onEmbeddingFailure: "lexical" })).toEqual(
        yield* Effect.either(Effect.provide(search("horse"), lexical(file)))
      )
    }).pipe(Effect.provide(ownFile()))
  )

  it.scoped("has the vectors that another connection has written, and no others", () =>
    Effect.gen(function* () {
      const filename = yield* file
      const other = yield* Layer.build(hybrid(libsql({ filename })))
      const mine = yield* Layer.build(hybrid(libsql({ filename })))
      const found = (text: string) => Effect.map(Effect.provide(search(text), mine), ids)
      yield* Effect.provide(put(...animals), other)
      expect(yield* found("lion")).toEqual(["b#0", "a#0"])
      yield* Effect.provide(put(document("a", ["by the river"])), other)
      expect(yield* found("zebra")).toEqual(["b#0"])
      expect(yield* found("shore")).toEqual(["a#0"])
      yield* Effect.provide(put(document("c", ["loom"]), document("b", ["sea"])), other)
      expect(yield* found("zebra")).toEqual([])
      expect(yield* found("weft")).toEqual(["c#0"])
      expect((yield* found("shore")).toSorted()).toEqual(["a#0", "b#0"])
    })
  )

  it.scoped("can be indexed anew after its vectors have come to have another size, with a cache of vectors", () =>
    Effect.gen(function* () {
      const filename = yield* file
      const store = yield* Layer.build(KeyValueStore.layerMemory)
      const remembering = (size: number) =>
        SqlRetriever.layer().pipe(
          Layer.provide(Layer.effect(EmbeddingModel.EmbeddingModel, cached(topical("topical", size)))),
          Layer.provide(Layer.succeedContext(store)),
          Layer.provide(libsql({ filename }))
        )
      yield* Effect.provide(put(...animals), remembering(3))
      const after = yield* Layer.build(remembering(4))
      const error = yield* Effect.flip(Effect.provide(search("lion"), after))
      expect(error.reason).toBe("OtherEmbedding")
      // What the message says.
      const { clear } = yield* Effect.provide(DocumentIndex.DocumentIndex, after)
      yield* clear(notes)
      yield* Effect.provide(put(...animals), after)
      expect(ids(yield* Effect.provide(search("lion"), after))).toEqual(["b#0", "a#0"])
    })
  )

  it("options that make no sense are refused", () => {
    for (const options of [
      { weights: { words: 0, vectors: 0 } },
      { weights: { words: -1 } },
      { weights: { vectors: NaN } },
      { candidates: 0 },
      { minSimilarity: 2 },
      { fusion: "both" as "ranks" },
      ...[0, -1, 1.5, NaN].flatMap((n) => [{ batch: { maxTexts: n } }, { batch: { concurrency: n } }]),
      { onEmbeddingFailure: "nonsense" as "fail" },
      ...[0, -1, "soon" as "1 second"].map((embeddingTimeout) => ({ embeddingTimeout }))
    ]) {
      expect(() => SqlRetriever.layer(options), JSON.stringify(options)).toThrow(Errors.DefinitionError)
    }
  })
})

it.effect("another database than SQLite is refused with what to use", () =>
  Effect.gen(function* () {
    // A client that says it is Postgres; nothing is asked of it.
    const postgres = { onDialectOrElse: <A>({ orElse }: { readonly orElse: () => A }) => orElse() }
    const layer = Layer.provide(SqlRetriever.layerLexical, Layer.succeed(SqlClient.SqlClient, postgres as never))
    const error = yield* Effect.flip(Effect.provide(search("zebra"), layer))
    expect(error).toMatchObject({ _tag: "DatabaseError", reason: "Unsupported" })
    expect(error.message).toContain("@heddle/sql/libsql")
  })
)

// -----------------------------------------------------------------------------
// processes
// -----------------------------------------------------------------------------

const root = fileURLToPath(new URL("../../..", import.meta.url))
const script = fileURLToPath(new URL("support/indexer.ts", import.meta.url))

/** Runs the program, and gives the last version that it told of. It is killed as soon as so many bytes have come. */
const index = (filename: string, source: string, count: number, killAt = Infinity) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve, reject) => {
        const args = ["--import", "tsx", script, filename, source, String(count)]
        const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] })
        let output = ""
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString()
          if (output.length >= killAt) child.kill("SIGKILL")
        })
        child.on("error", reject)
        child.on("close", (code, signal) => {
          if (code !== 0 && signal !== "SIGKILL") reject(new Error(`The program ended with ${code}.`))
          // The last line may be half of one.
          else resolve(Number(output.split("\n").at(-2)))
        })
      })
  )

const looked = Effect.gen(function* () {
  const index = yield* DocumentIndex.DocumentIndex
  return { infos: yield* index.documents(notes), passages: yield* search("zebra", { topK: 100 }) }
})

it.scopedLive("after a kill at any moment, documents are whole, and the last that was acknowledged is there", () =>
  Effect.gen(function* () {
    const filename = yield* file
    for (let round = 0; round < 3; round++) {
      const killAt = 1 + Math.floor(Math.random() * 1000)
      const told = yield* index(filename, "a", 1000, killAt)
      const { infos, passages } = yield* Effect.provide(looked, lexical(libsql({ filename, integrityCheck: "full" })))
      // One more may have been kept without a word.
      expect([told, told + 1], `killed at byte ${killAt}`).toContain(Number(infos[0]!.hash))
      expect(infos).toEqual([{ source: "a", hash: infos[0]!.hash, chunks: 3 }])
      expect(ids(passages).toSorted()).toEqual(["aa", "ab", "ac"])
      for (const { metadata } of passages) expect(metadata).toEqual({ n: Number(infos[0]!.hash) })
    }
  })
)

it.scopedLive("a search sees whole versions while other processes write", () =>
  Effect.gen(function* () {
    const filename = yield* file
    const running = yield* Effect.fork(
      Effect.forEach(["a", "b"], (source) => index(filename, source, 150), { concurrency: "unbounded" })
    )
    const mine = yield* Layer.build(lexical(libsql({ filename, busyTimeout: "60 seconds" })))
    let versions = 0
    let last = ""
    while (running.unsafePoll() === null) {
      const found = yield* Effect.provide(search("zebra", { topK: 100 }), mine)
      for (const source of ["a", "b"]) {
        const of = found.filter((passage) => passage.source === source)
        expect([0, 3]).toContain(of.length)
        expect(new Set(of.map(({ metadata }) => metadata["n"])).size).toBeLessThanOrEqual(1)
      }
      const now = found.map(({ text }) => text).join()
      if (now !== last) versions++
      last = now
      yield* Effect.sleep("1 millis")
    }
    yield* Fiber.join(running)
    expect(versions).toBeGreaterThan(5)
    expect((yield* Effect.provide(looked, mine)).passages).toHaveLength(6)
  })
)
