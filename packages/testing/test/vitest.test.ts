import { Call, Handler } from "@heddle/core"
import { Laws } from "@heddle/testing/vitest"
import { Effect, Layer, Ref } from "effect"
import { afterAll, describe, expect } from "vitest"

/** Counts model calls; its layer is built afresh for each run. */
class Meter extends Handler.Tag("Meter")<Meter>() {
  static readonly Live = Layer.effect(
    Meter,
    Effect.map(Ref.make(0), (calls) => ({
      wrapModelCall: (request, next) => Call.tapValue(next(request), () => Ref.update(calls, (n) => n + 1))
    }))
  )
}

let trials = 0
const counting = Handler.make("counting", {
  beforeAgent: (run) => {
    trials++
    return run
  }
})

describe("a tagged handler with its layer", () => Laws.handler(Meter, { layer: Meter.Live, runs: 10 }))

describe("a handler, but for some laws", () => {
  Laws.handler(counting, { runs: 3, except: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16] })
  afterAll(() => {
    expect(trials).toBeGreaterThan(0)
  })
})
