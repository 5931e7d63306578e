import { Agent, Pipeline } from "@heddle/core"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { librarian, pipeline } from "../app.ts"
import { confine, resolve } from "../handlers.ts"
import { ToolCache } from "@heddle/example-caching-handler/ToolCache.ts"
import { calling, lastOutcome, temporaryLibrary } from "./support.ts"

const files = {
  "README.md": "read me",
  "secret.md": "secret",
  "docs/a.md": "a",
  "docs/deep/b.md": "b",
  "docs/inside.md": "->a.md",
  "docs/outside.md": "->../secret.md",
  "docs/folder": "->..",
  "docs-private/c.md": "c"
}

const outcomeOf = (path: unknown) =>
  Effect.gen(function* () {
    const library = yield* temporaryLibrary(files)
    const agent = librarian(library, Pipeline.make(confine(library)))
    const { history } = yield* Agent.run(agent, "?").pipe(Effect.provide(calling("read_document", { path })))
    return lastOutcome(history)
  })

describe("confine", () => {
  it.scoped.each(["docs/a.md", "./docs/deep/../a.md", "docs/inside.md", "README.md"])(
    "lets a document be read: %s",
    (path) =>
      Effect.gen(function* () {
        expect(yield* outcomeOf(path)).toMatchObject({ _tag: "Succeeded" })
      })
  )

  it.scoped.each([
    "../../etc/passwd",
    "/etc/passwd",
    "secret.md",
    "docs/../secret.md",
    "docs/outside.md",
    "docs/folder/secret.md",
    "docs-private/c.md",
    "..",
    "."
  ])("denies what is outside of the documents: %s", (path) =>
    Effect.gen(function* () {
      expect(yield* outcomeOf(path)).toEqual({ _tag: "Denied", reason: "only the documents may be read" })
    })
  )

  it.scoped.each(["docs/none.md", "docs/a.md/x.md", "docs/\u0000.md", `docs/${"x".repeat(5_000)}.md`, "docs", 5, null])(
    "leaves it to the tool to say what is wrong with a path inside: %j",
    (path) =>
      Effect.gen(function* () {
        expect(yield* outcomeOf(path)).toMatchObject({ _tag: "Failed" })
      })
  )

  it.scoped("resolves links", () =>
    Effect.gen(function* () {
      const library = yield* temporaryLibrary(files)
      expect(yield* resolve(library, "docs/inside.md")).toBe("docs/a.md")
      expect(yield* resolve(library, "docs/outside.md")).toBeUndefined()
    })
  )

  it.scoped("judges before the cache: what another may read is not given away", () =>
    Effect.gen(function* () {
      const wide = yield* temporaryLibrary({ "docs/a.md": "a" })
      const narrow = { ...wide, include: ["README.md"] }
      const report = () => Effect.void
      const read = calling("read_document", { path: "docs/a.md" })
      const first = yield* Agent.run(librarian(wide, pipeline(wide, report)), "?").pipe(Effect.provide(read))
      const second = yield* Agent.run(librarian(narrow, pipeline(narrow, report)), "?").pipe(Effect.provide(read))
      expect(lastOutcome(first.history)).toMatchObject({ _tag: "Succeeded", result: "a" })
      expect(lastOutcome(second.history)).toMatchObject({ _tag: "Denied" })
    }).pipe(Effect.provide(ToolCache.layer({ capacity: 10, timeToLive: "1 minute" })))
  )
})
