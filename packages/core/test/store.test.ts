import { Errors } from "@heddle/core"
import { countBefore, frozen, RecencyMap, whole } from "@heddle/core/store"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

describe("a frozen copy", () => {
  it("is the same plain data, and not one object of it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue(), (value) => {
        const before = structuredClone(value)
        const copy = frozen(value)
        expect(copy).toEqual(before)
        if (typeof value === "object" && value !== null) expect(copy).not.toBe(value)
      })
    )
  })
  it("cannot be changed at any depth, and what it was made of still can", () => {
    const value = { list: [{ a: 1 }] }
    const copy = frozen(value)
    expect(() => (copy.list[0]!.a = 2)).toThrow(TypeError)
    expect(() => copy.list.push({ a: 2 })).toThrow(TypeError)
    value.list[0]!.a = 3
    expect(copy).toEqual({ list: [{ a: 1 }] })
  })
  it("has a key of the name __proto__ as a key", () => {
    const value = JSON.parse('{"__proto__": {"a": [1]}}') as unknown
    const copy = frozen(value)
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":[1]}}')
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })
})

describe("a map of recency", () => {
  it("knows the oldest entry, whatever is written, used and deleted", () => {
    const step = FastCheck.tuple(
      FastCheck.constantFrom("set", "use", "get", "delete"),
      FastCheck.constantFrom(..."abcd")
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 40 }), (steps) => {
        const map = new RecencyMap<number>()
        let model: ReadonlyArray<readonly [string, number]> = []
        for (const [n, [what, key]] of steps.entries()) {
          const known = model.find(([other]) => other === key)
          const others = model.filter(([other]) => other !== key)
          if (what === "set") {
            map.set(key, n)
            model = [...others, [key, n]]
          } else if (what === "use") {
            expect(map.use(key)).toBe(known?.[1])
            if (known !== undefined) model = [...others, known]
          } else if (what === "delete") {
            expect(map.delete(key)).toBe(known !== undefined)
            model = others
          }
          expect(map.get(key)).toBe(model.find(([other]) => other === key)?.[1])
          expect([map.oldest, map.size]).toEqual([model[0]?.[0], model.length])
          expect([...map.keys()].toSorted()).toEqual(model.map(([key]) => key).toSorted())
        }
      })
    )
  })
})

it("those before a place are counted as one by one", () => {
  FastCheck.assert(
    FastCheck.property(FastCheck.array(FastCheck.nat(20)), FastCheck.nat(20), (items, least) => {
      const ordered = items.toSorted((a, b) => a - b)
      expect(countBefore(ordered, (item) => item >= least)).toBe(items.filter((item) => item < least).length)
    })
  )
})

it("a bound is a whole number, or Infinity; others are refused with its name", () => {
  for (const value of [1, 2, Infinity]) expect(whole("most", value, 1)).toBe(value)
  for (const value of [0, -1, 1.5, NaN, -Infinity]) {
    expect(() => whole("most", value, 1)).toThrow(Errors.DefinitionError)
    expect(() => whole("most", value, 1)).toThrow("most is a whole number from 1 up, or Infinity")
  }
})
