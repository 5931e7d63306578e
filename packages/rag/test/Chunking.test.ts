import { Errors } from "@heddle/core"
import { Chunking, type DocumentIndex, type Documents } from "@heddle/rag"
import { FastCheck as fc } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const markdown = (text: string): Documents.Content => ({ format: "markdown", text, metadata: {} })
const plain = (text: string): Documents.Content => ({ format: "text", text, metadata: {} })
const cut = (text: string, options?: Chunking.Options) => Chunking.chunk("a.md", markdown(text), options)
const texts = (text: string, options?: Chunking.Options) => cut(text, options).map(({ text }) => text)
const words = (text: string) => text.split(/\s+/).filter((word) => word !== "")
const squeezed = (text: string) => text.replace(/\s+/gu, "")

// -----------------------------------------------------------------------------
// documents
// -----------------------------------------------------------------------------

const word = fc.constantFrom(
  ..."heddle warp weft shed pick reed e\u0301 \u00e9 👩‍👩‍👧 Ω 1.5 e.g. `code` *bold* #5 a|b".split(" ")
)
const sentence = fc.array(word, { minLength: 1, maxLength: 12 }).map((all) => `${all.join(" ")}.`)
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 6 }).map((all) => all.join(" "))
const block = fc.oneof(
  { weight: 4, arbitrary: paragraph },
  fc.array(sentence, { minLength: 1, maxLength: 5 }).map((all) => all.map((one) => `- ${one}`).join("\n")),
  fc.array(sentence, { minLength: 1, maxLength: 5 }).map((all) => `\`\`\`ts\n# ${all.join("\n\n# ")}\n\`\`\``),
  fc
    .array(fc.tuple(word, word), { minLength: 1, maxLength: 5 })
    .map((rows) => ["| a | b |", "| - | - |", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n")),
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((all) => all.map((one) => `> ${one}`).join("\n")),
  fc.constant("我们九点开门。今天很好！你呢？".repeat(8)),
  fc.constant("---")
)
const section = fc
  .tuple(fc.integer({ min: 1, max: 4 }), sentence, fc.array(block, { maxLength: 4 }))
  .map(([level, title, blocks]) => `${"#".repeat(level)} ${title}\n\n${blocks.join("\n\n")}`)
const document = fc.array(section, { maxLength: 6 }).map((all) => all.join("\n\n"))
const anything = fc.oneof(
  { weight: 3, arbitrary: document },
  fc
    .array(
      fc.oneof(
        fc.constantFrom("\n", "\r\n", "# ", "```", "- ", "> ", "|", "    ", "<!--", "-->", "---"),
        word,
        fc.string({ unit: "grapheme" })
      )
    )
    .map((all) => all.join(""))
)
const limits = fc
  .tuple(fc.integer({ min: 40, max: 300 }), fc.double({ min: 0, max: 0.5, noNaN: true }))
  .map(([maxCharacters, part]) => ({ maxCharacters, overlap: Math.floor(maxCharacters * part) }))
const format = fc.constantFrom<Documents.Content["format"]>("markdown", "text", "pages")

// -----------------------------------------------------------------------------
// laws
// -----------------------------------------------------------------------------

describe("chunks of any document", () => {
  const law = (check: (text: string, options: Chunking.Effective, format: Documents.Content["format"]) => void) =>
    fc.assert(
      fc.property(anything, limits, format, (text, options, format) => check(text, options, format)),
      { numRuns: 200 }
    )

  it("are not empty, not too long, and hold no half of a character", () =>
    law((text, options, format) => {
      for (const chunk of Chunking.chunk("a.md", { format, text, metadata: {} }, options)) {
        expect(chunk.text.trim()).not.toBe("")
        expect(chunk.text.length).toBeLessThanOrEqual(options.maxCharacters)
        if (!/[\ud800-\udfff]/u.test(text)) expect(chunk.text).not.toMatch(/[\ud800-\udfff]/u)
        expect(chunk.text).not.toMatch(/^(?:\u0301|\u200d)/u)
      }
    }))

  it("have all of the text in its order, once without an overlap", () =>
    law((text, options, format) => {
      // What would be taken for front matter is left out.
      const content = { format, text: `x\n\n${text}`, metadata: {} }
      const all = Chunking.chunk("a.md", content, { ...options, overlap: 0 })
      expect(squeezed(all.map((chunk) => chunk.text).join(""))).toBe(squeezed(content.text))
    }))

  it("begin with the end of the one before, and go on from there", () =>
    law((text, options, format) => {
      const content = { format, text: `x\n\n${text}`, metadata: {} }
      const whole = squeezed(content.text)
      // Where the last chunk may have ended: a text can say the same again.
      let ends: ReadonlySet<number> = new Set([0])
      for (const chunk of Chunking.chunk("a.md", content, options)) {
        const piece = squeezed(chunk.text)
        const froms = [...ends].flatMap((end) => Array.from({ length: options.overlap + 1 }, (_, again) => end - again))
        const next = [...new Set(froms)].filter((from) => from >= 0 && whole.startsWith(piece, from))
        ends = new Set(next.map((from) => from + piece.length))
      }
      expect([...ends]).toContain(whole.length)
    }))

  it("have ids of their own, which are the same each time", () =>
    law((text, options, format) => {
      const ids = () => Chunking.chunk("a.md", { format, text, metadata: {} }, options).map(({ id }) => id)
      expect(ids()).toEqual(ids())
      expect(new Set(ids()).size).toBe(ids().length)
      expect(Chunking.chunk("b.md", { format, text, metadata: {} }, options).some(({ id }) => ids().includes(id))).toBe(
        false
      )
    }))

  it("keep words whole that are not long", () =>
    law((text, options) => {
      const found = new Set(Chunking.chunk("a.md", plain(text), options).flatMap((chunk) => words(chunk.text)))
      // Scripts without spaces have sentences, which are told apart.
      const whole = words(text).filter((one) => one.length <= 20 && /^[a-z.é]+$/.test(one))
      expect(whole.filter((one) => !found.has(one))).toEqual([])
    }))
})

it("what is changed in a section leaves the chunks of the others as they were", () => {
  const flat = fc
    .tuple(sentence, fc.array(paragraph, { minLength: 1, maxLength: 4 }))
    .map(([title, all]) => `# ${title}\n\n${all.join("\n\n")}`)
  fc.assert(
    fc.property(fc.array(flat), flat, flat, fc.array(flat), limits, (before, one, other, after, options) => {
      const counts = (sections: ReadonlyArray<string>) =>
        cut(sections.join("\n\n"), options).map(({ id, text }) => `${id} ${text}`)
      const ids = (middle: string) =>
        new Set(counts([...before, middle, ...after]).map((line) => line.split("-")[0]!.slice(0, 32)))
      const rest = new Set(counts([...before, ...after]).map((line) => line.slice(0, 32)))
      const [first, second] = [ids(one), ids(other)]
      for (const id of rest) expect([first.has(id), second.has(id)]).toEqual([true, true])
    }),
    { numRuns: 200 }
  )
})

// -----------------------------------------------------------------------------
// structure
// -----------------------------------------------------------------------------

describe("markdown", () => {
  const headings = (text: string) => cut(text).map(({ context }) => context)

  it("is cut at headings, which stand above their chunks", () => {
    expect(
      headings("intro\n\n# A\n\na\n\n## B\n\nb\n\n### C ###\n\nc\n\n## `D` [d](x)\n\nd\n\nE\n=\n\ne\n\nF\nf\n---\nx")
    ).toEqual(["", "A", "A > B", "A > B > C", "A > D d", "E", "E > F f"])
  })

  it("has headings without a text stand with what is below them", () => {
    expect(texts("# A\n\n## B\n\nb\n\n# C\n\n# D\n")).toEqual(["# A\n\n## B\n\nb", "# C", "# D"])
  })

  it.each([
    ["code", "```sh\n# no\n```"],
    ["code with other marks in it", "~~~~\n```\n# no\n~~~\n~~~~"],
    ["code without an end", "```\n# no"],
    ["code in an item", "- a\n\n  ```sh\n# no\n  ```\n".replace("\n# no", "\n  # no")],
    ["a comment", "<!-- a\n# no\n-->"],
    ["what is preformatted", "<pre>\n# no\n</pre>"],
    ["indented code", "a\n\n    # no"],
    ["a quote", "> # no"],
    ["an item", "- a\n\n  # no"],
    ["a word with a number sign", "#no"],
    ["seven number signs", "####### no"]
  ])("has no headings in %s", (_, text) => {
    expect(headings(text)).toEqual([""])
  })

  it("has a heading after code that was closed", () => {
    expect(headings("```\nx\n```\n# A\n\na\n\n- b\n\n# C\nc")).toEqual(["", "A", "C"])
  })

  it("keeps items, code and tables whole where they fit", () => {
    const prose = "Some words that fill a line. ".repeat(3).trim()
    const table = `| a | b |\n| - | - |\n${"| 1 | 2 |\n".repeat(8)}`.trim()
    const code = `\`\`\`ts\n${"const a = 1\n\n".repeat(6)}\`\`\``
    for (const kept of [table, code]) {
      expect(texts(`${prose}\n\n${kept}\n\n${prose}`, { maxCharacters: 130, overlap: 0 })).toContain(kept)
    }
    const items = ["- one two three four five\n  six", "- seven eight nine ten", "1. eleven\n\n   twelve"]
    const cutItems = texts(`${prose}\n\n${items.join("\n")}`, { maxCharacters: 100, overlap: 0 })
    for (const kept of items) expect(cutItems.filter((text) => text.includes(kept))).toHaveLength(1)
    expect(texts(table, { maxCharacters: 40 }).every((text) => text.startsWith("|") && text.endsWith("|"))).toBe(true)
  })

  it("repeats whole sentences, and nothing across a heading or of code", () => {
    const text =
      "# A\n\nThe first is here. The second\nis here. The third is here, too.\n\n# B\n\nThe fourth is here, too, for all."
    expect(texts(text, { maxCharacters: 60, overlap: 30 })).toEqual([
      "# A\n\nThe first is here. The second\nis here.",
      "The second\nis here. The third is here, too.",
      "# B\n\nThe fourth is here, too, for all."
    ])
    const code = `\`\`\`\n${"A line. ".repeat(5)}\n\`\`\``
    expect(texts(`${code}\n\nWhat it says. And more.`, { maxCharacters: 60, overlap: 30 })[1]).toBe(
      "What it says. And more."
    )
  })

  it("says where a chunk begins, and what the document is marked with", () => {
    const text = '---\ntitle: "On looms"\ndraft: false\nversion: 2\ntags: [a]\n---\n\nintro\n\n# A\n\na\n'
    const content = { ...markdown(text), metadata: { version: 3, owner: "me" } }
    expect(Chunking.chunk("a.md", content).map(({ context, metadata }) => [context, metadata])).toEqual([
      ["On looms", { title: "On looms", draft: false, version: 3, owner: "me", line: 8 }],
      ["On looms > A", { title: "On looms", draft: false, version: 3, owner: "me", heading: "A", line: 10 }]
    ])
    expect(Chunking.chunk("a.md", { ...content, lines: false })[0]!.metadata).not.toHaveProperty("line")
    expect(texts("---\n\nprose: here\n\n---\n\nmore")[0]).toContain("prose")
  })

  it("has numbers for what is there again", () => {
    const [first, second, third] = cut("# A\n\na\n\n# A\n\na\n\n# A\n\nb").map(({ id }) => id)
    expect(second).toBe(`${first}-1`)
    expect(third).not.toContain(first)
  })
})

it("pages are cut for themselves, and counted", () => {
  const pages: Documents.Content = { format: "pages", text: "one\fthree\n\nfour\f\ffive", metadata: { title: "T" } }
  expect(
    Chunking.chunk("a.pdf", pages).map(({ context, metadata, text }) => [text, context, metadata["page"]])
  ).toEqual([
    ["one", "T", 1],
    ["three\n\nfour", "T", 2],
    ["five", "T", 4]
  ])
})

it("text without spaces is cut at its sentences", () => {
  const all = Chunking.chunk("a.txt", plain("我们九点开门。今天天气很好！你来吗？"), { maxCharacters: 16, overlap: 0 })
  expect(all.map(({ text }) => text)).toEqual(["我们九点开门。今天天气很好！", "你来吗？"])
})

it("options that make no sense throw a DefinitionError", () => {
  for (const options of [
    { maxCharacters: 15 },
    { maxCharacters: NaN },
    { overlap: -1 },
    { maxCharacters: 100, overlap: 51 },
    { overlap: 0.5 }
  ]) {
    expect(() => cut("a", options)).toThrow(Errors.DefinitionError)
  }
})

/** Counts the characters that are looked at. A spy would keep each of them. */
const counted = (cutUp: () => ReadonlyArray<DocumentIndex.Chunk>) => {
  let looked = 0
  const { charCodeAt } = String.prototype
  const patch = (value: typeof charCodeAt) => Reflect.set(String.prototype, "charCodeAt", value)
  patch(function (this: string, at) {
    looked++
    return charCodeAt.call(this, at)
  })
  try {
    const all = cutUp()
    return { all, looked }
  } finally {
    patch(charCodeAt)
  }
}

describe("looks at a text a few times, however long it is, for", () => {
  const nested = Array.from({ length: 3000 }, (_, n) => `${" ".repeat(2 * n)}- a`).join("\n")
  it.each([
    ["number signs", "#".repeat(100_000)],
    ["headings", "# \n".repeat(100_000)],
    ["quotes", `${">".repeat(100_000)}a`],
    ["lists in a line", `${"- ".repeat(100_000)}a`],
    ["lists in lists", nested],
    ["a line", "word ".repeat(1_000_000)],
    ["a word", "x".repeat(2_000_000)],
    ["a character", `e${"\u0301".repeat(300_000)}`],
    ["Chinese without an end", "开".repeat(1_000_000)],
    ["empty lines", "\n".repeat(1_000_000)],
    ["spaces", `a${" ".repeat(1_000_000)}b`],
    ["spaces to the end", `a${" ".repeat(1_000_000)}b${" ".repeat(1_000_000)}`],
    ["a fence that is none", `${"`".repeat(300_000)}\rx`],
    ["bars", `${"|a".repeat(200_000)}\n${"|-".repeat(200_000)}\n`],
    ["fences", "```\n".repeat(100_001)],
    ["comments", "<!--\n".repeat(100_000)],
    ["carriage returns", "\r".repeat(1_000_000)],
    ["sentences", "One. Two! Three? ".repeat(100_000)]
  ])("%s", (_, text) => {
    const { all, looked } = counted(() => cut(text))
    expect(looked).toBeLessThanOrEqual(20 * text.length)
    expect(Math.max(0, ...all.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(1200)
  })
})

it("the project's own documents are cut into pieces that say where they stand", () => {
  const folder = new URL("../../../docs/", import.meta.url)
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(new URL(name, folder), "utf8")
    const all = cut(text)
    expect(all.length).toBeGreaterThan(5)
    for (const chunk of all) {
      const line = Number(chunk.metadata["line"])
      const rest = text
        .split("\n")
        .slice(line - 1)
        .join("\n")
      const at = rest.indexOf(chunk.text)
      expect(at >= 0 && at < rest.indexOf("\n")).toBe(true)
    }
  }
})
