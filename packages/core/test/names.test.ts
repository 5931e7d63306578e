import { describe, expect, it } from "vitest"
import { unknownName } from "../src/names.ts"

describe("the name that may be meant", () => {
  it.each([
    ["grean", "green"],
    ["clrk", "clerk"],
    ["fats", "fast"],
    ["rum", "run"],
    ["revue", "review"],
    ["ab", "ac"],
    ["Pipe", "pipe"],
    ["summarised_", "summarized"]
  ])("%s: %s", (name, meant) => {
    expect(unknownName("name", name, ["something else", meant])).toContain(`; is "${meant}" meant?`)
  })

  it.each([
    ["nope", "pipe"],
    ["a", "b"],
    ["cat", "dog"],
    ["house", "mouth"],
    ["", "a"]
  ])("of %j is not %j, of which more than a third of the letters is another", (name, other) => {
    expect(unknownName("name", name, [other])).not.toContain("meant")
  })
})
