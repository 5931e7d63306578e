import { expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { readFile } from "node:fs/promises"
import { afterEach, vi } from "vitest"
import wabt from "wabt"
import { code, products } from "../src/internal/retriever/products.ts"

const number = FastCheck.integer({ min: -1_000, max: 1_000 }).map((n) => n / 1_000)

const sums = (vector: Float32Array, others: Float32Array, of: (x: number) => number): ReadonlyArray<number> =>
  Array.from({ length: others.length / vector.length }, (_, n) =>
    vector.reduce((sum, x, i) => sum + of(x * others[n * vector.length + i]!), 0)
  )

/** Repeats numbers until there are so many, none of them just so. */
const numbers = (some: ReadonlyArray<number>, count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, n) => some[n % some.length]! * Math.cos(n))

const same = (made: Float32Array, vector: Float32Array, others: Float32Array) => {
  const wanted = sums(vector, others, (x) => x)
  const sizes = sums(vector, others, Math.abs)
  expect(made.length).toBe(wanted.length)
  // Each number of the sum may be rounded to 24 bits as often as there are numbers.
  for (const [n, product] of made.entries()) {
    expect(Math.abs(product - wanted[n]!)).toBeLessThanOrEqual(vector.length * 2 ** -24 * sizes[n]!)
  }
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

it.prop(
  "gives what plain arithmetic gives",
  [
    FastCheck.array(number, { minLength: 1, maxLength: 7 }),
    // The sizes around those that are done at once, and around what has room.
    FastCheck.oneof(FastCheck.integer({ min: 1, max: 40 }), FastCheck.constantFrom(384, 1_000, 32_767, 32_768, 70_000)),
    FastCheck.integer({ min: 0, max: 200 })
  ],
  ([some, size, count]) => {
    const vector = numbers(some, size)
    const others = numbers(some.toReversed(), size * Math.min(count, Math.ceil(400_000 / size)))
    same(products(vector, others), vector, others)
  },
  { fastCheck: { numRuns: 100 } }
)

it.effect("does without WebAssembly, or without its vectors", () =>
  Effect.gen(function* () {
    const refusing = {
      Module: () => {
        throw new Error("no vectors")
      }
    }
    for (const assembly of [undefined, refusing]) {
      vi.stubGlobal("WebAssembly", assembly)
      vi.resetModules()
      const { products } = yield* Effect.promise(() => import("../src/internal/retriever/products.ts"))
      for (const size of [1, 3, 4, 9, 384]) {
        const [vector, others] = [numbers([0.3, -0.5], size), numbers([0.7, 0.1, -0.2], size * 5)]
        same(products(vector, others), vector, others)
      }
    }
  })
)

it.effect("its code is what its text says", () =>
  Effect.gen(function* () {
    const name = "products.wat"
    const text = yield* Effect.promise(() => readFile(new URL(`../src/internal/retriever/${name}`, import.meta.url)))
    const { parseWat } = yield* Effect.promise(() => wabt())
    const made = parseWat(name, text, { simd: true })
    expect(code).toBe(Buffer.from(made.toBinary({}).buffer).toString("base64"))
    made.destroy()
  })
)
