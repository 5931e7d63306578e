import * as FastCheck from "effect/FastCheck"
import { expect, it } from "vitest"
import { readAny, readYaml } from "../src/internal/yaml/readYaml.ts"
import { readQuickly } from "../src/internal/yaml/quick.ts"

/** Lines as people write them, and as they get them wrong. */
const piece = FastCheck.constantFrom(
  "a",
  "b",
  "key",
  "key: ",
  "a: b",
  "- ",
  "-",
  "- a",
  "- a: b",
  "a:",
  " ",
  "  ",
  "\n",
  "\n  ",
  "\n- ",
  "\r\n",
  "# c",
  " #c",
  "[",
  "]",
  "{",
  "}",
  ", ",
  "[a, b]",
  "{ a: b }",
  "{a: b, c: [d]}",
  '"',
  "'",
  '"x y"',
  "'x'",
  "1",
  "01",
  "0x1",
  "1.5",
  "-3",
  "1e3",
  "true",
  "True",
  "null",
  "~",
  "no",
  "on",
  "2024-01-01",
  "10:20",
  ": ",
  ":",
  "&a",
  "*a",
  "!t",
  "|",
  ">",
  "%",
  "@",
  "\t",
  "a b",
  "a  b",
  "é",
  "…",
  "\u2028",
  "http://x.y/z",
  "_x",
  "a-b",
  "<<",
  "?",
  "? a",
  "..",
  "---",
  "...",
  "\\"
)
const texts = FastCheck.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""))

/** Lines that are simple more often than not. */
const value = FastCheck.constantFrom(
  "b",
  "[a, b]",
  "{ a: b, c: [1, 'x'] }",
  "12",
  '"q: r"',
  "'#'",
  "true",
  "a - b",
  "x # y",
  "",
  "[]",
  "{}",
  "a: b",
  "b:",
  "k, l",
  "it's",
  "[a b, 3]",
  "[a,b]",
  "{a: }",
  "[a,]",
  "- x",
  "0",
  "1 2",
  "[1 2]",
  "[-1]",
  "NULL",
  "[*]",
  "a*",
  "[a*]",
  "-x",
  "--x y",
  "[-y, --x]",
  "./a",
  "/a",
  "[/b, ../c]",
  "-",
  "--",
  "[-]",
  "[--]",
  "[.5]",
  "./",
  "[-a-]",
  "---",
  "--- a"
)
const line = FastCheck.tuple(
  FastCheck.constantFrom("", "  ", "    ", " "),
  FastCheck.constantFrom("a: ", "b: ", "c:", "- ", "- a: ", "- b: ", "-  ", "d:   "),
  value
).map((parts) => parts.join(""))
const documents = FastCheck.array(line, { maxLength: 7 }).map((lines) => lines.join("\n"))

it("what is read quickly says what the library says where that finds no mistake", () => {
  let quick = 0
  FastCheck.assert(
    FastCheck.property(FastCheck.oneof(texts, documents), (text) => {
      const read = readQuickly(text)
      const { mistakes, value } = readAny(text)
      if (read === undefined || mistakes.length > 0) return
      quick++
      expect(read.value).toEqual(value)
    }),
    { numRuns: 20_000 }
  )
  expect(quick).toBeGreaterThan(2000)
})

const anything = FastCheck.oneof(texts, documents, FastCheck.string({ unit: "binary" }))

it("whatever a text is, it is read or told of, and every place is in it", () => {
  FastCheck.assert(
    FastCheck.property(
      anything,
      FastCheck.constantFrom<"quickly" | "thoroughly">("quickly", "thoroughly"),
      (text, how) => {
        const { mistakes, offsetOf, value } = readYaml(text, how)
        expect(value === undefined).toBe(value === undefined && mistakes.length > 0)
        for (const at of [...mistakes.map(({ at }) => at), offsetOf(["a", 0, "b"], "key"), offsetOf([], "value")]) {
          expect(at).toBeGreaterThanOrEqual(0)
          expect(at).toBeLessThanOrEqual(text.length)
        }
      }
    ),
    { numRuns: 5000 }
  )
})
