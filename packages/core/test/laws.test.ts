import { Handler } from "@heddle/core"
import { Arbitraries, Law } from "@heddle/testing"
import { describe, it } from "vitest"

describe("the laws hold over generated pipelines", () => {
  for (const law of Law.laws) {
    it(`law ${law.number}, ${law.name}`, () => Law.checkAll(law, Arbitraries.pipeline, { runs: 100 }))
  }
})

describe("the laws hold for a single handler", () => {
  for (const law of Law.laws) {
    it(`law ${law.number}, ${law.name}`, () => Law.check(law, Handler.instructions("x"), { runs: 100 }))
  }
})
