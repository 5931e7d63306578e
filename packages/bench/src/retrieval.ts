/**
 * Retrieval: indexing 10,000 chunks and searching them, in memory and in a libSQL file,
 * and what the handler adds to a run with a retriever that answers at once.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, ChatModel, EmbeddingModel } from "@heddle/core"
import { DocumentIndex, LexicalIndex, Rag, Retriever } from "@heddle/rag"
import { SqlRetriever } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { assert, type Competitor, type Result, sample, summary } from "./measure.ts"

const count = 10_000
const chunksInDocument = 20
const wordsInChunk = 150
const documentsAtOnce = 50
const size = 384

/** The same numbers each time, from 0 to 1. */
const random = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** 5,000 words, of which the first are said the most, as in a language: the first stands in two chunks of three. */
const syllables = ["ka", "lo", "mi", "ru", "te", "pan", "sor", "vel", "du", "gri"]
const word = (n: number): string => `x${Array.from(String(n), (digit) => syllables[Number(digit)]).join("")}`
const someWord = (next: () => number): string => word(Math.floor(5_000 * next() ** 3))

const documents = (): ReadonlyArray<DocumentIndex.IndexedDocument> => {
  const next = random(1)
  return Array.from({ length: count / chunksInDocument }, (_, d) => ({
    source: `docs/${d}.md`,
    hash: `${d}`,
    chunks: Array.from({ length: chunksInDocument }, (_, c) => ({
      id: `docs/${d}.md#${c}`,
      text: Array.from({ length: wordsInChunk }, () => someWord(next)).join(" "),
      context: `Part ${d}`,
      metadata: { page: c }
    }))
  }))
}

/** Vectors that cost next to nothing, and are the same each time. */
const model: EmbeddingModel.Service = {
  name: "random",
  embed: (texts) =>
    Effect.sync(() =>
      texts.map((text) => {
        const next = random(text.length * 31 + text.charCodeAt(text.length >> 1))
        return Float32Array.from({ length: size }, () => next() - 0.5)
      })
    )
}

const notes = DocumentIndex.collection("notes")

type Index = Layer.Layer<DocumentIndex.DocumentIndex | Retriever.Retriever, unknown>

const put = Effect.gen(function* () {
  const index = yield* DocumentIndex.DocumentIndex
  const all = documents()
  const start = performance.now()
  for (let n = 0; n < all.length; n += documentsAtOnce) yield* index.put(notes, all.slice(n, n + documentsAtOnce))
  return performance.now() - start
})

const searches = 200
const changes = 25

/** What the first search takes, those after it, those that have something new to read, and those with many words. */
const search = Effect.gen(function* () {
  const retriever = yield* Retriever.Retriever
  const index = yield* DocumentIndex.DocumentIndex
  const next = random(2)
  const searched = Effect.fnUntraced(function* (words: number) {
    const text = Array.from({ length: words }, () => someWord(next)).join(" ")
    const start = performance.now()
    const found = yield* retriever.search(Retriever.query(text))
    const took = performance.now() - start
    assert(found.length === 5 && found[4]!.text.length > wordsInChunk, "five passages were found")
    return took
  })
  const one = Effect.suspend(() => searched(3 + Math.floor(4 * next())))
  const first = yield* one
  // The compiler is through with the code before anything is timed.
  yield* Effect.replicateEffect(one, 100, { discard: true })
  const others = yield* Effect.replicateEffect(one, searches)
  const [changing] = documents()
  const change = index.put(notes, [{ ...changing!, chunks: changing!.chunks.slice(0, 1) }])
  return {
    first,
    others,
    changed: yield* Effect.replicateEffect(Effect.zipRight(change, one), changes),
    long: yield* Effect.replicateEffect(searched(100), searches)
  }
})

const inFolder = async <A>(use: (filename: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "heddle-bench-"))
  try {
    return await use(join(folder, "heddle.db"))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const rounds = 3

/** Indexes some times, each time anew, and searches in the last. */
const indexed = async (where: string, index: (filename: string) => Index, reopened: boolean) => {
  const result = (name: string, samples: ReadonlyArray<number>): Result => {
    return { case: `M: ${name}, ${where}`, subject: "heddle", unit: "ms", ...summary(samples) }
  }
  const puts: Array<number> = []
  for (let round = 1; round < rounds; round++) {
    puts.push(await inFolder((filename) => Effect.runPromise(Effect.orDie(Effect.provide(put, index(filename))))))
  }
  return inFolder(async (filename) => {
    const run = <A>(effect: Effect.Effect<A, unknown, DocumentIndex.DocumentIndex | Retriever.Retriever>) =>
      Effect.runPromise(Effect.orDie(Effect.provide(effect, index(filename))))
    const { found, took } = reopened
      ? { took: await run(put), found: await run(search) }
      : await run(Effect.all({ took: put, found: search }))
    return [
      result("index 10,000 chunks", [...puts, took]),
      result("search them", found.others),
      result("search for 100 words", found.long),
      result("search after a document has changed", found.changed),
      ...(reopened ? [result("the first search", [found.first])] : [])
    ]
  })
}

const handlerName = "M: what the handler adds to a run"

/** Five passages that are there at once. */
const handler = async (): Promise<ReadonlyArray<Result>> => {
  const passages = Array.from({ length: 5 }, (_, n) => ({
    id: `${n}`,
    text: `The heddle lifts a thread for each pick of the weft, and lets it down again. `.repeat(6),
    source: `docs/${n}.md`,
    score: 1 - n / 10,
    metadata: {}
  }))
  const retriever = Layer.succeed(Retriever.Retriever, { search: () => Effect.succeed(passages) })
  const runtime = ManagedRuntime.make(
    Layer.merge(
      ChatModel.layer(() => ChatModel.reply("the answer")),
      retriever
    )
  )
  const services = await runtime.runtime()
  const competitor = <E>(agent: Agent.Agent<string, E, ChatModel.ChatModel | Retriever.Retriever>): Competitor => ({
    case: handlerName,
    subject: "heddle",
    unit: "µs",
    run: (times) =>
      Effect.gen(function* () {
        for (let n = 0; n < times; n++) {
          const { text } = yield* Agent.run(agent, "What does a heddle lift?")
          assert(text === "the answer", "an answer")
        }
      }).pipe(Effect.provide(services), Effect.runPromise)
  })
  const [plainly, retrieved] = await sample([
    competitor(Agent.make({ name: "plain", instructions: "Answer." })),
    competitor(Agent.make({ name: "retrieving", instructions: "Answer.", handlers: Rag.handler() }))
  ])
  await runtime.dispose()
  const added = retrieved!.map((µs, i) => µs - plainly![i]!)
  return [{ case: handlerName, subject: "heddle", unit: "µs", ...summary(added) }]
}

export const caseM = async (): Promise<ReadonlyArray<Result>> => {
  // First, as long as there are no 10,000 chunks that the collector of garbage has to look at.
  const added = await handler()
  return [
    ...(await indexed("in memory by words", () => LexicalIndex.layer, false)),
    ...(await indexed(
      "in a file by words",
      (filename) => Layer.provide(SqlRetriever.layerLexical, libsql.layer({ filename })),
      true
    )),
    ...(await indexed(
      "in a file by words and vectors",
      (filename) => Layer.provide(SqlRetriever.layer(), [libsql.layer({ filename }), EmbeddingModel.layer(model)]),
      true
    )),
    ...added
  ]
}
