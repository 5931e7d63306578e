import { expect, it } from "@effect/vitest"
import type { Terminal } from "@heddle/example-quickstart/terminal.ts"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type Arguments, argumentsOf } from "../arguments.ts"
import { askDocs } from "../askDocs.ts"
import { bar } from "../indexing.ts"
import { chosen } from "../model.ts"

/** A folder of documents that is gone afterwards. */
const documents = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(path.join(tmpdir(), "ask-docs-"))
    writeFileSync(path.join(folder, "hours.md"), "# Opening hours\n\nThe museum opens at nine. It closes at five.\n")
    writeFileSync(path.join(folder, "herons.md"), "# Herons\n\nHerons nest in the reeds.\n")
    writeFileSync(path.join(folder, "photo.md"), Uint8Array.of(0, 1, 2, 255))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** Runs the command, and gives what it has written. */
const run = (given: Arguments) => {
  let text = ""
  const terminal: Terminal = { write: (more) => void (text += more), columns: 80, colours: false }
  return Effect.map(askDocs(given, terminal, undefined, {}), () => text)
}

it.scoped("answers from the documents in both modes, with sources", () =>
  Effect.gen(function* () {
    const folder = yield* documents
    const text = yield* run({ folder, modes: ["stuff", "map_reduce"], question: "When does the museum open?" })
    expect(text).toContain("2 indexed (2 passages), 0 unchanged, 1 skipped")
    expect(text).toContain("skipped photo.md")
    expect(text.match(/The museum opens at nine\. \[\d\]/g)).toHaveLength(2)
    expect(text).toContain("hours.md › Opening hours")
    expect(text).toContain("1 × rag_map, 1 × rag_reduce, 1 × agent")
  })
)

it.scoped("says that nothing was found", () =>
  Effect.gen(function* () {
    const text = yield* run({ folder: yield* documents, modes: ["stuff"], question: "???" })
    expect(text).toContain("nothing was found")
    expect(text).not.toContain("shown to the model:")
  })
)

it.scoped("indexes what has changed, and drops what is gone, in an index that is kept", () =>
  Effect.gen(function* () {
    const folder = yield* documents
    const kept = yield* documents
    const given: Arguments = {
      folder,
      db: path.join(kept, "index.db"),
      modes: ["stuff"],
      question: "Where do herons nest?"
    }
    yield* run(given)
    rmSync(path.join(folder, "hours.md"))
    writeFileSync(path.join(folder, "herons.md"), "# Herons\n\nHerons nest in trees.\n")
    const text = yield* run(given)
    expect(text).toContain("1 indexed (1 passages), 0 unchanged, 1 removed")
    expect(text).toContain("Herons nest in trees. [1]")
  })
)

it("takes the model that is asked for, or that there is a key for", () => {
  expect(chosen(undefined, {})).toBe("offline/offline")
  expect(chosen(undefined, { OPENAI_API_KEY: "" })).toBe("offline/offline")
  expect(chosen(undefined, { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "\t" })).toBe("offline/offline")
  expect(chosen(undefined, { OPENAI_API_KEY: "k" })).toMatch(/^openai\//)
  expect(chosen("ollama/llama3.2", { OPENAI_API_KEY: "k" })).toBe("ollama/llama3.2")
})

it("says what is wrong with what it is given", () => {
  expect(argumentsOf([""])).toBe("the question is empty")
  expect(argumentsOf(["--mode", "all"])).toBe('--mode is one of stuff, map_reduce, not "all"')
  expect(argumentsOf(["--model", "gpt"])).toBe('--model is <provider>/<model>, not "gpt"')
  expect(argumentsOf(["--db", ""])).toBe("--db needs the path of a file")
  expect(argumentsOf(["--folder", ""])).toBe("--folder needs the path of a folder")
  expect(argumentsOf(["--nonsense"])).toContain("--nonsense")
  expect(argumentsOf(["--", "--mode", "stuff", "Why", "so?"])).toMatchObject({ modes: ["stuff"], question: "Why so?" })
})

it("draws a bar", () => {
  expect([0, 0.5, 1].map((fraction) => bar(fraction, 4))).toEqual(["░░░░", "██░░", "████"])
})
