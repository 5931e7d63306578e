import { Errors, Message } from "@heddle/core"
import { type Conversations } from "@heddle/memory"
import {
  accessed,
  begun,
  checkThrough,
  compareKeys,
  decodeExchange,
  encodeExchange,
  keyText,
  placesOf,
  storableText,
  storedText,
  summarized
} from "@heddle/memory/store"
import { Arbitraries } from "@heddle/testing"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

/** Texts of any code units, most often of those that are escaped. */
const anyText = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom(0, 1, 2, 0x61, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xe001, 0xffff),
    FastCheck.integer({ min: 0, max: 0xffff })
  ),
  { maxLength: 8 }
).map((units) => String.fromCharCode(...units))

const byCodePoint = (a: string, b: string): number => {
  const [left, right] = [Array.from(a), Array.from(b)].map((text) => text.map((character) => character.codePointAt(0)!))
  for (const [n, point] of left!.entries()) {
    if (right![n] === undefined) return 1
    if (point !== right![n]) return point - right![n]
  }
  return left!.length - right!.length
}

describe("a text that can be stored", () => {
  it("has neither NUL nor halves of characters, and comes back", () => {
    FastCheck.assert(
      FastCheck.property(anyText, (text) => {
        const stored = storableText(text)
        expect(stored).not.toContain("\0")
        expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(stored))).toBe(stored)
        expect(storedText(stored)).toBe(text)
      }),
      { numRuns: 5000 }
    )
  })
  it("has the order of the texts by code point", () => {
    FastCheck.assert(
      FastCheck.property(anyText, anyText, (a, b) => {
        expect(Math.sign(byCodePoint(storableText(a), storableText(b)))).toBe(Math.sign(byCodePoint(a, b)))
      }),
      { numRuns: 5000 }
    )
  })
  it("is the text itself, if it has nothing of that", () => {
    for (const text of ["", "a", "\u0002", "历史 👩‍👩‍👧", "\ue001\uffff"]) expect(storableText(text)).toBe(text)
  })
})

describe("an exchange as text", () => {
  it("comes back", () => {
    FastCheck.assert(
      FastCheck.property(Arbitraries.history, (messages) => {
        const exchange = { agent: "helper", position: 3, at: 5, messages }
        expect(decodeExchange(encodeExchange(exchange))).toEqual(JSON.parse(JSON.stringify(exchange)))
      })
    )
  })
  it("may have had a tool's result that was undefined", () => {
    const call = Message.toolCall("1", "tool", undefined, Message.succeeded(undefined))
    const text = encodeExchange({ agent: "helper", position: 1, at: 0, messages: [Message.assistant([call])] })
    expect(decodeExchange(text).messages).toEqual([Message.assistant([call])])
  })
  it("is refused with what is wrong with it, whichever part is cut off or is another", () => {
    const text = encodeExchange({ agent: "helper", position: 1, at: 0, messages: [Message.user("Hi")] })
    for (let length = 0; length < text.length; length++) expect(() => decodeExchange(text.slice(0, length))).toThrow()
    for (const wrong of [
      null,
      [],
      {},
      { agent: "a", position: 1, at: 0, messages: [{ role: "system", content: [] }] }
    ]) {
      expect(() => decodeExchange(JSON.stringify(wrong))).toThrow(/Expected|missing/)
    }
  })
})

const key: FastCheck.Arbitrary<Conversations.ConversationKey> = FastCheck.record(
  {
    tenant: FastCheck.string({ minLength: 1, maxLength: 3 }),
    session: FastCheck.string({ minLength: 1, maxLength: 3 }),
    agent: FastCheck.string({ minLength: 1, maxLength: 3 })
  },
  { requiredKeys: ["tenant", "session"] }
)

describe("keys", () => {
  it("have one text and one place each", () => {
    FastCheck.assert(
      FastCheck.property(key, key, (a, b) => {
        const same = JSON.stringify([a.tenant, a.session, a.agent]) === JSON.stringify([b.tenant, b.session, b.agent])
        expect(keyText(a) === keyText(b)).toBe(same)
        expect(compareKeys(a, b) === 0).toBe(same)
        expect(compareKeys(a, b) + compareKeys(b, a)).toBe(0)
      })
    )
  })
})

describe("what is known of a conversation", () => {
  const info = begun({ tenant: "t", session: "s" }, 100_000)
  it("does not change with a reading within a minute", () => {
    expect(accessed(info, 159_999)).toBe(info)
    expect(accessed(info, 160_000)).toEqual({ ...info, lastAccessedAt: 160_000 })
  })
  it("is no older after the clock was set back", () => {
    expect(accessed(info, 0)).toBe(info)
    expect(summarized(info, 1, 0).lastAccessedAt).toBe(100_000)
  })
})

it("places are those of a range", () => {
  expect(placesOf(undefined, 5)).toEqual({ after: 0, through: 5 })
  expect(placesOf({ last: 2, before: 5 }, 5)).toEqual({ after: 2, through: 4 })
  expect(placesOf({ first: 2, after: 1 }, 5)).toEqual({ after: 1, through: 3 })
})

it("a summary that ends nowhere is refused with the positions that there are", () => {
  expect(() => checkThrough(6, 5)).toThrow(Errors.DefinitionError)
  expect(() => checkThrough(6, 5)).toThrow("from 1 to 5, but is 6")
  expect(() => checkThrough(0, Infinity)).toThrow("from 1 up, but is 0")
})
