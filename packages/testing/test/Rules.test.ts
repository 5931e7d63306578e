import { Errors } from "@heddle/core"
import { Rules } from "@heddle/testing"
import { suite } from "@heddle/testing/vitest"
import { Context, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"

class Notes extends Context.Tag("Notes")<Notes, Map<string, string>>() {}

/** Each rule leaves a note: so the other fails if it is given the same notes. */
const rule = (name: string): Rules.Rule<Notes> => ({
  rule: name,
  check: Effect.gen(function* () {
    const notes = yield* Notes
    yield* Rules.same("The notes", [...notes.keys()], [])
    notes.set(name, "")
  })
})

suite([rule("a rule of a suite with a name"), rule("is given a layer of its own")])(
  "rules",
  Layer.sync(Notes, () => new Map())
)

const violation = (effect: Effect.Effect<void, Rules.Violation>) => Effect.runSync(Effect.flip(effect)).message

describe("a check", () => {
  it("says what was found, and what should have been", () => {
    expect(violation(Rules.same("The list", [1, { a: 2 }], [1, {}]))).toBe(
      'The list: found [1,{"a":2}] instead of [1,{}]'
    )
    expect(violation(Rules.same("It", "x".repeat(600), 1))).toMatch(
      /^It: found "x{499}… \(602 characters\) instead of 1$/
    )
    expect(violation(Rules.holds("It is gone", false))).toBe("It is gone")
  })
  it("is passed by the same plain data, in any order of keys", () => {
    Effect.runSync(Rules.same("It", { a: [1, null], b: { c: "d" } }, { b: { c: "d" }, a: [1, null] }))
    for (const [a, b] of [
      [0, -0],
      [[], {}],
      [null, {}],
      [{ a: 1 }, { b: 1 }]
    ]) {
      expect(violation(Rules.same("It", a, b))).toMatch(/^It: found /)
    }
  })
  it("of what makes no sense wants a DefinitionError as a defect", () => {
    const error = new Errors.DefinitionError("no")
    Effect.runSync(Rules.dies("It", Effect.die(error)))
    for (const other of [Effect.fail(error), Effect.die("no"), Effect.void]) {
      expect(violation(Rules.dies("It", other))).toBe("It did not die with a DefinitionError")
    }
  })
})

describe("values", () => {
  it("hostile texts are all different, and none is empty", () => {
    expect(new Set(Rules.hostile).size).toBe(Rules.hostile.length)
    expect(Rules.hostile).not.toContain("")
  })
  it("what is spoiled is changed at every depth, but for what is frozen", () => {
    const value = { a: [1, { b: 2 }], c: Object.freeze({ d: 3 }) }
    const [list, inner, { c }] = [value.a, value.a[1], value]
    Rules.spoil(value)
    expect([value, list, inner, c]).toEqual([
      { a: "spoiled", c: "spoiled" },
      ["spoiled", "spoiled", "spoiled"],
      { b: "spoiled" },
      { d: 3 }
    ])
  })
})
