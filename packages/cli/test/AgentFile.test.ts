import { Handler } from "@heddle/core"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { AgentFile, HandlerRegistry } from "../src/index.ts"
import { canBeginWith } from "../src/internal/agents/globs.ts"
import { hasSecret } from "../src/internal/agents/secrets.ts"
import { builtInTools } from "../src/internal/agents/toolNames.ts"
import { builtIn } from "../src/internal/tools/builtIn.ts"
import { largest } from "../src/internal/readText.ts"

const signed = HandlerRegistry.define({
  description: "Has the answer signed.",
  options: Schema.Struct({ name: Schema.String, times: Schema.optionalWith(Schema.Int, { exact: true }) }),
  make: ({ name }) => {
    if (name === "nobody") throw new Error("nobody signs nothing")
    return Handler.instructions(`Sign your answer with "${name}".`)
  }
})
const { instructions } = HandlerRegistry.builtIn
const handlers = { instructions: instructions!, signed }

const parse = (text: string) => AgentFile.parse(text, { path: "agents/clerk.md", handlers })
/** What is wrong, as `line:column severity message`. */
const told = (text: string) =>
  parse(text).problems.map(({ column, line, message, severity }) => `${line}:${column} ${severity} ${message}`)
const head = (...lines: ReadonlyArray<string>) => `---\n${lines.join("\n")}\n---\nBe brief.\n`

describe("an agent", () => {
  it("is called as its file unless it says otherwise, and its body is its instructions", () => {
    expect(parse("\ufeff---\r\ntitle: Clerk\r\n---\r\n\r\n  - Be brief.\r\n- Be kind.\r\n\r\n")).toEqual({
      agent: {
        name: "clerk",
        path: "agents/clerk.md",
        scope: "project",
        head: { title: "Clerk" },
        body: "  - Be brief.\n- Be kind."
      },
      name: "clerk",
      problems: []
    })
    expect(parse(head("name: other")).name).toBe("other")
  })

  it("needs no front matter, and its front matter need not say anything", () => {
    for (const text of ["Be brief.", "---\n---\nBe brief.", "---\n# nothing\n---\nBe brief."]) {
      expect(parse(text)).toMatchObject({ agent: { head: {}, body: "Be brief." }, problems: [] })
    }
  })

  it("can say all that there is to say", () => {
    const text = head(
      "name: reviewer",
      "title: Reviewer",
      "description: Reads code.",
      "model: anthropic/claude-haiku-4-5",
      "contextMode: selective",
      "contextWindow: { tokens: 500 }",
      'sharePatterns: ["project uses *"]',
      "shareLookBack: 3",
      "memory: { strategy: summary, historyLimit: 5 }",
      "rag: { mode: map_reduce, topK: 8, searchTimeout: 10 seconds }",
      "ragFilter: { sources: [docs/*] }",
      "tools: { allow: [read_*, github_*], deny: [github_delete] }",
      "mcp:",
      "  github: { command: npx, args: [-y, server], env: { TOKEN: { from: GITHUB_TOKEN } }, allow: [issues_*] }",
      "  web: { url: 'https://example.com/mcp', headers: { Authorization: { from: WEB, prefix: 'Bearer ' } } }",
      "agents: [clerk]",
      "handlers: [{ name: signed, options: { name: Ann } }, { name: instructions, options: { text: Be kind. } }]",
      "maxSteps: 4",
      "onStepLimit: answer",
      "output: { type: object }"
    )
    expect(told(text)).toEqual([])
    expect(parse(text).agent?.head.mcp?.["github"]).toMatchObject({ env: { TOKEN: { from: "GITHUB_TOKEN" } } })
  })
})

describe("what is wrong is told all at once, each with its place", () => {
  it("keys that nobody knows, with the nearest that there is", () => {
    const problems = told(
      head(
        "contexMode: shared",
        "memory:",
        "  stratgy: full",
        "rag: { topk: 3 }",
        "tools:",
        "  alow: [read_file]",
        "mcp:",
        "  a:",
        "    comand: npx",
        "  b: { url: http://x.y, heders: {} }",
        "  c: { command: npx, env: { KEY: { fro: A } } }",
        "handlers:",
        "  - { nam: signed }",
        "  - { name: signed, options: { nam: Ann } }"
      )
    )
    const summary = problems.map((problem) => problem.replace(/there are .*;/, "…"))
    expect(summary).toEqual([
      '2:1 error unknown key "contexMode": … is "contextMode" meant?',
      '4:3 error memory: unknown key "stratgy": … is "strategy" meant?',
      '5:8 error rag: unknown key "topk": … is "topK" meant?',
      '7:3 error tools: unknown key "alow": … is "allow" meant?',
      '10:5 error mcp.a: unknown key "comand": … is "command" meant?',
      '11:25 error mcp.b: unknown key "heders": … is "headers" meant?',
      '12:36 error mcp.c.env.KEY: unknown key "fro": … is "from" meant?',
      '14:7 error handlers[0]: unknown key "nam": … is "name" meant?',
      '15:32 error handlers[1].options: unknown key "nam": … is "name" meant?'
    ])
  })

  it("keys that stand in the wrong place, with the place that is meant", () => {
    const [problem] = told(head("historyLimit: 3"))
    expect(problem).toMatch(/^2:1 error unknown key "historyLimit": .*; is "memory.historyLimit" meant\?$/)
  })

  it("agents that would be tools of a name that another one has", () => {
    expect(told(head("agents: [clerk, read_file, clerk]", "tools: { allow: ['read_*'] }"))).toEqual([
      '2:17 error agents[1]: "read_file" is a tool of this agent as well',
      '2:28 error agents[2]: "clerk" is there twice'
    ])
  })

  it("values of a wrong kind, and words that are none of those that there are", () => {
    expect(
      told(
        head(
          "name: 12",
          "description:",
          "contextMode: isolatd",
          "contextWindow: -1",
          "maxSteps: 0",
          "memory: { strategy: fulll, historyLimit: many }",
          "rag: { minScore: 5, searchTimeout: soon, notesModel: '' }",
          "ragFilter: { metadata: { a: [] } }",
          "tools: read_file",
          "mcp:",
          "  a: {}",
          "  b: { command: npx, env: { PORT: 80 }, args: x }",
          "  c: { url: 'ftp://x' }",
          "  d e: { command: npx }",
          "agents: [clerk, 7, a b]",
          "handlers: [7]",
          "output: text"
        )
      )
    ).toEqual([
      "2:7 error name: expected a name of letters, digits, _ and -, 64 at the most; in quotes it is a text",
      "3:1 error description: expected a text that is not empty",
      '4:14 error unknown contextMode "isolatd": there are "isolated", "shared", "hybrid", "selective", "summarized", "fork"; is "isolated" meant?',
      "5:16 error contextWindow: expected a whole number from 0, { exchanges } or { tokens }",
      "6:11 error maxSteps: expected a whole number from 1",
      '7:21 error unknown memory.strategy "fulll": there are "full", "window", "summary"; is "full" meant?',
      "7:42 error memory.historyLimit: expected a whole number from 0",
      "8:18 error rag.minScore: expected a number from 0 to 1",
      '8:36 error rag.searchTimeout: expected a time such as "10 seconds", or milliseconds from 0',
      "8:54 error rag.notesModel: expected a non empty string",
      "9:29 error ragFilter.metadata.a: expected a text, a number, true or false",
      "10:8 error tools: expected keys with values",
      "12:6 error mcp.a: expected the key command, or the key url",
      "13:35 error mcp.b.env.PORT: expected a text, or { from: the name of an environment variable }; in quotes it is a text",
      "13:47 error mcp.b.args: expected a list",
      "14:13 error mcp.c.url: expected an address that begins with http:// or https://, without a user name or password",
      "15:3 error mcp.d e: expected a name of letters, digits, _ and -, 31 at the most as key",
      "16:17 error agents[1]: expected a name of letters, digits, _ and -, 64 at the most; in quotes it is a text",
      "16:20 error agents[2]: expected a name of letters, digits, _ and -, 64 at the most",
      "17:12 error handlers[0]: expected the name of a handler, or { name, options }; in quotes it is a text",
      "18:9 error output: expected a JSON Schema"
    ])
  })

  it("what is said together, at the key that is meant", () => {
    expect(told(head("title: x", "contextMode: selective"))).toEqual([
      "3:14 error sharePatterns: expected one pattern at least"
    ])
    expect(told(head("contextMode: summarized", "summarizeAfter: 3", "contextWindow: 10"))).toEqual([
      "3:17 error summarizeAfter: 3 messages is smaller than the window of 10 exchanges"
    ])
    expect(told(head("contextMode: summarized", "contextWindow: 100"))).toEqual([
      "3:16 error summarizeAfter: 20 messages (the default) is smaller than the window of 100 exchanges"
    ])
    expect(told(head("memory:", "  strategy: summary", "  historyLimit: 9", "  summaryTrigger: 2"))).toEqual([
      "5:19 error memory.summaryTrigger: 2 messages is smaller than the window of 9 exchanges"
    ])
    expect(told(head("contextWindow: 3"))).toEqual(["2:16 error contextWindow: expected contextMode beside it"])
  })

  it("what has no use in the context mode is a warning", () => {
    expect(told(head("contextMode: shared", "sharePatterns: ['a']"))).toEqual([
      "3:1 warning sharePatterns: is used in the context mode selective alone, and this one is shared"
    ])
  })

  it("text that is no YAML, as the reader of YAML tells it", () => {
    expect(told(head("title: a: b", "description: @you", "maxSteps: 0"))).toEqual([
      '2:8 error Nested mappings are not allowed in compact mappings (a text with ": " in it has to be in quotes)',
      "3:14 error Plain value cannot start with reserved character @ (a text that begins so has to be in quotes)"
    ])
    expect(told(head("- a"))).toEqual(["2:1 error expected keys with values, such as `title: Clerk`"])
    expect(told(head("only words"))).toEqual(["2:1 error expected keys with values, such as `title: Clerk`"])
    expect(told(head("title: a", "", "title: b", "maxSteps: 0"))).toEqual([
      '4:1 error the key "title" is there twice',
      "5:11 error maxSteps: expected a whole number from 1"
    ])
  })

  it("front matter that does not end, or that begins too late", () => {
    expect(told("---\ntitle: a\n--\nBe brief.")).toEqual([
      "1:1 error the front matter that begins here is not closed: there is no other line of ---; is line 3 meant?"
    ])
    expect(told("---")).toHaveLength(1)
    expect(told("---\rtitle: a\r---\rBe brief.")).toEqual([expect.stringContaining("carriage return")])
    expect(told("\n---\ntools: { deny: ['*'] }\n---\nBe brief.")).toEqual([
      "2:1 error front matter begins in the first line of a file, with nothing before it"
    ])
    expect(told("Be brief.\n\n---\n\nAlways.")).toEqual([])
  })

  it("instructions that are missing", () => {
    expect(told("---\ntitle: a\n---\n \n")).toEqual([
      "4:1 error there are no instructions: they are the text below the front matter"
    ])
    expect(told("")).toEqual(["1:1 error there are no instructions: they are the text of the file"])
  })

  it("handlers that are not there, and options that they do not take", () => {
    expect(
      told(
        head(
          "handlers:",
          "  - sgned",
          "  - signed",
          "  - { name: signed, options: { name: Ann, times: often } }",
          "  - { name: constructor }",
          "  - { name: signed, options: { name: nobody } }"
        )
      )
    ).toEqual([
      '3:5 error handlers[0]: unknown handler "sgned": there are "instructions", "signed"; is "signed" meant?',
      '4:5 error handlers[1].options: expected the key "name"',
      "5:50 error handlers[2].options.times: expected a number",
      '6:13 error handlers[3]: unknown handler "constructor": there are "instructions", "signed"',
      "7:30 error handlers[4]: nobody signs nothing"
    ])
    expect(AgentFile.parse(head("handlers: [anything]"), { path: "a.md" }).problems).toEqual([])
  })

  it("names of tools that fit no tool are a warning", () => {
    const servers = "mcp: { gh: { command: x } }"
    expect(
      told(
        head(
          servers,
          "agents: [helper]",
          "tools: { allow: [gh_*, g*, '*_issue', helper, READ_FILE], deny: [read_fil] }"
        )
      )
    ).toEqual([
      '4:66 warning tools.deny[0]: unknown tool "read_fil": there are "read_file", "list_files", "search_files", "write_file", "fetch_url", "ask_user", "helper", "gh_*"; is "read_file" meant?'
    ])
  })

  it("a glob has 256 characters at the most, and many servers make none slow", () => {
    const mcp = (count: number) =>
      `mcp: { ${Array.from({ length: count }, (_, i) => `s${i}: { command: x }`).join(", ")} }`
    const long = "x".repeat(5000)
    expect(told(head(mcp(200), `tools: { allow: [${long}] }`))).toEqual([
      expect.stringContaining("error tools.allow[0]: expected a glob of 256 characters at the most")
    ])
    expect(told(head(`mcp: { gh: { command: x, deny: [${long}] } }`))).toEqual([
      expect.stringContaining("error mcp.gh.deny[0]: expected a glob of 256 characters at the most")
    ])
    expect(told(head(mcp(200), `tools: { allow: ["${"x".repeat(255)}*"] }`))).toEqual([
      expect.stringContaining("warning tools.allow[0]: unknown tool")
    ])
  })

  it("a glob may fit a tool of a server that nobody has asked yet", () => {
    const fits = ["*", "g*", "gh_*", "GH_*", "gh_issue", "?h_*", "*_issue", "gh_?", "g\\h_*", "\\gh_x", "gh*issue"]
    const not = ["gh", "gh_", "g", "hg_*", "gh-*", "?", "\\*", "gh\\*", "xgh_*"]
    expect([...fits, ...not].filter((glob) => canBeginWith(glob)("gh_"))).toEqual(fits)
  })

  it("the tools that it knows are those that there are", () => {
    expect(builtIn.map(({ name }) => name).toSorted()).toEqual(builtInTools.toSorted())
  })

  it("what looks like a secret is a warning, which does not say it", () => {
    const problems = told(
      head(
        "mcp:",
        "  gh: { command: x, args: [--token=hunter2hunter2], env: { GITHUB_TOKEN: ghp_0123456789abcdef, DEBUG: all } }",
        "  web: { url: 'https://x.y/?key=abcdefgh12345', headers: { Authorization: Bearer 0123456789abcdef } }"
      )
    )
    expect(problems).toHaveLength(4)
    for (const problem of problems) expect(problem).toContain("warning")
    expect(problems.join("\n")).not.toMatch(/hunter2|ghp_|abcdefgh|0123456789/)
    expect(problems.join("\n")).toContain("{ from: GITHUB_TOKEN }")
    expect(hasSecret("x".repeat(1_000_000))).toBe(false)
    const plain = "env: { KEY_FILE: /home/x/key.pem, TOKEN_LIMIT: '2000', API_KEY: $API_KEY, COMMIT: 0123456789abcdef }"
    expect(told(head("mcp:", `  a: { command: x, args: [--level=debug], ${plain} }`))).toEqual([])
  })

  it("a name of a file that is none of an agent", () => {
    const { problems } = AgentFile.parse("Be brief.", { path: "agents/my agent.v2.md" })
    expect(problems).toMatchObject([{ line: 1, column: 1, severity: "error" }])
    expect(AgentFile.parse(head("name: mine"), { path: "agents/my agent.v2.md" }).problems).toEqual([])
  })

  it("columns are characters, whatever they are made of", () => {
    expect(told(head('description: "😀"', "# 😀😀", "tools: { allow: ['😀'], deny: 5 }"))).toEqual([
      '4:18 warning tools.allow[0]: unknown tool "😀": there are "read_file", "list_files", "search_files", "write_file", "fetch_url", "ask_user"',
      "4:30 error tools.deny: expected a list"
    ])
  })
})

describe("whatever a file says", () => {
  const line = FastCheck.oneof(
    FastCheck.constantFrom(
      "---",
      "title: a",
      "mcp:",
      "  a:",
      "    command: x",
      "handlers:",
      "  - instructions",
      "memory: {",
      "}",
      "tools: [",
      "a: &a [*a]",
      "__proto__: { a: b }",
      "constructor: 1",
      "? [x]",
      ": y",
      "output: { $ref: '#' }",
      "\ttitle: b",
      "agents: [a, a]"
    ),
    FastCheck.string(),
    FastCheck.string({ unit: "binary" })
  )
  const texts = FastCheck.tuple(FastCheck.constantFrom("---\n", "\ufeff---\r\n", ""), FastCheck.array(line)).map(
    ([first, lines]) => `${first}${lines.join("\n")}`
  )

  it("it is read without a throw: there is an agent, or an error with a place in the file", () => {
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        const { agent, problems } = parse(text)
        expect(agent === undefined).toBe(problems.some(({ severity }) => severity === "error"))
        const lines = text.split("\n")
        for (const problem of problems) {
          expect(problem.line).toBeGreaterThanOrEqual(1)
          expect(problem.line).toBeLessThanOrEqual(lines.length)
          expect(problem.column).toBeGreaterThanOrEqual(1)
          expect(problem.column).toBeLessThanOrEqual(lines[problem.line - 1]!.length + 1)
        }
      }),
      { numRuns: 2000 }
    )
  })

  it("a key that is misspelt is found at its place, with the key that is meant", () => {
    const keys = ["description", "contextMode", "sharePatterns", "summarizeAfter", "handlers", "maxSteps", "ragFilter"]
    const typo = FastCheck.tuple(FastCheck.constantFrom(...keys), FastCheck.nat()).map(([key, n]) => {
      const at = 1 + (n % (key.length - 2))
      return { key, wrong: `${key.slice(0, at)}${key.slice(at + 1)}` }
    })
    const before = FastCheck.array(FastCheck.constantFrom("# a comment", "", "#"), { maxLength: 4 })
    FastCheck.assert(
      FastCheck.property(typo, before, FastCheck.constantFrom("\n", "\r\n"), ({ key, wrong }, lines, end) => {
        const text = ["---", "title: Clerk", ...lines, `${wrong}: x`, "---", "Be brief."].join(end)
        const [problem, ...others] = parse(text).problems
        expect(others).toEqual([])
        expect(problem).toMatchObject({ line: lines.length + 3, column: 1, severity: "error" })
        expect(problem?.message).toContain(`is "${key}" meant?`)
      })
    )
  })

  it("keys that objects have anyway do no harm", () => {
    const { agent, problems } = parse(head("__proto__: { title: x }", "mcp: { __proto__: { command: x } }"))
    expect(agent).toBeUndefined()
    expect(problems.map(({ column, line, message }) => [line, column, message])).toEqual([
      [2, 1, "__proto__ cannot be a key"],
      [3, 8, "__proto__ cannot be a key"]
    ])
    expect(parse(head("name: __proto__")).agent).toBeUndefined()
    expect(Object.hasOwn(Object.prototype, "title")).toBe(false)
  })

  it("what is too large, too deep or multiplies itself is refused", () => {
    const aliases = head(
      "a: &a [x, x, x, x]",
      "b: &b [*a, *a, *a, *a]",
      "c: &c [*b, *b, *b, *b]",
      "d: &d [*c, *c, *c, *c]",
      "e: [*d, *d, *d, *d]"
    )
    expect(told(aliases)).toEqual([expect.stringContaining("too many aliases")])
    expect(told(head(`output: ${"[".repeat(5000)}`))).toEqual([expect.stringContaining("too deep")])
    expect(told(head(`title: ${"x".repeat(60_000)}`))).toEqual([expect.stringContaining("too large")])
    expect(told("x".repeat(largest + 1))).toEqual([expect.stringContaining("too large")])
    expect(told(head(...Array.from({ length: 2000 }, (_, i) => `k${i}: 1`)))).toHaveLength(101)
  })
})

describe("the JSON Schema of the front matter", () => {
  it("is that which is published", async () => {
    const published: unknown = (await import("../agent-file.schema.json", { with: { type: "json" } })).default
    expect(AgentFile.jsonSchema()).toEqual(published)
  })

  it("is draft-07 without references, and says of every key what it is for", () => {
    const schema = AgentFile.jsonSchema()
    expect(schema).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", additionalProperties: false })
    expect(JSON.stringify(schema)).not.toMatch(/"\$(ref|id|defs)"/)
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== "object" || node === null) return
      for (const [key, value] of Object.entries(node)) {
        visit(value, `${path}.${key}`)
        if (key !== "properties") continue
        for (const [name, property] of Object.entries(value as object)) {
          expect(property, `${path}.${name}`).toHaveProperty("description", expect.stringMatching(/\.$/))
        }
      }
    }
    visit(schema, "")
  })

  it("takes and refuses what the reader takes and refuses", async () => {
    const { Ajv } = await import("ajv")
    const validate = new Ajv({ allowUnionTypes: true }).compile(AgentFile.jsonSchema())
    const good = [
      {},
      { contextMode: "fork", mcp: { a: { command: "x", env: { A: { from: "B" } } } }, handlers: ["a", { name: "b" }] }
    ]
    const bad = [
      { contextMod: "fork" },
      { maxSteps: 0 },
      { name: "a b" },
      { mcp: { a: {} } },
      { tools: { alow: [] } },
      { memory: { strategy: "x" } }
    ]
    const keys = [...Object.keys(AgentFile.FrontMatter.fields), "nothing"]
    const word = FastCheck.constantFrom(
      "name",
      "command",
      "url",
      "strategy",
      "mode",
      "allow",
      "from",
      "env",
      "x",
      "shared"
    )
    const value = FastCheck.letrec<{ readonly any: unknown }>((tie) => ({
      any: FastCheck.oneof(
        { maxDepth: 3 },
        FastCheck.oneof(word, FastCheck.integer({ min: -1, max: 3 }), FastCheck.boolean(), FastCheck.constant(null)),
        FastCheck.array(tie("any"), { maxLength: 2 }),
        FastCheck.dictionary(word, tie("any"), { maxKeys: 3 })
      )
    })).any
    FastCheck.assert(
      FastCheck.property(FastCheck.dictionary(FastCheck.constantFrom(...keys), value, { maxKeys: 3 }), (data) => {
        const { agent } = parse(`---\n${JSON.stringify(data)}\n---\nBe brief.\n`)
        if (agent !== undefined) expect(agent.head).toEqual(data)
        // The reader knows more, so that what it takes is right by the schema.
        expect(validate(data) || agent === undefined, JSON.stringify(validate.errors)).toBe(true)
      }),
      { numRuns: 2000 }
    )
    for (const data of good) expect(validate(data), JSON.stringify(data)).toBe(true)
    for (const data of bad) expect(validate(data), JSON.stringify(data)).toBe(false)
  })
})
