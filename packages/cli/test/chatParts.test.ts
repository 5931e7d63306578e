import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { complete } from "../src/internal/chat/complete.ts"
import * as History from "../src/internal/chat/history.ts"
import { parse, promptOf, unquoted, wordsOf } from "../src/internal/chat/said.ts"
import { Typed } from "../src/internal/node/typed.ts"
import { Output } from "../src/internal/Output.ts"
import { Project, type Service as ProjectService } from "../src/internal/Project.ts"

describe("a line", () => {
  it("is a command, something to an agent, or a text", () => {
    expect(parse("  /agents  run x ")).toEqual({ _tag: "Command", word: "agents", rest: "run x" })
    expect(parse("@reviewer one\ntwo")).toEqual({ _tag: "To", agent: "reviewer", rest: "one\ntwo" })
    expect(parse("ann@home.org")).toEqual({ _tag: "Text", text: "ann@home.org" })
    expect(parse("@ five")).toEqual({ _tag: "Text", text: "@ five" })
    expect(parse("/")).toEqual({ _tag: "Command", word: "", rest: "" })
    expect(parse(" \t ")).toEqual({ _tag: "Nothing" })
  })

  it("that is no command and addresses nobody is said as it is, but for the spaces around it", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), (text) => {
        const said = parse(text)
        if (said._tag === "Text" && !/^\s*[/@]/.test(text)) expect(said.text).toBe(text.trim())
        expect(parse(`//${text}`)).toEqual({ _tag: "Text", text: `/${text}`.trim() })
      })
    )
  })

  it("has its text in quotes or not", () => {
    expect(unquoted(' "in quotes" ')).toBe("in quotes")
    expect(unquoted("'in \"quotes\"'")).toBe('in "quotes"')
    expect(unquoted('"one" and "two"')).toBe('"one" and "two"')
    expect(unquoted('"')).toBe('"')
    expect(wordsOf(`create "my agent" --tools='a b' it's`)).toEqual(["create", "my agent", "--tools=a b", "it", "'s"])
  })

  it("has options before the text alone", () => {
    expect(promptOf("why --context-mode shared?")).toEqual(Either.right({ text: "why --context-mode shared?" }))
    expect(promptOf("--context-mode fork -- --why")).toEqual(Either.right({ mode: "fork", text: "--why" }))
    expect(promptOf("--context-mode")).toMatchObject({ _tag: "Left" })
  })
})

describe("Tab", () => {
  const agents = ["reviewer", "writer", "wright"]
  const after = (line: string) => complete(line, agents)

  it.each([
    ["/he", "/he", ["/help "]],
    ["/agents c", "c", ["create ", "clear ", "context "]],
    ["/agents info w", "w", ["writer ", "wright "]],
    ["/agents context writer sh", "sh", ["shared "]],
    ["/agents run writer --", "--", ["--context-mode "]],
    ["/agents run writer --context-mode ", "", undefined],
    ["/agents clear writer ", "", ["--yes "]],
    ["/history @r", "@r", ["@reviewer "]],
    ["/explain re", "re", ["reviewer "]],
    ["@wr", "@wr", ["@writer ", "@wright "]],
    ["@writer --c", "--c", ["--context-mode "]],
    ["@writer --context-mode h", "h", ["hybrid "]]
  ])("completes %j", (line, of, candidates) => {
    expect(after(line).of).toBe(of)
    if (candidates === undefined) expect(after(line).candidates).toHaveLength(6)
    else expect(after(line).candidates).toEqual(candidates)
  })

  it.each([
    "",
    "wri",
    "hello @wr",
    "@writer wr",
    "@writer --context-mode shared --",
    "/help ",
    "/nothing x",
    "/agents run writer text w"
  ])("leaves %j", (line) => expect(after(line).candidates).toEqual([]))

  it("gives what goes on with what stands there, whatever that is", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), FastCheck.constantFrom("", "/", "/agents ", "@"), (text, start) => {
        const { candidates, of } = after(start + text)
        expect((start + text).endsWith(of)).toBe(true)
        expect(candidates.every((candidate) => candidate.startsWith(of))).toBe(true)
      })
    )
  })
})

describe("what is typed", () => {
  const paste = (text: string) => `\u001b[200~${text}\u001b[201~`

  it("is given a line at a time", () => {
    const typed = new Typed()
    typed.add("one\rtwo\r")
    typed.add("thr")
    expect([typed.take(), typed.take(), typed.take(), typed.take()]).toEqual(["one\r", "two\r", "thr", ""])
  })

  it("is given up to Ctrl-C, which takes it back where nobody reads", () => {
    const typed = new Typed()
    typed.add("one\u0003\u0003two")
    expect(typed.takeInterrupt()).toBe(true)
    expect(typed.takeInterrupt()).toBe(true)
    expect(typed.takeInterrupt()).toBe(false)
    expect(typed.take()).toBe("two")
  })

  it("can be set aside for a question", () => {
    const typed = new Typed()
    typed.add("ahead")
    const aside = typed.setAside()
    typed.add("y\r")
    expect(typed.take()).toBe("y\r")
    typed.add(" of time")
    typed.putBack(aside)
    expect(typed.take()).toBe("ahead of time")
  })

  it("has in the place of a paste of several lines a short text that stands for it, and nothing in it is a key", () => {
    const typed = new Typed()
    typed.add(`see ${paste("one\r\ntwo\u0003\u001b[A\r")}and ${paste("short")}${paste("x".repeat(300))}\r`)
    const line = typed.take()
    expect(line).toBe("see [paste 1: 2 lines]and short[paste 2: 300 characters]\r")
    expect(typed.whole(line)).toBe(`see one\ntwo[Aand short${"x".repeat(300)}\r`)
    expect(typed.whole("[paste 7: 2 lines]")).toBe("[paste 7: 2 lines]")
  })

  it("is the same however the terminal cuts it", () => {
    const keys = `a${paste("one\rtwo")}b\u001b[A${paste("c")}\u001b[20d\r`
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.nat(keys.length)), (places) => {
        const typed = new Typed()
        const at = [0, ...places.toSorted((a, b) => a - b), keys.length]
        at.slice(1).forEach((end, i) => typed.add(keys.slice(at[i], end)))
        expect(typed.take()).toBe("a[paste 1: 2 lines]b\u001b[Ac\u001b[20d\r")
      })
    )
  })
})

describe("the history", () => {
  const folder = () => {
    const made = mkdtempSync(path.join(tmpdir(), "heddle-history-"))
    onTestFinished(() => rmSync(made, { recursive: true, force: true }))
    return path.join(made, "data")
  }
  const told: Array<string> = []
  const sheet = {
    write: (text: string) => Effect.sync(() => void told.push(text)),
    isTerminal: false,
    colours: false,
    columns: () => 80,
    rows: () => 24
  }
  const open = (dataFolder: string) =>
    Effect.runPromise(
      History.open.pipe(
        Effect.provide(
          Layer.mergeAll(
            NodeContext.layer,
            Layer.succeed(Output, { out: sheet, err: sheet }),
            // Nothing else of the project is looked at.
            Layer.succeed(Project, { dataFolder } as ProjectService)
          )
        )
      )
    )

  it("keeps lines for later chats, in a file that the user alone can read", async () => {
    const data = folder()
    const first = await open(data)
    for (const line of ["one", "one", " secret", "", "two", "x".repeat(10_001)]) {
      await Effect.runPromise(first.add(line, true))
    }
    await Effect.runPromise(first.add("for now", false))
    expect(first.lines()).toEqual(["for now", "two", "one"])
    expect((await open(data)).lines()).toEqual(["two", "one"])
    expect(statSync(path.join(data, "chat-history")).mode & 0o777).toBe(0o600)
  })

  it("is bounded, and what is too much is taken away for good", async () => {
    const data = folder()
    mkdirSync(data)
    const file = path.join(data, "chat-history")
    writeFileSync(file, Array.from({ length: 2500 }, (_, i) => `line ${i}\n`).join(""))
    const history = await open(data)
    expect(history.lines()).toHaveLength(1000)
    expect(history.lines()[0]).toBe("line 2499")
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(1001)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it("that cannot be written is told of once, and is there for the chat", async () => {
    const data = folder()
    mkdirSync(path.join(data, "chat-history"), { recursive: true })
    chmodSync(data, 0o700)
    told.length = 0
    const history = await open(data)
    await Effect.runPromise(history.add("one", true))
    await Effect.runPromise(history.add("two", true))
    expect(history.lines()).toEqual(["two", "one"])
    expect(told).toHaveLength(1)
    expect(told[0]).toContain("What you type is not kept for later chats:")
  })
})
