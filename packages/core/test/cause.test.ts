import { describe, expect, it } from "@effect/vitest"
import { causeText } from "@heddle/core/cause"

describe("the text of a cause", () => {
  it("is the message of an error, without its name", () => {
    expect(causeText(new TypeError("disk full"))).toBe("disk full")
  })

  it("is anything else as a text", () => {
    expect(["gone", 404, undefined, null].map(causeText)).toEqual(["gone", "404", "undefined", "null"])
  })

  it("is there for what cannot be read as well", () => {
    const unreadable = Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new Error("not this one")
      }
    })
    expect([Object.create(null), unreadable].map(causeText)).toEqual(["no reason given", "no reason given"])
  })
})
