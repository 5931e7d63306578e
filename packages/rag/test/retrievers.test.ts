import { describe, expect, it } from "@effect/vitest"
import { Errors, Tenant } from "@heddle/core"
import { RagErrors, Retriever } from "@heddle/rag"
import { Context, Deferred, Duration, Effect, Either, Exit, FastCheck, Fiber, Option, Ref, TestClock } from "effect"
import { inspect } from "node:util"
import { passage } from "./support.ts"

/** Finds these, the best first, whatever is asked. */
const having = (passages: ReadonlyArray<Retriever.Passage>): Retriever.Service => ({
  search: ({ minScore, topK }) =>
    Effect.succeed(
      passages
        .filter(({ score }) => score >= minScore)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, topK)
    )
})

const error = new RagErrors.RetrievalError({ reason: "Unavailable", message: "The index is away." })
const failing: Retriever.Service = { search: () => Effect.fail(error) }

const keys = (passages: ReadonlyArray<Retriever.Passage>) => passages.map(({ id, source }) => `${source}#${id}`)

const scores = FastCheck.integer({ min: 0, max: 10 }).map((n) => n / 10)
const corpus = FastCheck.uniqueArray(
  FastCheck.record({
    id: FastCheck.constantFrom(..."abcdefghij"),
    source: FastCheck.constantFrom("x", "y"),
    score: scores
  }),
  { selector: ({ id, source }) => source + id }
).map((all) => all.map(({ id, score, source }) => passage(`${source} ${id}`, { id, source, score })))
const topKs = FastCheck.constantFrom(0, 1, 2, 5, Infinity)
const query = FastCheck.record({ topK: topKs, minScore: scores }).map((options) => Retriever.query("it", options))
const bounds = FastCheck.constantFrom(1, 3, 100)

/** A score of its own for each passage. */
const scored = ({ id }: Retriever.Passage) => (id.charCodeAt(0) % 5) / 5

const isOrdered = (passages: ReadonlyArray<Retriever.Passage>) =>
  passages.every(({ score }, i) => score >= 0 && score <= 1 && (i === 0 || score <= passages[i - 1]!.score))

describe("a retriever that ranks anew", () => {
  it.effect.prop(
    "gives the best by the new scores of those that it looks at",
    [corpus, query, bounds],
    ([all, asked, candidates]) =>
      Effect.gen(function* () {
        const self = having(all)
        const ranked = Retriever.rerank(self, { candidates, score: (_, of) => Effect.succeed(of.map(scored)) })
        const found = yield* ranked.search(asked)
        const seen = yield* self.search({ ...asked, topK: Math.max(candidates, asked.topK), minScore: 0 })
        const expected = seen
          .map((passage) => ({ ...passage, score: scored(passage) }))
          .filter(({ score }) => score >= asked.minScore)
          .toSorted((a, b) => b.score - a.score)
          .slice(0, asked.topK)
        expect(found).toEqual(expected)
      })
  )

  it.effect("fails where its scores fail, are too many or are none", () =>
    Effect.gen(function* () {
      const self = having([passage("one"), passage("two")])
      const reasonOf = (score: Retriever.RerankOptions<string>["score"]) =>
        Effect.flip(Retriever.rerank(self, { score }).search(Retriever.query("it")))
      const failed = yield* reasonOf(() => Effect.fail("no key"))
      expect(failed.reason).toBe("Ranking")
      expect(failed.cause).toBe("no key")
      for (const wrong of [[], [0.5], [0.5, 0.5, 0.5], [0.5, Number.NaN], [0.5, 1.1], [-0.1, 0.5]])
        expect((yield* reasonOf(() => Effect.succeed(wrong))).reason).toBe("Ranking")
    })
  )

  it.effect("scores nothing where nothing was found", () =>
    Effect.gen(function* () {
      const found = Retriever.rerank(having([]), { score: () => Effect.dieMessage("was asked") })
      expect(yield* found.search(Retriever.query("it"))).toEqual([])
    })
  )
})

describe("a retriever that leaves out", () => {
  it.effect.prop(
    "gives what is let through of those that it looks at, in their order",
    [corpus, query, bounds, FastCheck.func(FastCheck.boolean())],
    ([all, asked, maxCandidates, accepts]) =>
      Effect.gen(function* () {
        const self = having(all)
        const isGood = ({ id, source }: Retriever.Passage) => accepts(id, source)
        const found = yield* Retriever.filter(self, isGood, { maxCandidates }).search(asked)
        const seen = yield* self.search({ ...asked, topK: Math.max(asked.topK, maxCandidates) })
        expect(found).toEqual(seen.filter(isGood).slice(0, asked.topK))
      })
  )

  it.effect("asks for no more than it has to", () =>
    Effect.gen(function* () {
      const asked: Array<number> = []
      const all = having(Array.from({ length: 100 }, (_, i) => passage(`${i}`, { score: 1 - i / 100 })))
      const self: Retriever.Service = {
        search: (query) =>
          Effect.zipRight(
            Effect.sync(() => asked.push(query.topK)),
            all.search(query)
          )
      }
      const isFrom =
        (from: number) =>
        ({ text }: Retriever.Passage) =>
          Number(text) >= from
      yield* Retriever.filter(isFrom(0))(self).search(Retriever.query("it", { topK: 2 }))
      yield* Retriever.filter(isFrom(9))(self).search(Retriever.query("it", { topK: 2 }))
      yield* Retriever.filter(isFrom(500), { maxCandidates: 20 })(self).search(Retriever.query("it", { topK: 2 }))
      yield* Retriever.filter(isFrom(500))(self).search(Retriever.query("it", { topK: 2 }))
      expect(asked).toEqual([2, 2, 8, 32, 2, 8, 20, 2, 8, 32, 128])
    })
  )
})

describe("several retrievers as one", () => {
  it.effect.prop("of one is that one", [corpus, query], ([all, asked]) =>
    Effect.gen(function* () {
      expect(yield* Retriever.union([having(all)]).search(asked)).toEqual(yield* having(all).search(asked))
    })
  )

  const weights = FastCheck.tuple(FastCheck.constantFrom(0.5, 1, 3), FastCheck.constantFrom(0.5, 1, 3))
  it.effect.prop(
    "have each passage once, ordered, with a score from 0 to 1 that does not depend on their order",
    [corpus, corpus, weights],
    ([all, others, [a, b]]) =>
      Effect.gen(function* () {
        const asked = Retriever.query("it", { topK: Infinity })
        const found = yield* Retriever.union([having(all), having(others)], { weights: [a, b] }).search(asked)
        expect(isOrdered(found)).toBe(true)
        expect(new Set(keys(found)).size).toBe(found.length)
        expect(new Set(keys(found))).toEqual(new Set(keys([...all, ...others])))
        const turned = yield* Retriever.union([having(others), having(all)], { weights: [b, a] }).search(asked)
        const scoreOf = new Map(turned.map(({ id, score, source }) => [`${source}#${id}`, score]))
        for (const [i, key] of keys(found).entries()) expect(found[i]!.score).toBeCloseTo(scoreOf.get(key)!, 12)
      })
  )

  it.effect.prop(
    "find the first of what they would find without a limit",
    [corpus, corpus, query],
    ([all, others, asked]) =>
      Effect.gen(function* () {
        const both = Retriever.union([having(all), having(others)], { candidates: 100 })
        const found = yield* both.search(asked)
        const everything = yield* both.search({ ...asked, topK: Infinity, minScore: 0 })
        expect(found).toEqual(everything.filter(({ score }) => score >= asked.minScore).slice(0, asked.topK))
      })
  )

  it.effect("set what both found first at 1, and what one found alone at a half", () =>
    Effect.gen(function* () {
      const [one, two, three] = [passage("one", { score: 0.9 }), passage("two"), passage("three")]
      const found = yield* Retriever.union([having([one, two]), having([one, three, two])]).search(
        Retriever.query("it")
      )
      expect(keys(found)).toEqual(keys([one, two, three]))
      expect(found[0]!.score).toBe(1)
      expect(found[2]!.score).toBeLessThan(0.5)
      expect(yield* Retriever.union([]).search(Retriever.query("it"))).toEqual([])
    })
  )

  it.effect("are asked at once", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const meeting = (mine: Deferred.Deferred<void>, other: Deferred.Deferred<void>): Retriever.Service => ({
        search: () => Effect.as(Effect.zipRight(Deferred.succeed(mine, undefined), Deferred.await(other)), [])
      })
      expect(yield* Retriever.union([meeting(a, b), meeting(b, a)]).search(Retriever.query("it"))).toEqual([])
    })
  )

  it.effect("fail with the first that fails, or go on until all have", () =>
    Effect.gen(function* () {
      const one = passage("one")
      const searching = (onFailure: "continue" | "fail", ...all: ReadonlyArray<Retriever.Service>) =>
        Effect.either(Effect.map(Retriever.union(all, { onFailure }).search(Retriever.query("it")), keys))
      expect(yield* searching("fail", having([one]), failing)).toMatchObject({ left: error })
      expect(yield* searching("continue", having([one]), failing)).toMatchObject({ right: keys([one]) })
      expect(yield* searching("continue", failing, failing)).toMatchObject({ left: error })
    })
  )
})

describe("several retrievers as one, with a timeout", () => {
  const hanging: Retriever.Service = { search: () => Effect.never }
  const one = passage("one")
  const after = (time: Duration.DurationInput, ...all: ReadonlyArray<Retriever.Service>) =>
    Effect.gen(function* () {
      const { search } = Retriever.union(all, { onFailure: "continue", timeout: "2 seconds" })
      const searching = yield* Effect.fork(Effect.either(Effect.map(search(Retriever.query("it")), keys)))
      yield* TestClock.adjust(time)
      return Option.map(
        yield* Fiber.poll(searching),
        Exit.getOrElse(() => undefined)
      )
    })

  it.effect("go on without one that does not answer", () =>
    Effect.gen(function* () {
      expect(yield* after("1 seconds", having([one]), hanging)).toEqual(Option.none())
      expect(yield* after("2 seconds", having([one]), hanging)).toEqual(Option.some(Either.right(keys([one]))))
    })
  )

  it.effect("do not wait for one that cannot be interrupted", () =>
    Effect.gen(function* () {
      const deaf: Retriever.Service = { search: () => Effect.uninterruptible(Effect.never) }
      expect(yield* after("2 seconds", having([one]), deaf)).toEqual(Option.some(Either.right(keys([one]))))
    })
  )

  it.effect("fail where none answers, one alone too", () =>
    Effect.gen(function* () {
      for (const all of [[hanging], [hanging, hanging]])
        expect(yield* after("2 seconds", ...all)).toMatchObject({
          value: {
            left: { reason: "Timeout", message: "A retriever of a union took longer than 2s." }
          }
        })
    })
  )
})

describe("a retriever that remembers", () => {
  const options = { capacity: 100, timeToLive: "1 minute" } as const

  const textOf = (query: Retriever.Query) => inspect(query, { sorted: true, depth: null })

  /** Finds what says who asked for what, and counts how often it was asked for each. */
  const counting = () => {
    const asked = new Map<string, number>()
    const self: Retriever.Service = {
      search: (query) =>
        Effect.sync(() => {
          asked.set(textOf(query), (asked.get(textOf(query)) ?? 0) + 1)
          return [passage(textOf(query), { metadata: { tenant: query.tenant } })]
        })
    }
    return { asked, self }
  }

  // Few of each, so that queries that differ in one thing alone are among forty.
  const filters = FastCheck.constantFrom<Retriever.Filter>(
    { collection: "a" },
    { collection: "b" },
    { sources: ["a"] },
    { sources: ["b"] },
    { metadata: { a: 1 } },
    { metadata: { a: "1" } },
    { metadata: { a: Number.NaN } },
    { metadata: { a: Infinity } },
    { metadata: { a: 1, b: 2 } },
    { metadata: { b: 2, a: 1 } }
  )
  const queries = FastCheck.record(
    {
      query: FastCheck.constantFrom("one", "two"),
      topK: FastCheck.constantFrom(1, Infinity),
      minScore: FastCheck.constantFrom(0, 0.5),
      tenant: FastCheck.constantFrom("acme", "one"),
      filter: filters
    },
    { requiredKeys: ["query", "topK", "minScore", "tenant"] }
  )
  it.effect.prop(
    "gives what would be found, and never what another tenant's or another query's is",
    [FastCheck.array(queries, { maxLength: 40, size: "max" })],
    ([all]) =>
      Effect.gen(function* () {
        const { asked, self } = counting()
        const cached = yield* Retriever.cached(self, options)
        const found = yield* Effect.forEach(all, (query) => cached.search(query), { concurrency: 3 })
        for (const [i, query] of all.entries()) {
          expect(found[i]![0]!.metadata["tenant"]).toBe(query.tenant)
          expect(found[i]![0]!.text).toBe(textOf(query))
        }
        expect(Array.from(asked.values()).every((times) => times === 1)).toBe(true)
      })
  )

  it.effect("forgets what is too old, and what was not asked for the longest", () =>
    Effect.gen(function* () {
      const { asked, self } = counting()
      const cached = yield* Retriever.cached(self, { capacity: 2, timeToLive: "1 minute" })
      const ask = (text: string) => cached.search(Retriever.query(text))
      const times = () => Array.from(asked.values())
      yield* Effect.forEach(["a", "b", "a", "c", "a"], ask)
      expect(times()).toEqual([1, 1, 1])
      yield* ask("b")
      expect(times()).toEqual([1, 2, 1])
      yield* TestClock.adjust("59 seconds")
      yield* ask("a")
      expect(times()).toEqual([1, 2, 1])
      yield* TestClock.adjust("1 seconds")
      yield* ask("a")
      expect(times()).toEqual([2, 2, 1])
    })
  )

  it.effect("keeps for ever where it is told so", () =>
    Effect.gen(function* () {
      const { asked, self } = counting()
      const cached = yield* Retriever.cached(self, { capacity: 2, timeToLive: Duration.infinity })
      yield* cached.search(Retriever.query("a"))
      yield* TestClock.adjust("1000 days")
      yield* cached.search(Retriever.query("a"))
      expect(Array.from(asked.values())).toEqual([1])
    })
  )

  it.effect("keeps no failure", () =>
    Effect.gen(function* () {
      const times = yield* Ref.make(0)
      const self: Retriever.Service = {
        search: () =>
          Effect.flatMap(
            Ref.getAndUpdate(times, (n) => n + 1),
            (n) => (n === 0 ? Effect.fail(error) : Effect.succeed([]))
          )
      }
      const cached = yield* Retriever.cached(self, options)
      expect(yield* Effect.flip(cached.search(Retriever.query("a")))).toBe(error)
      expect(yield* cached.search(Retriever.query("a"))).toEqual([])
      expect(yield* Ref.get(times)).toBe(2)
    })
  )

  it.effect("gives copies that nobody can change", () =>
    Effect.gen(function* () {
      const own = passage("a", { metadata: { year: 2020 } })
      const cached = yield* Retriever.cached(having([own]), options)
      const found = yield* cached.search(Retriever.query("a"))
      expect(found).toEqual([own])
      expect([found, found[0], found[0]!.metadata].every(Object.isFrozen)).toBe(true)
      expect(Object.isFrozen(own)).toBe(false)
    })
  )

  /** Searches until it is told to stop, and counts how often it was begun and interrupted. */
  const slow = Effect.gen(function* () {
    const open = yield* Deferred.make<void>()
    const seen = { begun: 0, interrupted: 0 }
    const self: Retriever.Service = {
      search: () =>
        Effect.suspend(() => {
          seen.begun++
          return Effect.as(Deferred.await(open), [passage("a")])
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => seen.interrupted++)))
    }
    const cached = yield* Retriever.cached(self, options)
    return { ask: cached.search(Retriever.query("a")), open: Deferred.succeed(open, undefined), seen }
  })

  it.effect("searches once for those who ask at the same time, whoever of them leaves", () =>
    Effect.gen(function* () {
      for (const leaving of [0, 1, 2]) {
        const { ask, open, seen } = yield* slow
        const fibers = yield* Effect.forEach([0, 1, 2], () => Effect.fork(ask))
        yield* Effect.yieldNow()
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fibers[leaving]!))).toBe(true)
        yield* open
        for (const [i, fiber] of fibers.entries())
          if (i !== leaving) expect(keys(yield* Fiber.join(fiber))).toEqual(["notes.md#a"])
        expect(seen).toEqual({ begun: 1, interrupted: 0 })
      }
    })
  )

  it.effect("searches in the context that it was made in, for the tenant of the query", () =>
    Effect.gen(function* () {
      class Asker extends Context.Reference<Asker>()("Asker", { defaultValue: () => "nobody" }) {}
      const open = yield* Deferred.make<void>()
      const seen: Array<ReadonlyArray<string>> = []
      const self: Retriever.Service = {
        search: () =>
          Effect.gen(function* () {
            yield* Deferred.await(open)
            seen.push([yield* Asker, yield* Tenant.Tenant])
            return []
          })
      }
      const cached = yield* Effect.provideService(Retriever.cached(self, options), Asker, "maker")
      const ask = (name: string) =>
        Effect.fork(cached.search(Retriever.query("a", { tenant: "acme" })).pipe(Effect.provideService(Asker, name)))
      const [first, second] = [yield* ask("first"), yield* ask("second")]
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(open, undefined)
      yield* Fiber.join(second)
      expect(seen).toEqual([["maker", "acme"]])
    })
  )

  it.effect("stops searching when nobody waits any more, and begins again for the next", () =>
    Effect.gen(function* () {
      const { ask, open, seen } = yield* slow
      const fibers = yield* Effect.forEach([0, 1], () => Effect.fork(ask))
      yield* Effect.yieldNow()
      yield* Fiber.interruptAll(fibers)
      expect(seen).toEqual({ begun: 1, interrupted: 1 })
      yield* open
      expect(keys(yield* ask)).toEqual(["notes.md#a"])
      expect(seen).toEqual({ begun: 2, interrupted: 1 })
    })
  )
})

describe("what makes no sense", () => {
  const self = having([passage("one")])
  const made: ReadonlyArray<
    readonly [string, (self: Retriever.Service) => Retriever.Service | Effect.Effect<Retriever.Service>]
  > = [
    ["candidates of rerank", Retriever.rerank({ candidates: 0, score: () => Effect.succeed([]) })],
    ["candidates of filter", Retriever.filter(() => true, { maxCandidates: 1.5 })],
    ["candidates of union", (self) => Retriever.union([self, self], { candidates: -1 })],
    ["weights of union", (self) => Retriever.union([self, self], { weights: [1, 0] })],
    ["more weights than retrievers of union", (self) => Retriever.union([self, self], { weights: [1, 2, 3] })],
    ["timeout of union", (self) => Retriever.union([self, self], { timeout: 0 })],
    ["rank constant of union", (self) => Retriever.union([self, self], { rankConstant: -1 })],
    ["capacity", Retriever.cached({ capacity: Number.NaN, timeToLive: 1 })],
    ["time to live", Retriever.cached({ capacity: 1, timeToLive: 0 })]
  ]
  for (const [name, make] of made)
    it(`is refused: ${name}`, () => expect(() => make(self)).toThrow(Errors.DefinitionError))

  it.effect("is no query for any of them", () =>
    Effect.gen(function* () {
      const asked: Retriever.Service = { search: () => Effect.dieMessage("was asked") }
      const all = [
        Retriever.rerank(asked, { score: () => Effect.succeed([]) }),
        Retriever.filter(asked, () => true),
        Retriever.union([asked, asked]),
        yield* Retriever.cached(asked, { capacity: 1, timeToLive: 1 })
      ]
      for (const { search } of all) {
        expect((yield* Effect.flip(search(Retriever.query("it", { topK: -1 })))).reason).toBe("InvalidQuery")
        expect((yield* Effect.flip(search(Retriever.query("it", { tenant: "" })))).reason).toBe("InvalidQuery")
        expect(yield* search(Retriever.query("it", { topK: 0 }))).toEqual([])
      }
    })
  )
})
