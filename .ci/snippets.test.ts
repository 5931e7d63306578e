import { expect, it } from "vitest"
import { checkSnippets } from "./check-snippets.ts"
import { fromMarkdown, fromSource } from "./snippets.ts"

const page = (...lines: ReadonlyArray<string>) => fromMarkdown("page.md", lines.join("\n"))
const check = (name: string, ...lines: ReadonlyArray<string>) => checkSnippets(page(...lines), `.snippets/test-${name}`)
const seconds = 60_000

it("takes the ts blocks of a page, with the line of their code", () => {
  const snippets = page(
    "# Title",
    "```ts",
    "const a = 1",
    "```",
    "```sh",
    "ls",
    "```",
    "```ts no-run",
    "console.log(1)",
    "```"
  )
  expect(snippets.map(({ code, line, runs }) => ({ code, line, runs }))).toEqual([
    { code: "const a = 1", line: 3, runs: false },
    { code: "console.log(1)", line: 9, runs: false }
  ])
})

it("takes a block that directly follows as the output, and no other", () => {
  const snippet = ["```ts", "console.log(1)", "```"]
  const output = ["```text", "1", "```"]
  expect(page(...snippet, "", ...output)[0]?.output).toBe("1")
  expect(page(...snippet, "Elsewhere:", ...output)[0]?.output).toBeUndefined()
})

it("leaves out what a longer fence only shows", () => {
  expect(page("````md", "```ts", "let", "```", "````")).toEqual([])
})

it("takes the examples of docstrings, and no fence outside of them", () => {
  const source = ["const a = `", "```ts", "`", "/**", " * @example", " * ```ts", " *   b()", " * ```", " */"].join("\n")
  expect(fromSource("a.ts", source).map(({ code, line }) => ({ code, line }))).toEqual([{ code: "  b()", line: 7 }])
})

it("passes a snippet that compiles and prints what it should", { timeout: seconds }, async () => {
  const failures = await check(
    "good",
    "```ts",
    'import { Effect } from "effect"',
    "console.log(Effect.runSync(Effect.succeed(1)))",
    "```",
    "```text",
    "1",
    "```"
  )
  expect(failures).toEqual([])
})

it("reports a type error at its line in the document", { timeout: seconds }, async () => {
  const failures = await check("type", "```ts", "", "const a: number = true", "```")
  expect(failures).toEqual([expect.stringContaining("page.md:3: error TS2322")])
})

it("reports a wrong output and a failed run at the snippet's line", { timeout: seconds }, async () => {
  const wrong = ["```ts", "console.log(1)", "```", "```text", "2", "```"]
  const failing = ["```ts", 'console.log("about to fail")', 'throw new Error("no")', "```"]
  const failures = await check("output", ...wrong, ...failing)
  expect(failures).toEqual([
    "page.md:2: printed\n1\ninstead of\n2",
    expect.stringMatching(/^page\.md:8: exit code 1\nabout to fail\n[^]*Error: no/)
  ])
})
