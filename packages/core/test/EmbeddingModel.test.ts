import { describe, expect, it } from "@effect/vitest"
import { EmbeddingModel, Errors } from "@heddle/core"
import { Effect, FastCheck } from "effect"

/** A model whose vectors have the length of a text, with what it was asked, and how often at once. */
const counting = () => {
  const asked: Array<readonly [ReadonlyArray<string>, EmbeddingModel.Purpose]> = []
  let now = 0
  const most = { atOnce: 0 }
  const model: EmbeddingModel.Service = {
    name: "counting",
    embed: (texts, purpose) =>
      Effect.gen(function* () {
        asked.push([texts, purpose])
        most.atOnce = Math.max(most.atOnce, ++now)
        yield* Effect.yieldNow()
        now--
        return texts.map((text) => Float32Array.of(text.length))
      })
  }
  return { asked, model, most }
}

describe("batched", () => {
  it.effect.prop(
    "gives what the model gives for all texts, in their order, in requests of so many texts at the most",
    [FastCheck.array(FastCheck.string()), FastCheck.integer({ min: 1, max: 5 }), FastCheck.integer({ min: 1, max: 3 })],
    ([texts, maxTexts, concurrency]) =>
      Effect.gen(function* () {
        const { asked, model, most } = counting()
        const batched = EmbeddingModel.batched(model, { maxTexts, concurrency })
        expect(batched.name).toBe("counting")
        expect(yield* batched.embed(texts, "query")).toEqual(texts.map(({ length }) => Float32Array.of(length)))
        expect(asked.flatMap(([batch]) => batch)).toEqual(texts)
        expect(asked.length).toBe(Math.ceil(texts.length / maxTexts))
        expect(asked.every(([batch, purpose]) => batch.length <= maxTexts && purpose === "query")).toBe(true)
        expect(most.atOnce).toBe(Math.min(concurrency, asked.length))
      })
  )

  it.effect("asks for 96 texts at a time, four times at once, unless said", () =>
    Effect.gen(function* () {
      const { asked, model, most } = counting()
      yield* EmbeddingModel.batched(model).embed(
        Array.from({ length: 500 }, () => "a"),
        "document"
      )
      expect(asked.map(([batch]) => batch.length)).toEqual([96, 96, 96, 96, 96, 20])
      expect(most.atOnce).toBe(4)
    })
  )

  it.effect("asks for all at once where there is no bound", () =>
    Effect.gen(function* () {
      const { asked, model } = counting()
      const { embed } = EmbeddingModel.batched(model, { maxTexts: Infinity, concurrency: Infinity })
      yield* embed([], "document")
      yield* embed(["a", "b"], "document")
      expect(asked.map(([batch]) => batch)).toEqual([["a", "b"]])
    })
  )

  it("refuses numbers that make no sense", () => {
    for (const n of [0, -1, 1.5, NaN]) {
      for (const options of [{ maxTexts: n }, { concurrency: n }]) {
        expect(() => EmbeddingModel.batched(counting().model, options)).toThrow(Errors.DefinitionError)
      }
    }
  })

  it.effect("fails where the model gives more or fewer vectors than texts, and with what the model fails with", () =>
    Effect.gen(function* () {
      const giving = (n: number): EmbeddingModel.Service => ({
        name: "odd",
        embed: () => Effect.succeed(Array.from({ length: n }, () => Float32Array.of(1)))
      })
      for (const n of [0, 1, 3]) {
        const error = yield* Effect.flip(EmbeddingModel.batched(giving(n)).embed(["a", "b"], "document"))
        expect(error.reason).toBe("InvalidResponse")
        expect(error.message).toContain(`The embedding model "odd" gave ${n} vectors for 2 texts.`)
      }
      const busy = new Errors.ModelError({ reason: "Overloaded", message: "busy" })
      const failing: EmbeddingModel.Service = { name: "busy", embed: () => busy }
      expect(yield* Effect.flip(EmbeddingModel.batched(failing).embed(["a"], "query"))).toBe(busy)
    })
  )
})
