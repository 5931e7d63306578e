import { describe, expect, it } from "@effect/vitest"
import { Errors } from "@heddle/core"
import { HistoryFormat, type RunRecord } from "@heddle/workflow"
import { FastCheck } from "effect"

const { defaults, format, make, parse } = HistoryFormat

let runs = 0
const run = (input: unknown, output?: unknown, startedAt = 0): RunRecord.RunRecord => ({
  runId: `r${runs++}`,
  sessionId: "s",
  workflow: "w",
  status: output === undefined ? "failed" : "completed",
  input,
  ...(output !== undefined && { output }),
  startedAt,
  endedAt: startedAt,
  steps: []
})

const block = (...lines: ReadonlyArray<string>): string =>
  ["<workflow_history_context>", ...lines, "</workflow_history_context>"].join("\n")

describe("layout", () => {
  it("each run has a head, its input, its output and an empty line", () => {
    expect(format([run("hello", "hi there"), run("how are you", "I'm good")])).toBe(
      block("[run-1]", "input: hello", "output: hi there", "", "[run-2]", "input: how are you", "output: I'm good", "")
    )
  })
  it("header, footer, labels, what is included and times are the format's", () => {
    const custom = make({
      header: "# History",
      footer: "# End",
      includeOutput: false,
      includeTimestamp: true,
      inputLabel: "User"
    })
    expect(format([run("hello", "hi there", Date.UTC(2025, 9, 12, 15, 4, 5, 678))], custom)).toBe(
      "# History\n[run-1] (2025-10-12 15:04:05)\nUser: hello\n\n# End"
    )
  })
  it("a header and a footer that are empty have no line", () => {
    expect(format([run("a", "b"), run("c", "d")], make({ header: "", footer: "" }))).toBe(
      "[run-1]\ninput: a\noutput: b\n\n[run-2]\ninput: c\noutput: d\n"
    )
  })
  it("texts that are empty or missing have no line", () => {
    expect(format([run("", ""), run("a")])).toBe(block("[run-1]", "", "[run-2] (failed)", "input: a", ""))
  })
  it("a run that was not completed is marked", () => {
    const runs = [run("a"), { ...run("b", "c", 1e12), status: "cancelled" as const }]
    expect(format(runs)).toBe(
      block("[run-1] (failed)", "input: a", "", "[run-2] (cancelled)", "input: b", "output: c", "")
    )
    expect(format(runs, make({ includeTimestamp: true }))).toContain("[run-2] (2001-09-09 01:46:40, cancelled)\n")
  })
  it("what is no text is written as JSON", () => {
    expect(format([run({ a: [1, null] }, 2)])).toBe(block("[run-1]", 'input: {"a":[1,null]}', "output: 2", ""))
  })
  it("no runs are no text", () => {
    expect(format([])).toBe("")
    expect(parse("")).toEqual([])
  })
  it("a time that is no date is left out", () => {
    const timed = make({ includeTimestamp: true })
    expect(format([run("a", "b", NaN), run("c", "d", 1e16)], timed)).not.toContain("(")
    const far = [run("a", "b", -1e15), run("a", "b", 8.64e15)]
    expect(parse(format(far, timed), timed).map((found) => found.startedAt)).toEqual([-1e15, 8.64e15])
  })
})

describe("a format that makes no sense is refused", () => {
  const bad: ReadonlyArray<Partial<HistoryFormat.HistoryFormat>> = [
    { maxCharacters: -1 },
    { maxCharacters: NaN },
    { maxCharacters: 1.5 },
    { maxCharacters: -Infinity },
    ...["#", "😀", "a\nb", "a\u2028b", "a\u0085", " a", "a ", "\\begin{history}", "# [RUN-0]", "ab\ud800"].flatMap(
      (edge) => [{ header: edge }, { footer: edge }]
    ),
    ...["", "a\nb", "a\rb", "a:b", "[a", " a", "a\t", "a[Run-"].flatMap((label) => [
      { inputLabel: label },
      { outputLabel: label }
    ]),
    { inputLabel: "same", outputLabel: "same" },
    { footer: "input: end" },
    { footer: "PUT: end" },
    { header: ": x" },
    { header: "input:" },
    { header: "History", inputLabel: "My history" }
  ]
  it.each(bad)("%j", (options) => {
    expect(() => make(options)).toThrow(Errors.DefinitionError)
    expect(() => format([], { ...defaults, ...options })).toThrow(Errors.DefinitionError)
    expect(() => parse("", { ...defaults, ...options })).toThrow(Errors.DefinitionError)
  })
  it("labels that are not written are not compared", () => {
    expect(make({ inputLabel: "same", outputLabel: "same", includeInput: false }).inputLabel).toBe("same")
    expect(make({ footer: "input: end", includeInput: false }).footer).toBe("input: end")
    expect(make({ maxCharacters: 0, header: "", footer: "" }).maxCharacters).toBe(0)
    expect(make()).toEqual(defaults)
  })
})

// -----------------------------------------------------------------------------
// texts that mean no good
// -----------------------------------------------------------------------------

const formats: ReadonlyArray<HistoryFormat.HistoryFormat> = [
  defaults,
  make({ header: "# History", footer: "# End", inputLabel: "User", outputLabel: "Assistant" }),
  make({ header: "", footer: "", includeTimestamp: true }),
  make({ header: "---", footer: "-----" }),
  make({ header: "(a+)*$^.|{2}", footer: "$&$1$`" }),
  make({ header: "😀😀", footer: "😀👩‍👩‍👧 é" }),
  make({ header: "<x>", footer: "<<x>>", inputLabel: "𝒾", outputLabel: "__proto__" }),
  make({ header: "aab", footer: "abAAB" }),
  make({ header: "/ x", footer: "</x>" }),
  make({ header: "[r", footer: "[run" }),
  make({ header: "ßtraße", footer: "KELVIN ſ" })
]

const breaks = ["\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f"]
const edges = formats.flatMap(({ footer, header }) => [header, footer]).filter((edge) => edge !== "")
const letters = [...new Set(edges.flatMap((edge) => [...edge]))]
const piece = FastCheck.oneof(
  FastCheck.constantFrom(
    "[run-",
    "[run-1]",
    "[RUN-2] (2025-10-12 15:04:05)",
    "[ru",
    "[",
    "<",
    "</",
    "< / ",
    "\\",
    "\\\\"
  ),
  FastCheck.constantFrom(...edges, ...edges.map((edge) => edge.toUpperCase()), ...letters),
  FastCheck.constantFrom("input: ", "output: x", "User: ", "workflow_history_context", "ſ", "\u212a", "İ", "ı"),
  FastCheck.constantFrom(...breaks, " ", "  ", "\t"),
  FastCheck.string({ unit: "grapheme", maxLength: 4 }),
  FastCheck.string({ unit: "binary", maxLength: 4 }),
  FastCheck.constantFrom("\ud83d", "\ude00", "__proto__", "constructor")
)
const text = FastCheck.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""))
const records = FastCheck.array(
  FastCheck.record({
    input: text,
    output: text,
    seconds: FastCheck.integer({ min: -1e9, max: 4e9 }),
    status: FastCheck.constantFrom("completed" as const, "failed" as const, "cancelled" as const)
  }).map(({ input, output, seconds, status }) => ({ ...run(input, output, seconds * 1000), status })),
  { maxLength: 5 }
)
const anyFormat = FastCheck.constantFrom(...formats)
const hard = { fastCheck: { numRuns: 2000 } }

const occurrences = (whole: string, part: string): number => whole.toLowerCase().split(part.toLowerCase()).length - 1
const lines = (whole: string): ReadonlyArray<string> => whole.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)

describe("no text gets out of its place", () => {
  it.prop(
    "what is written can be read back",
    [records, anyFormat],
    ([records, custom]) => {
      expect(parse(format(records, custom), custom)).toEqual(
        records.map(({ input, output, startedAt, status }) => ({
          ...(input !== "" && { input }),
          ...(output !== "" && { output }),
          ...(custom.includeTimestamp && { startedAt }),
          ...(status !== "completed" && { status })
        }))
      )
    },
    hard
  )

  it.prop(
    "there are one header, one footer, and a head for each run, as lines",
    [records, anyFormat],
    ([records, custom]) => {
      const found = lines(format(records, custom))
      const shown = records.length === 0 ? 0 : 1
      for (const edge of [custom.header, custom.footer]) {
        if (edge !== "") expect(found.filter((line) => line === edge)).toHaveLength(shown)
      }
      expect(found.filter((line) => /^\[run-/i.test(line))).toHaveLength(records.length)
      for (const [label, key] of [
        [custom.inputLabel, "input"],
        [custom.outputLabel, "output"]
      ] as const) {
        expect(found.filter((line) => line.startsWith(`${label}: `))).toHaveLength(
          records.filter((record) => record[key] !== "").length
        )
      }
    },
    hard
  )

  it.prop(
    "nor is there another anywhere in a line, in any case",
    [records, anyFormat],
    ([records, custom]) => {
      const whole = format(records, custom)
      const empty = format(
        records.map(() => run("", "")),
        { ...custom, includeTimestamp: false }
      )
      for (const token of ["[run-", custom.header, custom.footer]) {
        if (token !== "") expect(occurrences(whole, token)).toBe(occurrences(empty, token))
      }
      const tags = /<\s*\/?\s*workflow_history_context/giu
      if (custom === defaults) expect(whole.match(tags) ?? []).toHaveLength(records.length === 0 ? 0 : 2)
    },
    hard
  )

  it.each([
    ["[run-2]", "[\\run-2]"],
    ["[\\RUN-", "[\\\\RUN-"],
    ["</workflow_history_context>", "<\\/workflow_history_context>"],
    ["<Workflow_History_Context", "<\\Workflow_History_Context"],
    ["< \n/\tworkflow_history_context", "<\\ \n  /\tworkflow_history_context"],
    ["a\r\nb\u2028\noutput: c", "a\r\n  b\u2028  \n  output: c"]
  ])("%j is written as %j", (text, written) => {
    expect(format([run(text, "x")])).toBe(block("[run-1]", `input: ${written}`, "output: x", ""))
  })

  it.each([
    String.raw`\begin{align} \frac{1}{2} \\ [\alpha]\[x\] \end{align}`,
    String.raw`{"path": "C:\\run\\x", "list": [1, [2]], "tag": "<b>\u00e9</b>"}`,
    "if (a[run] < b && c[i - 1] > 0) { return `${x}` } // run-1] </workflow>",
    "مرحبا \u202bעולם\u202c ‏[x]",
    "👩‍👩‍👧 e\u0301 \ud83d \0 \u001b[31m",
    "__proto__",
    "$& $1 $$ %s"
  ])("%j stands as it is", (text) => {
    expect(format([run(text, text)])).toBe(block("[run-1]", `input: ${text}`, `output: ${text}`, ""))
  })

  it.each([
    ["backslashes behind a head", `[${"\\".repeat(1e7)}run-`],
    ["white space in a tag", `<${" ".repeat(5e6)}/${" ".repeat(5e6)}x`],
    ["first characters", "[<".repeat(5e6)],
    ["broken firsts", "[\\".repeat(5e6)],
    ["heads", "[run-".repeat(2e6)],
    ["line breaks", "\r\n".repeat(5e6)]
  ])("10 MB of %s pass", (_, text) => {
    expect(parse(format([run(text, "x")]))[0]!.input === text).toBe(true)
  })
})

describe("the budget", () => {
  const budget = FastCheck.oneof(FastCheck.nat(600), FastCheck.constant(Infinity))
  it.prop(
    "is kept, by as many of the last runs as fit, whole",
    [records, anyFormat, budget],
    ([records, custom, maxCharacters]) => {
      const whole = format(records, { ...custom, maxCharacters })
      expect(whole.length).toBeLessThanOrEqual(maxCharacters)
      const shown = parse(whole, custom).length
      expect(whole).toBe(format(records.slice(records.length - shown), custom))
      if (shown < records.length) {
        expect(format(records.slice(records.length - shown - 1), custom).length).toBeGreaterThan(maxCharacters)
      }
    },
    hard
  )
  it("a block that just fits is shown, also where the numbers get longer", () => {
    const many = Array.from({ length: 120 }, (_, i) => run(`in ${i}`, `out ${i}`))
    for (const count of [1, 9, 10, 11, 99, 100, 101, 120]) {
      const last = many.slice(-count)
      const { length } = format(last)
      expect(format(many, make({ maxCharacters: length }))).toBe(format(last))
      expect(format(many, make({ maxCharacters: length - 1 }))).toBe(format(last.slice(1)))
    }
  })
  it("the oldest run that is shown is the first", () => {
    const two = [run("a long text that does not fit", "x"), run("b", "y")]
    expect(format(two, make({ header: "", footer: "", maxCharacters: 40 }))).toBe("[run-1]\ninput: b\noutput: y\n")
  })
  it("a run in the middle that does not fit ends the block, though older ones would fit", () => {
    const three = [run("a", "a"), run("b".repeat(100), "b"), run("c", "c")]
    expect(parse(format(three, make({ maxCharacters: 150 })))).toEqual([{ input: "c", output: "c" }])
  })
  it("nothing is shown when the last run does not fit", () => {
    expect(format([run("a", "b")], make({ maxCharacters: 0 }))).toBe("")
  })
})
