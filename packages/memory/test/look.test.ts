import { describe, expect, it } from "@effect/vitest"
import { Message } from "@heddle/core"
import { type ContextMode, Conversations, TokenCounter } from "@heddle/memory"
import { Effect, FastCheck } from "effect"
import * as Look from "../src/internal/look.ts"

const key = Conversations.main("s")

/** Around the sizes of one page and of several. */
const around = FastCheck.tuple(FastCheck.constantFrom(0, 100, 200, 300), FastCheck.integer({ min: -2, max: 2 })).map(
  ([pages, more]) => Math.max(0, pages + more)
)
const size = FastCheck.oneof(around, FastCheck.nat(320))
const window: FastCheck.Arbitrary<ContextMode.Window | undefined> = FastCheck.oneof(
  FastCheck.constant(undefined),
  FastCheck.record({ exchanges: size }),
  // An exchange has eight.
  FastCheck.record({ tokens: FastCheck.tuple(size, FastCheck.nat(7)).map(([n, more]) => 8 * n + more) })
)

/** A store with one conversation of so many exchanges, the first of which a summary covers. */
const filled = (total: number, through: number) =>
  Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    const exchange = { agent: "a", messages: [Message.user("q"), Message.assistant("a")] }
    for (let i = 0; i < total; i++) yield* store.append(key, exchange)
    const { info } = yield* store.read(key, { last: 0 })
    if (through > 0) yield* store.summarize(key, { text: "in short", through }, info!)
    return store
  })

const inMemory = <A, E>(effect: Effect.Effect<A, E, Conversations.Conversations>) =>
  effect.pipe(
    Effect.provideService(TokenCounter.TokenCounter, { count: () => 0 }),
    Effect.provide(Conversations.layerMemory())
  )

const positions = ({ exchanges }: Look.Seen) => exchanges.map(({ position }) => position)
const numbers = (total: number) => Array.from({ length: total }, (_, i) => i + 1)
const last = (all: ReadonlyArray<number>, n: number) => all.slice(Math.max(0, all.length - n))
const widthOf = (window: ContextMode.Window | undefined) =>
  window === undefined ? Infinity : "exchanges" in window ? window.exchanges : Math.floor(window.tokens / 8)

describe("what is read in pages is what one would see of the whole", () => {
  it.effect.prop(
    "of what matches, back to any length",
    [
      size,
      window,
      FastCheck.oneof(around, FastCheck.nat(320)).map((n) => n + 1),
      FastCheck.integer({ min: 1, max: 60 })
    ],
    ([total, window, lookBack, every]) =>
      inMemory(
        Effect.gen(function* () {
          const accepts = ({ position }: { readonly position: number }) => position % every === 0
          const seen = yield* Look.matching(yield* filled(total, 0), key, window, { accepts, lookBack })
          const wanted = last(numbers(total), lookBack).filter((position) => accepts({ position }))
          expect(positions(seen)).toEqual(last(wanted, widthOf(window)))
          expect(seen.info?.exchanges).toBe(total === 0 ? undefined : total)
        })
      ),
    { fastCheck: { numRuns: 100 } }
  )

  it.effect.prop(
    "in a window, with a summary and without",
    [size, window, FastCheck.nat(320)],
    ([total, window, some]) =>
      inMemory(
        Effect.gen(function* () {
          const through = Math.min(total, some)
          const store = yield* filled(total, through)
          expect(positions(yield* Look.last(store, key, window))).toEqual(last(numbers(total), widthOf(window)))
          if (window === undefined || !("tokens" in window)) return
          const seen = yield* Look.summarizedWithin(store, key, window.tokens)
          expect(positions(seen)).toEqual(last(numbers(total).slice(through), widthOf(window)))
          expect(seen.summary?.through ?? 0).toBe(through)
        })
      ),
    { fastCheck: { numRuns: 100 } }
  )
})
