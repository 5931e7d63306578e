import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { found, whole } from "../src/glob.ts"

/** The same by a regular expression, for small patterns and texts. */
const byRegExp = (pattern: string, from = "", to = "", flags = "iu"): RegExp => {
  const body = pattern.replace(/\\(.)|[\s\S]/gu, (character, quoted: string | undefined) =>
    quoted === undefined && character === "*"
      ? ".*"
      : quoted === undefined && character === "?"
        ? "."
        : (quoted ?? character).replace(/[\^$\\.*+?()[\]{}|/]/u, String.raw`\$&`)
  )
  return new RegExp(`${from}${body}${to}`, flags)
}

describe("a glob", () => {
  it("is found anywhere in a line, without regard to case", () => {
    expect(found("project uses *")("Our Project uses React")).toBe(true)
    expect(found("tech stack: *")("one\nTech Stack: Node\nthree")).toBe(true)
    expect(found("uses * and *")("it uses a and b")).toBe(true)
    expect(found("uses * and *")("it uses a\nand b")).toBe(false)
    expect(found("v?")("v2")).toBe(true)
    expect(found("v?")("v")).toBe(false)
    expect(found("what\\?")("what? yes")).toBe(true)
    expect(found("what\\?")("whatever")).toBe(false)
    expect(found("100\\%*\\*")("100% sure*")).toBe(true)
    expect(found("历史*👩‍👩‍👧")("我们的历史 👩‍👩‍👧")).toBe(true)
  })

  it.prop(
    "finds what a regular expression finds",
    [
      FastCheck.stringMatching(/^[ab*?\\. ]{0,6}$/).filter((pattern) => !/(^|[^\\])(\\\\)*\\$/.test(pattern)),
      FastCheck.stringMatching(/^[abAB*?\\. ]{0,10}$/)
    ],
    ([pattern, text]) => {
      expect(found(pattern)(text)).toBe(byRegExp(pattern).test(text))
      expect(whole(pattern)(text)).toBe(byRegExp(pattern, "^", "$").test(text))
      expect(whole(pattern, { matchCase: true })(text)).toBe(byRegExp(pattern, "^", "$", "u").test(text))
    }
  )

  it("is found from the beginning to the end, where it is to be the whole text", () => {
    expect(whole("docs/*.md")("docs/memory.md")).toBe(true)
    expect(whole("docs/*.md")("docs/memory.md.bak")).toBe(false)
    expect(whole("*.md")("docs/Memory.MD")).toBe(true)
    expect(whole("ab*ba")("aba")).toBe(false)
    expect(whole("")("")).toBe(true)
    expect(whole("")("a")).toBe(false)
  })

  it("tells upper case from lower case where that is asked for", () => {
    expect(whole("docs/*.md", { matchCase: true })("docs/memory.md")).toBe(true)
    expect(whole("docs/*.md", { matchCase: true })("Docs/memory.md")).toBe(false)
    expect(whole("docs/*.MD", { matchCase: true })("docs/memory.md")).toBe(false)
    expect(whole("\\A*Z", { matchCase: true })("A to Z")).toBe(true)
    expect(whole("\\A*Z", { matchCase: true })("a to Z")).toBe(false)
    expect(found("uses *", { matchCase: true })("it Uses React")).toBe(false)
  })

  it("takes no time that grows with the number of stars", () => {
    expect(found(`${"a*".repeat(50)}b`)("a".repeat(20_000))).toBe(false)
    expect(whole(`${"a*".repeat(50)}b`)("a".repeat(20_000))).toBe(false)
  })
})
