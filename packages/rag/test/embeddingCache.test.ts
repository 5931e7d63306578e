import { Error as PlatformErrors, KeyValueStore } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { EmbeddingModel, Errors } from "@heddle/core"
import { cached, layer } from "@heddle/rag/embeddingCache"
import { Effect, FastCheck as fc, Layer, Logger } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

/** A model that tells what it is asked. */
const telling = (name = "model") => {
  const asked: Array<ReadonlyArray<string>> = []
  const vector = (text: string) =>
    Float32Array.of(text.length, Math.PI, NaN, -0, 1e-40, text === "" ? -1 : text.charCodeAt(0))
  const model: EmbeddingModel.Service = {
    name,
    embed: (texts) =>
      Effect.sync(() => {
        asked.push(texts)
        return texts.map(vector)
      })
  }
  return { asked, model, vector }
}

const run = <A, E>(effect: Effect.Effect<A, E, KeyValueStore.KeyValueStore>) =>
  Effect.runPromise(
    effect.pipe(Effect.provide(KeyValueStore.layerMemory), Effect.provide(Logger.remove(Logger.defaultLogger)))
  )

const unavailable = new PlatformErrors.SystemError({ reason: "Unknown", module: "KeyValueStore", method: "any" })

it("asks only for what is missing, each text once and all at once, and keeps the order", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom("a", "b", "c", "d", "", "\ud800", "e\u0301", "\u00e9"))),
      async (requests) => {
        const { asked, model, vector } = telling()
        await run(
          Effect.gen(function* () {
            const { embed } = yield* cached(model)
            const known = new Set<string>()
            for (const texts of requests) {
              asked.length = 0
              expect(yield* embed(texts, "document")).toEqual(texts.map(vector))
              const missing = [...new Set(texts)].filter((text) => !known.has(text))
              expect(asked).toEqual(missing.length === 0 ? [] : [missing])
              texts.forEach((text) => known.add(text))
            }
          })
        )
      }
    ),
    { numRuns: 50 }
  ))

it("tells models and purposes apart", () =>
  run(
    Effect.gen(function* () {
      const [one, other] = [telling("one"), telling("other")]
      for (const { model } of [one, other, one, other]) {
        const { embed, name } = yield* cached(model)
        expect(name).toBe(model.name)
        yield* embed(["a"], "document")
        yield* embed(["a"], "query")
      }
      expect([one.asked.length, other.asked.length]).toEqual([2, 2])
    })
  ))

it("takes what is damaged for missing, and writes it anew", () =>
  run(
    Effect.gen(function* () {
      const { asked, model, vector } = telling()
      const store = yield* KeyValueStore.KeyValueStore
      const keys: Array<string> = []
      const noting = {
        ...store,
        set: (key: string, value: string | Uint8Array) =>
          Effect.zipRight(
            Effect.sync(() => keys.push(key)),
            store.set(key, value)
          )
      }
      const { embed } = yield* Effect.provideService(cached(model), KeyValueStore.KeyValueStore, noting)
      yield* embed(["a"], "document")
      const key = keys.at(-1)!
      const whole = yield* Effect.flatten(store.getUint8Array(key))
      expect(whole.length).toBe(8 + 4 * vector("a").length)
      for (const damaged of [
        whole.slice(0, -4),
        whole.slice(1),
        new Uint8Array(),
        whole.map((byte, n) => (n === 20 ? byte ^ 1 : byte)),
        "x"
      ]) {
        yield* store.set(key, damaged)
        asked.length = 0
        expect(yield* embed(["a"], "document")).toEqual([vector("a")])
        expect(asked).toEqual([["a"]])
      }
      yield* embed(["a"], "document")
      expect(asked.length).toBe(1)
    })
  ))

describe("a model whose vectors come to have another size", () => {
  /** A model of this name with vectors of a size, and what it was asked. */
  const sized = (size: number) => {
    const asked: Array<ReadonlyArray<string>> = []
    const model: EmbeddingModel.Service = {
      name: "model",
      embed: (texts) =>
        Effect.sync(() => {
          asked.push(texts)
          return texts.map((text) => new Float32Array(size).fill(text.length))
        })
    }
    return { asked, model }
  }
  const sizes = (vectors: ReadonlyArray<EmbeddingModel.Vector>) => vectors.map(({ length }) => length)

  it("is asked for all anew in a request that asks for something new", () =>
    run(
      Effect.gen(function* () {
        const [before, after] = [sized(3), sized(4)]
        yield* (yield* cached(before.model)).embed(["a", "b"], "document")
        const { embed } = yield* cached(after.model)
        expect(sizes(yield* embed(["a", "c", "b"], "document"))).toEqual([4, 4, 4])
        expect(after.asked).toEqual([["c"], ["a", "b"]])
        expect(sizes(yield* embed(["a", "b", "c"], "document"))).toEqual([4, 4, 4])
        expect(after.asked.length).toBe(2)
      })
    ))

  it("is asked for all anew once anything was, in another process, too", () =>
    run(
      Effect.gen(function* () {
        const [before, after] = [sized(3), sized(4)]
        yield* (yield* cached(before.model)).embed(["a"], "document")
        yield* (yield* cached(after.model)).embed(["what"], "query")
        const { embed } = yield* cached(after.model)
        expect(sizes(yield* embed(["a"], "document"))).toEqual([4])
        expect(after.asked).toEqual([["what"], ["a"]])
      })
    ))

  it("is not asked twice for what has its size", () =>
    run(
      Effect.gen(function* () {
        const { asked, model } = sized(3)
        for (const text of ["a", "b", "a"]) yield* (yield* cached(model)).embed([text], "document")
        expect(asked).toEqual([["a"], ["b"]])
      })
    ))
})

it("gives each reader vectors of its own", () =>
  run(
    Effect.gen(function* () {
      const { model, vector } = telling()
      const { embed } = yield* cached(model)
      const [first, second] = yield* embed(["a", "a"], "document")
      first!.fill(0)
      expect(second).toEqual(vector("a"))
    })
  ))

it("goes on without a store that does not answer", () =>
  run(
    Effect.gen(function* () {
      const { asked, model, vector } = telling()
      const store = yield* KeyValueStore.KeyValueStore
      const broken = { ...store, getUint8Array: () => Effect.fail(unavailable), set: () => Effect.fail(unavailable) }
      const { embed } = yield* Effect.provideService(cached(model), KeyValueStore.KeyValueStore, broken)
      expect(yield* embed(["a", "b"], "document")).toEqual([vector("a"), vector("b")])
      expect(asked).toEqual([["a", "b"]])
    })
  ))

it("refuses a model that gives fewer vectors than texts, and fails as the model does", () =>
  run(
    Effect.gen(function* () {
      const failing = new Errors.ModelError({ reason: "RateLimited", message: "Later." })
      const short = yield* cached({ name: "short", embed: () => Effect.succeed([]) })
      expect(yield* Effect.flip(short.embed(["a"], "query"))).toMatchObject({ reason: "InvalidResponse" })
      const broken = yield* cached({ name: "broken", embed: () => Effect.fail(failing) })
      expect(yield* Effect.flip(broken.embed(["a"], "query"))).toBe(failing)
    })
  ))

it("outlives a process, in a folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "heddle-embeddings-"))
  const { asked, model, vector } = telling()
  const embed = Effect.flatMap(EmbeddingModel.EmbeddingModel, (cache) => cache.embed(["a", "b"], "document")).pipe(
    Effect.provide(layer),
    Effect.provide(Layer.merge(EmbeddingModel.layer(model), KeyValueStore.layerFileSystem(folder))),
    Effect.provide(NodeContext.layer)
  )
  await Effect.runPromise(embed)
  expect(await Effect.runPromise(embed)).toEqual([vector("a"), vector("b")])
  expect(asked).toEqual([["a", "b"]])
  // Those of the vectors, and that of their size.
  expect(await readdir(folder)).toHaveLength(3)
  await rm(folder, { recursive: true })
})
