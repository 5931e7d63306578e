import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { glob } from "../src/internal/glob.ts"

/** The same by a regular expression, for small patterns and texts. */
const byRegExp = (pattern: string): RegExp =>
  new RegExp(
    pattern.replace(/\\(.)|[\s\S]/gu, (character, quoted: string | undefined) =>
      quoted === undefined && character === "*"
        ? ".*"
        : quoted === undefined && character === "?"
          ? "."
          : (quoted ?? character).replace(/[\^$\\.*+?()[\]{}|/]/u, String.raw`\$&`)
    ),
    "iu"
  )

describe("a glob", () => {
  it("is found anywhere in a line, without regard to case", () => {
    expect(glob("project uses *")("Our Project uses React")).toBe(true)
    expect(glob("tech stack: *")("one\nTech Stack: Node\nthree")).toBe(true)
    expect(glob("uses * and *")("it uses a and b")).toBe(true)
    expect(glob("uses * and *")("it uses a\nand b")).toBe(false)
    expect(glob("v?")("v2")).toBe(true)
    expect(glob("v?")("v")).toBe(false)
    expect(glob("what\\?")("what? yes")).toBe(true)
    expect(glob("what\\?")("whatever")).toBe(false)
    expect(glob("100\\%*\\*")("100% sure*")).toBe(true)
    expect(glob("历史*👩‍👩‍👧")("我们的历史 👩‍👩‍👧")).toBe(true)
  })

  it.prop(
    "finds what a regular expression finds",
    [
      FastCheck.stringMatching(/^[ab*?\\. ]{0,6}$/).filter((pattern) => !/(^|[^\\])(\\\\)*\\$/.test(pattern)),
      FastCheck.stringMatching(/^[abAB*?\\. ]{0,10}$/)
    ],
    ([pattern, text]) => {
      expect(glob(pattern)(text)).toBe(byRegExp(pattern).test(text))
    }
  )

  it("takes no time that grows with the number of stars", () => {
    expect(glob(`${"a*".repeat(50)}b`)("a".repeat(20_000))).toBe(false)
  })
})
