import Database from "libsql"
import { mkdirSync, symlinkSync } from "node:fs"
import path from "node:path"
import { expect, it } from "vitest"
import { barText } from "../src/internal/show/bar.ts"
import { makeWorld } from "./support.ts"

const docs = {
  "docs/opening.md": "# Opening\n\nThe office opens at nine.\n",
  "docs/deep/closing.md": "# Closing\n\nThe office closes at five.\n"
}

const asking = {
  "agents/clerk.md": "---\nrag:\n  mode: stuff\n---\nYou answer.\n"
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "")

it("indexes the documents of a folder, and then only what has changed", async () => {
  const { heddle, write } = makeWorld(docs)
  expect(await heddle(["index", "docs"])).toEqual({ status: 0, out: "docs: 2 indexed (2 chunks)\n", err: "" })
  write("docs/opening.md", "# Opening\n\nThe office opens at ten.\n")
  expect(await heddle(["index", "docs"])).toMatchObject({ out: "docs: 1 indexed (1 chunk), 1 unchanged\n" })
})

it("documents are called by their paths from the project on, wherever the command is called", async () => {
  const { heddle } = makeWorld({ ...docs, ".heddle/config.yaml": "" })
  const { out } = await heddle(["index", ".", "--json"], { in: "docs/deep" })
  const events = lines(out).map((line) => JSON.parse(line) as { readonly _tag: string })
  expect(events.map(({ _tag }) => _tag)).toEqual(["Started", "Indexed", "Finished"])
  expect(events[1]).toMatchObject({ source: "docs/deep/closing.md" })
})

it("documents of a folder outside of the project are called by their paths in it", async () => {
  const { heddle, home, write } = makeWorld()
  write("~/notes/looms.md", "A loom weaves.")
  const { out } = await heddle(["index", `${home}/notes`, "--json"])
  expect(out).toContain('"source":"looms.md"')
})

it("a link to a folder of the project is that folder", async () => {
  const { heddle, project } = makeWorld(docs)
  symlinkSync(path.join(project, "docs"), path.join(project, "link"))
  expect((await heddle(["index", "docs"])).out).toBe("docs: 2 indexed (2 chunks)\n")
  expect((await heddle(["index", "link"])).out).toBe("docs: 0 indexed, 2 unchanged\n")
})

it("folders that are indexed one after the other leave each other alone", async () => {
  const { heddle } = makeWorld({ ...docs, "notes/looms.md": "A loom weaves." })
  await heddle(["index", "docs"])
  await heddle(["index", "notes"])
  expect((await heddle(["index", "docs"])).out).toBe("docs: 0 indexed, 2 unchanged\n")
})

it("an agent finds what was indexed also in a run without a session, of which nothing is kept", async () => {
  const { heddle } = makeWorld({ ...docs, ...asking })
  await heddle(["index", "docs"])
  const { out } = await heddle(["run", "clerk", "When does the office open?"])
  expect(out).toContain("The office opens at nine.")
  expect((await heddle(["sessions", "list"])).out).toBe("")
})

it("an agent with retrieval finds what was indexed, in this project alone", async () => {
  const one = makeWorld({ ...docs, ...asking })
  await one.heddle(["index", "docs"])
  const { out } = await one.heddle(["run", "clerk", "When does the office open?", "--session", "s"])
  expect(out).toContain("The office opens at nine.")
  one.write("other/agents/clerk.md", asking["agents/clerk.md"])
  mkdirSync(path.join(one.project, "other/.heddle"))
  const other = await one.heddle(["run", "clerk", "When does the office open?", "--session", "s"], { in: "other" })
  expect(other.out).not.toContain("nine")
})

it("what is left out is told with its reason, and is no failure", async () => {
  const { heddle, write } = makeWorld(docs)
  write("docs/picture.png", new Uint8Array([0x89, 0x50, 0, 0, 0, 1]))
  write("docs/empty.md", "")
  const { err, out, status } = await heddle(["index", "docs"])
  expect(status).toBe(0)
  expect(out).toBe("docs: 2 indexed (2 chunks), 2 skipped\n")
  expect(lines(err).map((line) => line.replace(/: .*/, ""))).toEqual(["! docs/empty.md", "! docs/picture.png"])
})

it("takes the files that the globs say", async () => {
  const { heddle, write } = makeWorld(docs)
  write("docs/data.csv", "a,b\n1,2\n")
  expect((await heddle(["index", "docs", "--include", "*.md", "--exclude", "deep"])).out).toContain("1 indexed")
  expect((await heddle(["index", "docs", "--include", "*.md", "--include", "*.csv"])).out).toContain("2 indexed")
})

it("what is gone from the folder is removed, and --clear forgets all of it, also without the folder", async () => {
  const { heddle } = makeWorld(docs)
  await heddle(["index", "docs"])
  expect((await heddle(["index", "docs", "--exclude", "deep"])).out).toBe("docs: 0 indexed, 1 unchanged, 1 removed\n")
  expect((await heddle(["index", "docs", "--clear"])).out).toBe("docs: 1 forgotten\n")
  expect(await heddle(["index", "gone", "--clear"])).toEqual({ status: 0, out: "gone: 0 forgotten\n", err: "" })
})

it("a folder that is not there is told of, and makes no database", async () => {
  const { heddle, write } = makeWorld()
  expect(await heddle(["index", "dcos", "--db", "x.db"])).toEqual({
    status: 2,
    out: "",
    err: 'heddle: There is no folder "dcos".\n'
  })
  write("file.md", "Text.")
  expect(await heddle(["index", "file.md"])).toMatchObject({ status: 2, err: 'heddle: "file.md" is not a folder.\n' })
})

it("an index that another embedding model has made is told of, with what can be done", async () => {
  const { heddle, project, write } = makeWorld(docs)
  await heddle(["index", "docs", "--db", "x.db"])
  const file = new Database(path.join(project, "x.db"))
  file.exec("UPDATE heddle_collections SET model = 'another'")
  file.close()
  write("docs/opening.md", "The office opens at ten.")
  const { err, status } = await heddle(["index", "docs", "--db", "x.db"])
  expect(status).toBe(1)
  expect(err).toMatch(/another.*\nTo clear it: heddle index "docs" --clear\n$/s)
  await heddle(["index", "docs", "--db", "x.db", "--clear"])
  expect((await heddle(["index", "docs", "--db", "x.db"])).out).toBe("docs: 2 indexed (2 chunks)\n")
})

it("a database file that is none is told of", async () => {
  const { heddle } = makeWorld({ ...docs, "x.db": "this is no database, whatever its name says ".repeat(100) })
  const { err, status } = await heddle(["index", "docs", "--db", "x.db"])
  expect(status).toBe(1)
  expect(err).toContain("is not a database")
})

it("a bar shows how far it is on a terminal, and is gone at the end", async () => {
  const { heddle } = makeWorld(docs)
  const { err } = await heddle(["index", "docs"], { terminal: { columns: 40 } })
  expect(err).toContain("100 %")
  expect(err.endsWith("\r\u001b[K")).toBe(true)
})

it.each([8, 20, 40, 200])("a bar is never wider than %s columns", (columns) => {
  for (const fraction of [0, 0.5, 1]) {
    const text = barText(fraction, "12 documents", { columns: () => columns, colours: false })
    expect(text.length).toBeLessThan(columns)
  }
})
