import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { PassThrough } from "node:stream"
import type { ReadStream, WriteStream } from "node:tty"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Asked } from "../src/internal/chat/Lines.ts"
import { typed, written } from "../src/internal/node/lines.ts"

/** A terminal of which the test is the keyboard and reads what is written. */
const terminal = async () => {
  const modes: Array<boolean> = []
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (mode: boolean) => void modes.push(mode) })
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 40, rows: 10 })
  let seen = ""
  screen.setEncoding("utf8").on("data", (text: string) => (seen += text))
  const history: Array<string> = ["before"]
  const scope = await Effect.runPromise(Scope.make())
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  onTestFinished(close)
  const lines = await Effect.runPromise(
    // They have all of a terminal that is used.
    typed(keys as unknown as ReadStream, screen as unknown as WriteStream, {
      lines: () => history,
      add: (line, isLasting) => Effect.sync(() => void history.unshift(isLasting ? line : `(${line})`))
    }).pipe(Scope.extend(scope))
  )
  const read = (asked: Asked = { prompt: "> " }) => Effect.runPromise(lines.read(asked))
  return { close, history, keys, lines, modes, read, seen: () => seen }
}

describe("lines that are typed", () => {
  it("are read one by one, also those that were typed before they were asked for", async () => {
    const { history, keys, read } = await terminal()
    const one = read()
    keys.write("on")
    keys.write("e\rtwo\rthr")
    expect(await one).toEqual({ _tag: "Line", text: "one" })
    expect(await read()).toEqual({ _tag: "Line", text: "two" })
    const three = read()
    keys.write("ee\r")
    expect(await three).toEqual({ _tag: "Line", text: "three" })
    expect(history).toEqual(["three", "two", "one", "before"])
  })

  it("end with Ctrl-C, which is told with what stood there, and with Ctrl-D", async () => {
    const { keys, read, seen } = await terminal()
    const first = read()
    keys.write("half a li\u0003")
    expect(await first).toEqual({ _tag: "Interrupt", line: "half a li" })
    expect(seen()).toContain("^C\r\n")
    const second = read()
    keys.write("\u0004")
    expect(await second).toEqual({ _tag: "End" })
    // It was the end of that line alone.
    const third = read()
    keys.write("more\r")
    expect(await third).toEqual({ _tag: "Line", text: "more" })
  })

  it("are completed, and brought back from the history", async () => {
    const { keys, read } = await terminal()
    const complete = (line: string) => ({ of: line, candidates: ["/help "].filter((word) => word.startsWith(line)) })
    const first = read({ prompt: "> ", complete })
    keys.write("/h\tme\r")
    expect(await first).toEqual({ _tag: "Line", text: "/help me" })
    const second = read()
    keys.write("\u001b[A\u001b[A\r")
    expect(await second).toEqual({ _tag: "Line", text: "before" })
  })

  it("have their pastes in them; such a line is kept for this chat alone", async () => {
    const { history, keys, read } = await terminal()
    const line = read()
    keys.write("a \u001b[200~b\rc\u001b[201~\r")
    expect(await line).toEqual({ _tag: "Line", text: "a b\nc" })
    expect(history).toEqual(["(a [paste 1: 2 lines])", "before"])
  })

  it("that answer a question are not kept, and what was typed before is for the next line", async () => {
    const { history, keys, lines, read } = await terminal()
    const waiting = Effect.runFork(lines.interrupted)
    keys.write("yes\r")
    const answer = read({ prompt: "Sure? ", isAnswer: true })
    keys.write("no\r")
    expect(await answer).toEqual({ _tag: "Line", text: "no" })
    expect(await read()).toEqual({ _tag: "Line", text: "yes" })
    expect(history).toEqual(["yes", "before"])
    await Effect.runPromise(Fiber.interrupt(waiting))
  })

  it("are taken back by Ctrl-C while nobody reads; at a question it is for that", async () => {
    const { keys, lines, read } = await terminal()
    const first = Effect.runPromise(lines.interrupted)
    keys.write("ahead\u0003")
    await first
    const second = Effect.runFork(lines.interrupted)
    const answer = read({ prompt: "Sure? ", isAnswer: true })
    keys.write("\u0003")
    expect(await answer).toEqual({ _tag: "Interrupt", line: "" })
    expect(second.unsafePoll()).toBeNull()
    keys.write("\u0003")
    expect(Exit.isSuccess(await Effect.runPromise(Fiber.await(second)))).toBe(true)
  })

  it("that are not waited for any more leave the cursor on a line of its own", async () => {
    const { keys, lines, read, seen } = await terminal()
    const fiber = Effect.runFork(lines.read({ prompt: "Sure? ", isAnswer: true }))
    await Effect.runPromise(Effect.yieldNow())
    await Effect.runPromise(Fiber.interrupt(fiber))
    expect(seen()).toMatch(/Sure\? [^\n]*\r\n$/)
    const next = read()
    keys.write("on\r")
    expect(await next).toEqual({ _tag: "Line", text: "on" })
  })

  it("end when the terminal goes away; the terminal is left as it was", async () => {
    const { close, keys, modes, read, seen } = await terminal()
    const line = read()
    keys.end()
    expect(await line).toEqual({ _tag: "End" })
    expect(await read()).toEqual({ _tag: "End" })
    expect(modes).not.toContain(false)
    await close()
    expect(modes.at(-1)).toBe(false)
    expect(seen()).toContain("\u001b[?2004h")
    expect(seen().endsWith("\u001b[?2004l")).toBe(true)
  })
})

describe("lines that stand in a file or come from a pipe", () => {
  const all = async (...pieces: ReadonlyArray<string | Uint8Array>) => {
    const lines = written(
      (async function* () {
        for (const piece of pieces) yield Buffer.from(piece)
      })()
    )
    const found: Array<string> = []
    for (;;) {
      const read = await Effect.runPromise(Effect.either(lines.read({ prompt: "" })))
      if (read._tag === "Left") return [...found, read.left]
      if (read.right._tag !== "Line") return found
      found.push(read.right.text)
    }
  }

  it("are the same however they come", async () => {
    expect(await all("on", "e\ntwo\r\n", "", "\nf", "our")).toEqual(["one", "two", "", "four"])
    const text = Buffer.from("grün\n")
    expect(await all(text.subarray(0, 3), text.subarray(3))).toEqual(["grün"])
    expect(await all()).toEqual([])
  })

  it("that are not UTF-8 are told by their number", async () => {
    expect(await all("one\ntw", new Uint8Array([0xff, 10]), "three\n")).toMatchObject([
      "one",
      { message: "Line 2 of standard input is not UTF-8.", status: 2 }
    ])
  })

  it("that cannot be read are an error", async () => {
    const lines = written(
      (async function* () {
        yield Buffer.from("one\n")
        throw new Error("gone")
      })()
    )
    await Effect.runPromise(lines.read({ prompt: "" }))
    expect(await Effect.runPromise(Effect.flip(lines.read({ prompt: "" })))).toMatchObject({ status: 1 })
  })
})
