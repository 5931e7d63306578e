import { Errors, Message } from "@heddle/core"
import xterm from "@xterm/headless"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { describe, expect, it } from "vitest"
import { Output, type Service, type Sheet } from "../src/internal/Output.ts"
import { lineOf } from "../src/internal/show/json.ts"
import { type Screen, screenOf } from "../src/internal/show/Screen.ts"
import { type Options, showing } from "../src/internal/show/showing.ts"
import type { Event, Shown } from "../src/internal/show/Shown.ts"
import { clean, jsonText, short, widthOf } from "../src/internal/text.ts"

const result = (text: string): Event => ({
  _tag: "Completed",
  result: { output: text, text, history: [], steps: 1, usage: { inputTokens: 0, outputTokens: 0 }, end: "answer" }
})
const started: Event = { _tag: "RunStarted", agent: "clerk" }
const step: Event = { _tag: "StepStarted", step: 1 }
const text = (text: string): Event => ({ _tag: "Text", step: 1, text })
const tool = (id: string, name: string): Event => ({ _tag: "ToolStarted", step: 1, id, name, arguments: {} })
const finished = (id: string, name: string, outcome = Message.succeeded("x")): Event => ({
  _tag: "ToolFinished",
  step: 1,
  id,
  name,
  outcome
})
const inside = (id: string, value: unknown): Event => ({ _tag: "ToolProgress", step: 1, id, value })

/** What a person sees in a terminal in which all of this was written. */
const seen = (written: string, columns: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve) => {
    const terminal = new xterm.Terminal({ cols: columns, rows: 40, allowProposedApi: true, convertEol: true })
    terminal.write(written, () => {
      const lines = Array.from(
        { length: 40 },
        (_, i) => terminal.buffer.active.getLine(i)?.translateToString(true) ?? ""
      )
      resolve(lines.slice(0, lines.findLastIndex((line) => line !== "") + 1))
    })
  })

/** Shows a run in one terminal, with a clock of its own, and gives what is seen at each `look`. */
const show = async (
  script: (on: {
    readonly shown: Shown
    readonly screen: Screen
    readonly look: Effect.Effect<void>
    readonly wait: (milliseconds: number) => Effect.Effect<void>
  }) => Effect.Effect<void>,
  { columns = 60, ...options }: Options & { readonly columns?: number } = {}
): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  let written = ""
  const looks: Array<string> = []
  const sheet: Sheet = {
    write: (text) => Effect.sync(() => void (written += text)),
    isTerminal: true,
    colours: true,
    columns: () => columns
  }
  const output: Service = { out: sheet, err: { ...sheet } }
  const program = Effect.gen(function* () {
    const shown = yield* showing(options)
    yield* script({
      shown,
      screen: screenOf(output),
      look: Effect.sync(() => void looks.push(written)),
      wait: (milliseconds) => TestClock.adjust(milliseconds)
    })
  }).pipe(Effect.scoped, Effect.provideService(Output, output), Effect.provide(TestContext.TestContext))
  await Effect.runPromise(program)
  return Promise.all([...looks, written].map((text) => seen(text, columns)))
}

const all = (shown: Shown, ...events: ReadonlyArray<Event>) => Effect.forEach(events, shown.event, { discard: true })

describe("in one terminal", () => {
  it("what is waited for is drawn with the seconds that it takes, and gone when something comes", async () => {
    const looks = await show(({ look, shown, wait }) =>
      Effect.gen(function* () {
        yield* all(shown, started, step)
        yield* wait(2100)
        yield* look
        yield* all(shown, tool("1", "read_file"))
        yield* wait(1200)
        yield* look
        yield* all(shown, finished("1", "read_file"), step, text("The ans"))
        yield* wait(5000)
        yield* look
        yield* all(shown, text("wer."), result("The answer."))
        yield* shown.end
        yield* wait(5000)
      })
    )
    expect(looks).toEqual([
      [expect.stringMatching(/^. thinking 2s$/)],
      [expect.stringMatching(/^. read_file 1s$/)],
      ["✓ read_file 1.2s", "The ans"],
      ["✓ read_file 1.2s", "The answer."]
    ])
  })

  it("a line begins anew where text has not come to its end", async () => {
    const looks = await show(({ shown }) =>
      all(
        shown,
        started,
        step,
        text("Let me look."),
        tool("1", "look"),
        finished("1", "look"),
        step,
        text("So."),
        result("So.")
      )
    )
    expect(looks).toEqual([["Let me look.", "✓ look 0.0s", "So."]])
  })

  it("nothing is drawn while a person is asked", async () => {
    const looks = await show(({ look, screen, shown, wait }) =>
      Effect.gen(function* () {
        yield* all(shown, started, step)
        yield* wait(300)
        const asking = yield* Effect.fork(screen.alone(Effect.sleep("1 minute")))
        yield* Effect.yieldNow()
        yield* wait(5000)
        yield* look
        yield* wait(60_000)
        yield* Fiber.join(asking)
        yield* screen.alone(screen.alone(Effect.void))
      })
    )
    expect(looks).toEqual([[], []])
  })

  it("what an agent does that is asked stands under it", async () => {
    const looks = await show(({ look, shown, wait }) =>
      Effect.gen(function* () {
        yield* all(shown, started, step, tool("1", "clerk"), inside("1", started), inside("1", tool("a", "look")))
        yield* wait(1000)
        yield* look
        yield* all(
          shown,
          inside("1", text("not the answer")),
          inside("1", finished("a", "look", Message.failed("It is dark."))),
          inside("1", { _tag: "Warning", handler: "memory", error: new Error("It is full.") }),
          inside("1", { _tag: "ToolFinished", nonsense: true }),
          inside("2", "nobody knows what"),
          finished("1", "clerk")
        )
      })
    )
    expect(looks).toEqual([
      ["▸ clerk({})".replace("({})", ""), expect.stringMatching(/^. clerk: look 1s$/)],
      ["▸ clerk", "  ✗ look 1.0s: It is dark.", "  ! memory: It is full.", "✓ clerk 1.0s"]
    ])
  })

  it("what was shown and does not count is told of", async () => {
    const looks = await show(({ shown }) =>
      all(shown, started, step, text("Wro"), { _tag: "StepReset", step: 1 }, text("Right."), result("Right."))
    )
    expect(looks).toEqual([["Wro", "↺ What stands above does not count: it begins anew.", "Right."]])
  })

  it("an answer that did not come as text is shown once it is there", async () => {
    const looks = await show(({ shown }) => all(shown, started, step, text("First."), result("Another.")))
    expect(looks).toEqual([["First.", "Another."]])
    expect(await show(({ shown }) => all(shown, started, result("")))).toEqual([["The model said nothing."]])
  })

  it("twenty columns are enough", async () => {
    const events = [
      started,
      step,
      { ...tool("1", "search_files"), arguments: { text: "something long" } } as Event,
      finished("1", "search_files", Message.denied("The user said no.")),
      { _tag: "StepReset", step: 1 } as Event
    ]
    const looks = await show(({ shown, wait }) => Effect.zipRight(all(shown, ...events), wait(100)), { columns: 20 })
    expect(looks).toEqual([["– search_files 0.0s", "  not allowed: The…"]])
  })

  it("a run that ends without an answer leaves a line that has begun, and nothing drawn", async () => {
    const looks = await show(({ shown, wait }) =>
      Effect.gen(function* () {
        yield* all(shown, started, step, text("Half"))
        yield* shown.end
        yield* wait(1000)
        yield* all(shown, text("x"))
      })
    )
    expect(looks[0]).toEqual(["Half", "x"])
  })
})

it("a line of JSON has nothing that steers a terminal, and no cause of a failure", () => {
  const error = new Errors.ModelError({ reason: "Network", message: "Gone.", cause: "secret" })
  const failed = lineOf({
    _tag: "Failed",
    error,
    cause: Cause.fail(error),
    history: [],
    steps: 1,
    usage: { inputTokens: 0, outputTokens: 0 }
  })
  expect(JSON.parse(failed)).toMatchObject({ error: { _tag: "ModelError", message: "Gone." } })
  expect(failed).not.toContain("secret")
  const wild = "\u009b2J\u202e\u001b[2J"
  expect(lineOf(text(wild))).not.toMatch(/[\u009b\u202e]/)
  expect(JSON.parse(lineOf(text(wild)))).toMatchObject({ text: wild })
  const round: { self?: unknown } = {}
  round.self = round
  expect(JSON.parse(lineOf(inside("1", round)))).toEqual({ _tag: "ToolProgress", step: 1, id: "1" })
})

it("text is cut by the columns that it takes", () => {
  expect(short("abc", 3)).toBe("abc")
  expect(short("abcd", 3)).toBe("ab…")
  expect(short("字字字", 5)).toBe("字字…")
  expect(short("a\n b\u001b", 5)).toBe("a b")
  expect(short("abc", 0)).toBe("")
  expect(short("x".repeat(1_000_000), 3)).toBe("xx…")
  expect(widthOf("e\u0301字")).toBe(3)
  expect(clean("a\r\n\u001b]0;x\u0007\u{e0041}")).toBe("a\n]0;x")
  expect(jsonText(undefined)).toBe("null")
})
