import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, services } from "../ask.ts"
import * as Documents from "../Library.ts"
import { clean, fromProcess, wrapping } from "../terminal.ts"
import { temporaryLibrary } from "./support.ts"

const files = {
  "README.md": "# Herons\n\nA page about herons.",
  "docs/nests.md":
    "# Nests\n\nHerons nest in tall trees.\n\n## Eggs\n\nThe eggs are laid in this order:\n\n1. the blue one\n2. the grey one",
  "docs/food.md": "# Food\n\nHerons eat fish and frogs.",
  "docs/hostile.md":
    "# Hostile\n\nThe hostile word is \u001b[31mred\u001b[0m \u0007 {{template}} __proto__ \u202eright."
}

const report = (library: Documents.Library, question: string, columns = 80) =>
  Effect.gen(function* () {
    let out = ""
    yield* ask(library, question, { write: (text) => (out += text), columns, colours: false }).pipe(
      Effect.provide(services)
    )
    return out
  })

const answered = (out: string) => out.slice(out.indexOf("\nAnswer\n"), out.indexOf("\nTimeline: the calls"))

describe("the quickstart", () => {
  it.scopedLive("explains its pipeline, tells what happens, answers with its sources and shows the time", () =>
    Effect.gen(function* () {
      const out = yield* report(yield* temporaryLibrary(files), "Where do herons nest?")
      expect(out).toMatch(/1\. guide.*2\. timing.*3\. confine.*4\. ToolCache/s)
      expect(out).toContain('> search_documents(query: "herons nest")')
      expect(out).toContain('> read_document(path: "docs/nests.md")')
      expect(answered(out)).toContain("Herons nest in tall trees. (docs/nests.md)")
      expect(answered(out)).toContain("Sources: docs/nests.md")
      expect(out).toMatch(/model call 1 +\S+ .* ms/)
      expect(out).toMatch(/confine wrapToolCall .* × .* ms/)
    })
  )

  it.scoped("quotes a list with what it is a list of", () =>
    Effect.gen(function* () {
      const out = yield* report(yield* temporaryLibrary(files), "In which order are the eggs laid?")
      expect(answered(out)).toContain(
        "The eggs are laid in this order:\n  - the blue one\n  - the grey one (docs/nests.md)"
      )
    })
  )

  it.scoped.each([
    ["", "There is no question to answer."],
    ["What is the airspeed of a swallow?", "I found nothing that answers this"],
    ["Где гнездятся цапли?", "I found nothing that answers this"],
    ["Read ../../etc/passwd", "was not allowed: only the documents may be read"],
    ["Read docs/none.md", "failed"],
    ["Which documents are there?", "README.md, docs/food.md, docs/hostile.md, docs/nests.md (list_documents)"],
    ["Where do herons nest? ".repeat(5_000), "Herons nest in tall trees. (docs/nests.md)"],
    ["__proto__ constructor toString", "__proto__"],
    ["\u0000\u001b[2J", "no language model"]
  ] as const)("has a sensible answer to %j", ([question, expected]) =>
    Effect.gen(function* () {
      const out = yield* report(yield* temporaryLibrary(files), question)
      expect(answered(out).replace(/\s+/g, " ")).toContain(expected)
    })
  )

  it.scoped("no line is wider than the terminal, and no document steers it", () =>
    Effect.gen(function* () {
      const library = yield* temporaryLibrary(files)
      for (const question of ["What is the hostile word?", "Where do herons nest?", "Read ../../etc/passwd"]) {
        const out = yield* report(library, question)
        expect(out.split("\n").filter((line) => line.length > 80)).toEqual([])
        // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
        expect(out).not.toMatch(/[\u001b\u0007\u202e]/)
      }
    })
  )

  it.scoped("without documents it says that it found nothing", () =>
    Effect.gen(function* () {
      expect(answered(yield* report(yield* temporaryLibrary({}), "Where do herons nest?"))).toContain("I found nothing")
    })
  )
})

describe("the library", () => {
  it.scoped("does not read what is too large, no text or not there", () =>
    Effect.gen(function* () {
      const library = yield* temporaryLibrary({ "docs/big.md": "x".repeat(600 * 1024), "docs/image.png": "x" })
      const reason = (path: string) => Effect.map(Effect.flip(Documents.read(library, path)), (error) => error.reason)
      expect(yield* reason("docs/big.md")).toBe("TooLarge")
      expect(yield* reason("docs/image.png")).toBe("NotADocument")
      expect(yield* reason("docs/none.md")).toBe("NotFound")
      expect(yield* Documents.list(library)).toEqual(["docs/big.md"])
      expect(yield* Documents.search(library, "anything")).toEqual([])
    })
  )
})

describe("the terminal", () => {
  const out = (isTTY: boolean) => ({ isTTY, columns: undefined, write: () => true }) as unknown as NodeJS.WriteStream

  it("has colours on a screen alone, and not under NO_COLOR", () => {
    expect(fromProcess(out(true), {}).colours).toBe(true)
    expect(fromProcess(out(true), { NO_COLOR: "1" }).colours).toBe(false)
    expect(fromProcess(out(false), {}).colours).toBe(false)
    expect(fromProcess(out(false), {}).columns).toBe(80)
  })

  it("wraps text that comes in pieces at words, wherever it is cut", () => {
    const text = "one two three four five six seven eight nine ten\neleven twelve"
    const written = (pieces: ReadonlyArray<string>) => {
      let all = ""
      const { end, push } = wrapping({ write: (text) => (all += text), columns: 20, colours: false })
      pieces.forEach(push)
      end()
      return all
    }
    const whole = written([text])
    expect(whole).toBe("  one two three four\n  five six seven\n  eight nine ten\n  eleven twelve\n")
    expect(written(Array.from(text))).toBe(whole)
    expect(written(text.split(/(?= )/))).toBe(whole)
    expect(clean("a\u001b[31mb\u202e")).toBe("a[31mb")
  })
})
