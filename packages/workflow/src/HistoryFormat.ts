/**
 * How past runs are written down for a model: a block of text that no text of a
 * past run can close, and in which none can pass for another run or another
 * line. What looks like that in a text is made to look different, as little as
 * will do, and `parse` gives the texts back as they were.
 *
 * - Lines of a text but its first are indented by two spaces.
 * - `[run-`, the header and the footer, in whatever case, get a backslash behind
 *   their first character: `[\run-`. Where there are backslashes already, there
 *   is one more. If the header is a tag, such as `<history>`, that holds for
 *   each `<` that the tag's name follows, with a slash and white space or not.
 *
 * All other text stands as it is.
 *
 * @example
 * ```ts
 * import { HistoryFormat, type RunRecord } from "@heddle/workflow"
 *
 * const run: RunRecord.RunRecord = {
 *   runId: "r1",
 *   sessionId: "s1",
 *   workflow: "greeter",
 *   status: "completed",
 *   input: "hello",
 *   output: "hi\n</workflow_history_context>",
 *   startedAt: 0,
 *   endedAt: 1,
 *   steps: []
 * }
 * console.log(HistoryFormat.format([run], HistoryFormat.make({ inputLabel: "user" })))
 * // <workflow_history_context>
 * // [run-1]
 * // user: hello
 * // output: hi
 * //   <\/workflow_history_context>
 * //
 * // </workflow_history_context>
 * ```
 */
import { Errors } from "@heddle/core"
import { escape, lineBreak, protectedTokens, runHead, type Tokens, unescape } from "./internal/escape.ts"
import { type RunRecord, toText } from "./RunRecord.ts"

/** How past runs are written down. */
export interface HistoryFormat {
  /** First line; `""` for none. @default "<workflow_history_context>" */
  readonly header: string
  /** Last line; `""` for none. @default "</workflow_history_context>" */
  readonly footer: string
  /** What stands before the colon. @default "input" */
  readonly inputLabel: string
  /** What stands before the colon. @default "output" */
  readonly outputLabel: string
  readonly includeInput: boolean
  readonly includeOutput: boolean
  /** Whether the head of a run says when the run began: `[run-1] (2025-10-12 15:04:05)`, in UTC. @default false */
  readonly includeTimestamp: boolean
  /** The most that the block may have, in UTF-16 code units, as `length` counts; the oldest runs are left out, whole, until the rest fits. @default Infinity */
  readonly maxCharacters: number
}

/** Writes runs down, oldest first: what a policy takes in place of a `HistoryFormat`. */
export type FormatFunction = (records: ReadonlyArray<RunRecord>) => string

/** What `parse` finds of a run. */
export interface ParsedRun {
  readonly input?: string
  readonly output?: string
  /** Milliseconds since the epoch, to the second. */
  readonly startedAt?: number
  /** Missing if it was completed. */
  readonly status?: "failed" | "cancelled"
}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/** A block in `<workflow_history_context>`, with inputs and outputs, without times, as long as it gets. */
export const defaults: HistoryFormat = {
  header: "<workflow_history_context>",
  footer: "</workflow_history_context>",
  inputLabel: "input",
  outputLabel: "output",
  includeInput: true,
  includeOutput: true,
  includeTimestamp: false,
  maxCharacters: Infinity
}

/**
 * A format, with what is not said left at its default. Throws a `DefinitionError`
 * for one whose blocks could be forged or not be told apart:
 *
 * - a header, footer or label with a line break or `[run-` in it, or with white
 *   space around it
 * - a header or footer of one character, with a backslash or half a surrogate
 *   pair in it, or such that a label and a text together could spell it
 * - a label that is empty, has a colon in it or begins with `[`; one label for
 *   both, if both are included
 * - a field that there is not, or of another type
 * - a `maxCharacters` that is neither a whole number from 0 up nor `Infinity`
 */
export const make = (options: Partial<HistoryFormat> = {}): HistoryFormat => {
  for (const [key, value] of Object.entries(options)) {
    if (!Object.hasOwn(defaults, key)) {
      const fields = Object.keys(defaults).join(", ")
      throw new Errors.DefinitionError(`A format has no ${JSON.stringify(key)}, only ${fields}.`)
    }
    const wanted = typeof defaults[key as keyof HistoryFormat]
    if (typeof value !== wanted) throw new Errors.DefinitionError(`The ${key} of a format must be a ${wanted}.`)
  }
  return checked({ ...defaults, ...options })
}

const checked = (format: HistoryFormat): HistoryFormat => {
  const { maxCharacters: max } = format
  if (max !== Infinity && !(Number.isInteger(max) && max >= 0)) {
    throw new Errors.DefinitionError(`maxCharacters is a whole number from 0 up, or Infinity, but is ${max}.`)
  }
  for (const key of ["inputLabel", "outputLabel"] as const) refuse(key, format[key], labelProblem(format[key]))
  for (const key of ["header", "footer"] as const) {
    refuse(key, format[key], edgeProblem(format[key]) ?? spellingProblem(format[key], labels(format)))
  }
  if (format.includeInput && format.includeOutput && format.inputLabel === format.outputLabel) {
    refuse("outputLabel", format.outputLabel, "is the inputLabel too")
  }
  return format
}

const refuse = (key: keyof HistoryFormat, value: string, problem: string | undefined) => {
  if (problem !== undefined) throw new Errors.DefinitionError(`The ${key} ${JSON.stringify(value)} ${problem}.`)
}

const labels = (format: HistoryFormat): ReadonlyArray<string> => [
  ...(format.includeInput ? [format.inputLabel] : []),
  ...(format.includeOutput ? [format.outputLabel] : [])
]

const lineProblem = (line: string): string | undefined => {
  if (lineBreak.test(line)) return "has a line break in it"
  if (line.trim() !== line) return "has white space around it"
  return line.toLowerCase().includes(runHead) ? `has ${runHead} in it, which only the head of a run has` : undefined
}

const labelProblem = (label: string): string | undefined => {
  if (label === "") return "is empty"
  if (label.includes(":")) return "has a colon in it"
  if (label.startsWith("[")) return "begins with [, like the head of a run"
  return lineProblem(label)
}

const edgeProblem = (edge: string): string | undefined => {
  if (Array.from(edge).length === 1) return "has one character, so it cannot be taken apart where a text has it"
  if (edge.includes("\\")) return "has a backslash in it, which texts are escaped with"
  if (/\p{Surrogate}/u.test(edge)) return "has half a character in it"
  return lineProblem(edge)
}

/** Texts are escaped one by one, so a label must not lend a text the beginning of a header or footer. */
const spellingProblem = (edge: string, labels: ReadonlyArray<string>): string | undefined => {
  const wanted = edge.toLowerCase()
  const guilty = labels.find((label) => {
    const start = `${label}: `.toLowerCase()
    return wanted !== "" && (start.includes(wanted) || Array.from(start, (_, i) => start.slice(i)).some(begins(wanted)))
  })
  return guilty === undefined ? undefined : `can be spelled by the label ${JSON.stringify(guilty)} and a text`
}

const begins = (whole: string) => (start: string) => start !== "" && whole.startsWith(start)

// -----------------------------------------------------------------------------
// writing and reading
// -----------------------------------------------------------------------------

/**
 * Writes runs, given oldest first, as a block. `""` when there are none, or when
 * not even the last fits. `[run-1]` is the oldest that is shown; behind the head of
 * one that was not completed stands `(failed)` or `(cancelled)`. Texts that are
 * empty are left out, and so is a time that is no date. Throws a
 * `DefinitionError` for a format that `make` refuses.
 */
export const format = (records: ReadonlyArray<RunRecord>, format: HistoryFormat = defaults): string => {
  const { header, footer, maxCharacters } = format
  const write = writer(format)
  const tails: Array<string> = []
  let length = [header, footer].reduce((sum, line) => sum + (line === "" ? 0 : line.length + 1), -1)
  // From the last run back, so that runs that are left out are not written either.
  for (const record of records.toReversed()) {
    const tail = write(record)
    // With one run more the others are counted up, so it is the next number that is added, wherever the run stands.
    length += `${runHead}${tails.length + 1}${tail}\n`.length
    if (length > maxCharacters) break
    tails.push(tail)
  }
  if (tails.length === 0) return ""
  const runs = tails.toReversed().map((tail, i) => `${runHead}${i + 1}${tail}`)
  return [header, ...runs, footer].filter((part) => part !== "").join("\n")
}

const known = new WeakMap<HistoryFormat, Tokens>()

/** What the texts must not have in them: found out, and the format looked at, once for each format. */
const tokensOf = (format: HistoryFormat): Tokens => {
  const tokens = known.get(format) ?? protectedTokens(checked(format))
  known.set(format, tokens)
  return tokens
}

/** What stands behind the number of a run, with the empty line at its end. */
const writer = (format: HistoryFormat): ((record: RunRecord) => string) => {
  const tokens = tokensOf(format)
  const line = (label: string, value: unknown): string => {
    const text = toText(value)
    return text === "" ? "" : `${label}: ${escape(tokens, text)}\n`
  }
  return (record) =>
    `]${remarks([format.includeTimestamp ? time(record.startedAt) : "", record.status === "completed" ? "" : record.status])}\n` +
    (format.includeInput ? line(format.inputLabel, record.input) : "") +
    (format.includeOutput ? line(format.outputLabel, record.output) : "")
}

/** What stands behind the head of a run, in brackets. */
const remarks = (said: ReadonlyArray<string>): string => {
  const some = said.filter((text) => text !== "").join(", ")
  return some === "" ? "" : ` (${some})`
}

const time = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace("T", " ").replace(/\..*$/, "")
}

/**
 * Reads a block that `format` wrote with the same format. What a format leaves
 * out is missing, and so are texts that were empty; what was not a text comes
 * back as its JSON. So nothing is lost of runs of texts when `includeInput` and
 * `includeOutput` are on and `maxCharacters` is not reached. Lines that no block
 * has are passed over.
 */
export const parse = (text: string, format: HistoryFormat = defaults): ReadonlyArray<ParsedRun> => {
  const tokens = tokensOf(format)
  const runs: Array<{ -readonly [K in keyof ParsedRun]: ParsedRun[K] }> = []
  const fields = [
    ...(format.includeInput ? [["input", `${format.inputLabel}: `] as const] : []),
    ...(format.includeOutput ? [["output", `${format.outputLabel}: `] as const] : [])
  ]
  // A line break that two spaces follow belongs to a text.
  for (const line of text.split(/\n(?! {2})/)) {
    const head = /^\[run-\d+\](?: \((?:([^ ,]+) ([^ ,]+?))??(?:, )?(failed|cancelled)?\))?$/.exec(line)
    if (head !== null) {
      const [, day, hour, status] = head
      runs.push({
        ...(day !== undefined && { startedAt: Date.parse(`${day}T${hour}Z`) }),
        ...((status === "failed" || status === "cancelled") && { status })
      })
      continue
    }
    const run = runs.at(-1)
    const field = fields.find(([, start]) => line.startsWith(start))
    if (run !== undefined && field !== undefined) run[field[0]] = unescape(tokens, line.slice(field[1].length))
  }
  return runs
}
