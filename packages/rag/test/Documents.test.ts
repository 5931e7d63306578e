import { Chunking, Documents } from "@heddle/rag"
import { Effect, FastCheck as fc, Stream } from "effect"
import { describe, expect, it, vi } from "vitest"
import { pdf } from "./pdf.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const item = (source: string, of: Uint8Array) => Effect.runPromise(Documents.document({ source }, of))

/** What is read of bytes, or why nothing is. */
const read = async (source: string, of: Uint8Array | string): Promise<Documents.Content | Documents.SkipReason> => {
  const found = await item(source, typeof of === "string" ? bytes(of) : of)
  if (found._tag === "Skipped") return found.reason
  return Effect.runPromise(Effect.catchAll(found.read, ({ reason }) => Effect.succeed(reason)))
}

const html = async (text: string): Promise<string> => {
  const found = await read("a.html", text)
  return typeof found === "string" ? found : found.text
}

describe("a document", () => {
  it("is in the format that its source says, or that is given", async () => {
    expect(await read("a.md", "# A")).toEqual({ format: "markdown", text: "# A", metadata: {} })
    expect(await read("a.MARKDOWN", "# A")).toMatchObject({ format: "markdown" })
    expect(await read("a.ts", "const a")).toEqual({ format: "text", text: "const a", metadata: {} })
    const given = await Effect.runPromise(
      Documents.document({ source: "a", format: "markdown", metadata: { page: 1 } }, bytes("# A"))
    )
    expect(given._tag === "Document" && (await Effect.runPromise(given.read))).toEqual({
      format: "markdown",
      text: "# A",
      metadata: { page: 1 }
    })
  })

  it("has a hash that changes with its bytes, its format and its marks", async () => {
    const all = [
      { source: "a", text: "a" },
      { source: "a", text: "b" },
      { source: "a", text: "a", format: "markdown" as const },
      { source: "a", text: "a", metadata: { page: 1 } }
    ]
    const hashes = async () => {
      const { items } = await Effect.runPromise(Documents.texts(all))
      const found = await Effect.runPromise(Stream.runCollect(items))
      return [...found].map((one) => (one._tag === "Document" ? one.hash : one.reason))
    }
    expect(new Set(await hashes()).size).toBe(4)
    expect(await hashes()).toEqual(await hashes())
  })

  it.each([
    ["Empty", new Uint8Array()],
    ["Empty", bytes(" \n\t\n")],
    ["Binary", Uint8Array.of(0x50, 0, 1)],
    ["Binary", bytes("%PDF-1.4 x")],
    ["Binary", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d)],
    ["Encoding", Uint8Array.of(0x63, 0x61, 0x66, 0xe9)],
    ["Encoding", Uint8Array.of(0xff, 0xfe, 0x00, 0xd8)]
  ] as const)("is skipped as %s: %s", async (reason, of) => {
    expect(await read("a.txt", of)).toBe(reason)
  })

  it("may have a byte order mark, which is left out", async () => {
    const utf16 = (little: boolean) => {
      const view = new DataView(new ArrayBuffer(6))
      Array.from("\ufeffaé").forEach((letter, at) => view.setUint16(2 * at, letter.charCodeAt(0), little))
      return new Uint8Array(view.buffer)
    }
    for (const of of [bytes("\ufeffaé"), utf16(true), utf16(false)])
      expect(await read("a.txt", of)).toMatchObject({ text: "aé" })
  })

  it("has no NUL in its text", async () => {
    expect(await read("a.txt", `${"x".repeat(70_000)}\0`)).toMatchObject({ text: `${"x".repeat(70_000)}\ufffd` })
  })
})

describe("HTML", () => {
  it("is read as markdown, without what is not for readers", async () => {
    const page = `<!doctype html><html><head><title>On &amp; on</title><style>p{}</style></head><body><nav>Home</nav>
      <h1>Looms</h1><p>They <b>weave</b>,
      and&nbsp;more. # no heading</p><p># no heading</p><script>evil("</p>")</script>
      <h2 id=x>Parts</h2><ul><li>Warp<li>Weft <ul><li>pick</ul></ul>
      <pre><code>const a = 1\n\n  # b</code></pre>
      <table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td><td><p>2</p></td></tr></table>after<br>it<template>no</template></body>`
    expect(await read("a.html", page)).toEqual({
      format: "markdown",
      lines: false,
      metadata: { title: "On & on" },
      text: `# Looms

They weave, and more. # no heading

\\# no heading

## Parts

- Warp

- Weft

- pick

\`\`\`
const a = 1

  # b
\`\`\`

| a | b\\|c |
| --- | --- |
| 1 | 2 |

after it`
    })
  })

  it("has all its words, in their order, whatever is in what", () => {
    const tags = "p div h1 h3 ul li table tr td th pre b blockquote body head br".split(" ")
    const part = fc.oneof(
      fc.constantFrom(...tags).map((tag) => `<${tag}>`),
      fc.constantFrom(...tags).map((tag) => `</${tag}>`),
      fc.constant("word"),
      fc.constant(" ")
    )
    return fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 40 }), async (parts) => {
        let count = 0
        const page = parts.map((one) => (one === "word" ? `w${++count}w` : one)).join("")
        const found = await html(`start${page}`)
        expect(found.match(/w\d+w/g) ?? []).toEqual(Array.from({ length: count }, (_, n) => `w${n + 1}w`))
      }),
      { numRuns: 300 }
    )
  })

  it("is cut by its structure", async () => {
    const found = await read("a.html", "<title>T</title><h1>A</h1><p>a<h2>B</h2><p>b")
    expect(typeof found !== "string" && Chunking.chunk("a.html", found).map(({ context }) => context)).toEqual([
      "T > A",
      "T > A > B"
    ])
  })

  it.each([
    ["nothing", "<p></p><script>x</script>", "Empty"],
    ["elements in elements", `${"<div>".repeat(200_000)}a`, "Format"],
    ["what is not closed", `<p>a${"<".repeat(10_000)}${"<!--".repeat(100_000)}`, undefined],
    ["tables in tables", `${"<table><tr><td>".repeat(1000)}x`, undefined],
    ["entities", "&amp;".repeat(200_000), undefined],
    ["spaces", `<p>a${" ".repeat(1_000_000)}b`, undefined],
    ["paragraphs", "<p>x".repeat(500_000), undefined],
    ["rows", `<table>${"<tr><td>a<td>b".repeat(50_000)}`, undefined]
  ])("that is hostile is read before the test is given up: %s", async (_, text, reason) => {
    const found = await html(text)
    if (reason !== undefined) expect(found).toBe(reason)
    else expect(found).toMatch(/[ax&]/)
  })
})

describe("PDF", () => {
  it("is read page by page", async () => {
    const found = await read("a.pdf", pdf(["We weave.", "More."], ["A zebra."]))
    expect(found).toEqual({ format: "pages", text: "We weave.\nMore.\fA zebra.", metadata: { title: "On looms" } })
  })

  it("that is damaged, or a picture, is skipped", async () => {
    expect(await read("a.pdf", pdf(["x"]).slice(0, 100))).toBe("Format")
    expect(await read("a.pdf", "no pdf")).toBe("Format")
    expect(await read("a.pdf", pdf([]))).toBe("Empty")
  })
})

it("what reads a format is named if it is not installed", async () => {
  vi.doMock("htmlparser2", () => {
    throw new Error("Cannot find package")
  })
  const found = await item("a.html", bytes("<p>a"))
  const error = found._tag === "Document" ? await Effect.runPromise(Effect.flip(found.read)) : found
  expect(error).toMatchObject({ reason: "MissingPackage", message: expect.stringContaining("npm install htmlparser2") })
  vi.doUnmock("htmlparser2")
})
