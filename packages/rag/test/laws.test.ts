import { Rag } from "@heddle/rag"
import { Laws } from "@heddle/testing/vitest"
import { describe } from "vitest"
import { failing, finding, passage } from "./support.ts"

describe("the retrieval keeps the laws", () => {
  for (const mode of ["none", "stuff", "map_reduce"] as const) {
    describe(mode, () =>
      Laws.handler(Rag.handler({ settings: { mode } }), {
        layer: finding(passage("One of them."), passage("Another of them.")).layer,
        runs: 20
      })
    )
  }
  describe("where nothing can be searched", () => Laws.handler(Rag.handler(), { layer: failing, runs: 20 }))
})
