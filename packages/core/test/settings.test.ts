import { describe, expect, it } from "@effect/vitest"
import { expecting, merge, oneOf, optional, problems, wholeFrom } from "@heddle/core/settings"
import { FastCheck, Schema } from "effect"

const Settings = Schema.Struct({
  mode: optional(oneOf("fast", "slow")),
  limit: optional(wholeFrom(1)),
  names: optional(Schema.Array(Schema.NonEmptyString.annotations(expecting("a name")))),
  inner: optional(Schema.Struct({ steps: optional(Schema.Array(Schema.Struct({ limit: wholeFrom(0) }))) }))
})

describe("problems", () => {
  it("of what is right there are none, whatever is left out", () => {
    for (const data of [{}, { mode: "fast", limit: 1, names: [], inner: { steps: [{ limit: 0 }] } }]) {
      expect(problems(Settings, data)).toEqual([])
    }
  })

  it("say what is expected and nothing else, in the words of the schema", () => {
    expect(problems(Settings, { mode: "quick" })).toEqual(["mode: expected one of fast, slow"])
    for (const limit of [0, -1, 1.5, NaN, Infinity, "1", null, undefined]) {
      expect(problems(Settings, { limit })).toEqual(["limit: expected a whole number from 1"])
    }
  })

  it("are all told at once, each with its path as one writes it, unknown keys too", () => {
    const data = { limit: 0, names: ["a", "", "b", 5], inner: { steps: [{ limit: 1 }, { limit: -1 }] }, typo: 1 }
    expect(problems(Settings, data).toSorted()).toEqual([
      "inner.steps[1].limit: expected a whole number from 0",
      "limit: expected a whole number from 1",
      "names[1]: expected a name",
      "names[3]: expected a name",
      expect.stringMatching(/^typo: is unexpected/)
    ])
  })

  it("begin with where the data itself stands", () => {
    expect(problems(Settings, { limit: 0 }, "settings")).toEqual(["settings.limit: expected a whole number from 1"])
    expect(problems(Schema.Array(wholeFrom(1)), [1, 0], "limits")).toEqual([
      "limits[1]: expected a whole number from 1"
    ])
    expect(problems(Schema.Array(wholeFrom(1)), [0])).toEqual(["[0]: expected a whole number from 1"])
    expect(problems(wholeFrom(1), 0)).toEqual(["expected a whole number from 1"])
    expect(problems(wholeFrom(1), 0, "limit")).toEqual(["limit: expected a whole number from 1"])
  })

  it("of data of another kind there is one", () => {
    for (const data of [null, undefined, 5, "fast", []]) expect(problems(Settings, data).length).toBe(1)
  })
})

describe("merge", () => {
  const said = FastCheck.option(
    FastCheck.record(
      {
        a: FastCheck.constantFrom(0, 1, undefined),
        b: FastCheck.constantFrom("", "x", undefined),
        c: FastCheck.constantFrom(false, true, null, undefined)
      },
      { requiredKeys: [] }
    ),
    { nil: undefined }
  )

  it.prop(
    "gives each key what the first has set who set it, a zero and a false too",
    [FastCheck.array(said)],
    ([all]) => {
      const merged = merge(...all)
      for (const key of ["a", "b", "c"] as const) {
        expect(merged[key]).toBe(all.map((one) => one?.[key]).find((value) => value !== undefined))
        expect(key in merged).toBe(merged[key] !== undefined)
      }
    }
  )

  it.prop("is associative, with nothing said as its unit", [said, said, said], ([a, b, c]) => {
    expect(merge(a, merge(b, c))).toEqual(merge(merge(a, b), c))
    expect(merge(a, {}, undefined)).toEqual(merge(undefined, {}, a))
  })

  it("changes nothing that it is given", () => {
    const over = Object.freeze({ a: 1 })
    const under = Object.freeze({ a: 2, b: 3 })
    expect(merge<{ a: number; b?: number }>(over, under)).toEqual({ a: 1, b: 3 })
    expect(merge()).toEqual({})
  })
})
