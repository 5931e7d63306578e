import { existsSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundled, folders, key, model, start, unavailable } from "./pty.ts"

if (unavailable !== undefined) console.warn(`No chat is tried in a terminal, since there are none: ${unavailable}`)

const agents = {
  "agents/reviewer.md": "---\ndescription: Reviews code.\n---\nYou review code.\n",
  "agents/writer.md": "You write.\n"
}

describe.skipIf(unavailable !== undefined)("a chat in a terminal", () => {
  let command: Awaited<ReturnType<typeof bundled>>
  let loopback: Awaited<ReturnType<typeof model>>
  beforeAll(async () => {
    command = await bundled()
    loopback = await model()
  })
  afterAll(() => {
    command?.remove()
    loopback?.close()
  })

  /** A project in which chats are begun. */
  const place = (files: Readonly<Record<string, string>> = agents) => {
    const { home, project } = folders(files)
    const heddle = (args: ReadonlyArray<string>, size: Size = {}) =>
      start([command.program, ...args, "--model", "loopback/m"], {
        cwd: project,
        variables: {
          HOME: home,
          XDG_DATA_HOME: path.join(home, "data"),
          XDG_CONFIG_HOME: path.join(home, "config"),
          LOOPBACK_URL: loopback.url,
          NO_COLOR: "1"
        },
        ...size
      })
    return {
      project,
      history: path.join(home, "data", "heddle", "chat-history"),
      chat: (args: ReadonlyArray<string> = [], size: Size = {}) => heddle(["chat", ...args], size),
      heddle
    }
  }

  it("what is typed is answered, and the chat ends with Ctrl-D and how to go on", async () => {
    const terminal = place().chat(["--session", "first"])
    await terminal.see(ready)
    terminal.type(`hello${key.enter}`)
    await terminal.see('I was told "hello" after 1 messages.\n>')
    terminal.type(key.ctrlD)
    await terminal.see("To go on: heddle chat --session first")
    expect(await terminal.ended).toMatchObject({ status: 0 })
  })

  it("Tab completes commands, agents and context modes", async () => {
    const terminal = place().chat()
    await terminal.see(ready)
    terminal.type(`/agents con${key.tab}re${key.tab}sum${key.tab}${key.enter}`)
    await terminal.see("> /agents context reviewer summarized \nreviewer: summarized (in this chat)\n>")
    terminal.type(`/h${key.tab}${key.tab}`)
    await terminal.see(/\/history +\/help/)
    terminal.type(`${key.ctrlC}@wri${key.tab}--c${key.tab}sh${key.tab}hello${key.enter}`)
    await terminal.see("> @writer --context-mode shared hello\n@writer\nI was told")
  })

  it("arrow up brings back what was typed, in a later chat also; not what began with a space, nor what answered a question", async () => {
    const { chat, history } = place()
    const first = chat()
    await first.see(ready)
    first.type(`one${key.enter}`)
    await first.see("after 1 messages.\n>")
    first.type(` a secret${key.enter}`)
    await first.see("after 3 messages.\n>")
    first.type(`/clear${key.enter}`)
    await first.see("[y]es, [n]o:")
    first.type(`y${key.enter}`)
    await first.see("begins anew.\n>")
    first.type(`${key.up}${key.up}${key.enter}`)
    await first.see(/I was told "one" after 1 messages\.[^]*I was told "one" after 1 messages\.\n>$/)
    first.type(key.ctrlD)
    await first.ended
    expect(readFileSync(history, "utf8")).toBe("one\n/clear\none\n")
    expect(statSync(history).mode & 0o777).toBe(0o600)

    const second = chat()
    await second.see(ready)
    second.type(`${key.up}${key.up}${key.enter}`)
    await second.see("> /clear\nThere is nothing")
  })

  it("Ctrl-C cancels the run, the request with it, and the chat goes on", async () => {
    const terminal = place().chat()
    await terminal.see(ready)
    terminal.type(`stall${key.enter}`)
    await terminal.see("Well,")
    terminal.type(key.ctrlC)
    await terminal.see("Well,\nCancelled. Press Ctrl-C again to leave.\n>")
    await loopback.allLeft()
    terminal.type(`and now${key.enter}`)
    // Of the exchange that was cancelled nothing is kept.
    await terminal.see('I was told "and now" after 1 messages.\n>')
  })

  it("what is typed while an agent runs stands in the next prompt; Ctrl-C takes it back", async () => {
    const terminal = place().chat()
    await terminal.see(ready)
    terminal.type(`stall${key.enter}`)
    await terminal.see("Well,")
    terminal.type(`lost${key.enter}`)
    terminal.type(`${key.ctrlC}not `)
    await terminal.see("> not")
    terminal.type(`lost${key.enter}`)
    await terminal.see('I was told "not lost" after 1 messages.\n>')
    terminal.type(`one${key.enter}two${key.enter}`)
    await terminal.see(/"one" after 3 messages\.\n> two\nI was told "two" after 5 messages\.\n>$/)
  })

  it("a tool that changes something is asked about below what was said, and what was typed ahead is no answer", async () => {
    const { chat, project } = place({
      ...agents,
      "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nYou write."
    })
    const terminal = chat(["clerk"])
    await terminal.see(ready)
    terminal.type(`write notes.txt${key.enter}y${key.enter}`)
    await terminal.see(
      "Gladly.\nclerk wants to use write_file, which changes things:\n    path: notes.txt\n    content: \n      | one\n      | two\nAllow it? [y]es, [n]o, [a]lways:"
    )
    terminal.type("yx\u007f\u007f")
    await terminal.see(/lways:$/)
    expect(existsSync(path.join(project, "notes.txt"))).toBe(false)
    terminal.type(`y${key.enter}`)
    await terminal.see(/lways: y\n✓ write_file[^]*> y\nI was told "y"[^]*\n>$/)
    expect(readFileSync(path.join(project, "notes.txt"), "utf8")).toBe("one\ntwo\n")
    terminal.type(`write more.txt${key.enter}`)
    await terminal.see(/path: more\.txt[^]*lways:$/)
    terminal.type(key.ctrlC)
    await terminal.see(/lways: \^C\n[^]*Cancelled\. Press Ctrl-C again to leave\.\n>$/)
    expect(existsSync(path.join(project, "more.txt"))).toBe(false)
  })

  it("a run that cannot be cancelled is left by a second Ctrl-C, and the command with it", async () => {
    const terminal = place({ "agents/slow.md": "---\nhandlers: [stubborn]\n---\nYou are slow." }).chat(["slow"])
    await terminal.see(ready)
    terminal.type(`hello${key.enter}`)
    await terminal.see("Working.")
    terminal.type(key.ctrlC)
    terminal.type(key.ctrlC)
    expect(await terminal.ended).toMatchObject({ status: 0 })
  })

  it("outside of a chat the same questions are asked, and Ctrl-C at one ends the command", async () => {
    const { heddle, project } = place({ "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nYou write." })
    const first = heddle(["run", "clerk", "write notes.txt"])
    await first.see(/path: notes\.txt[^]*lways:$/)
    first.type(`y${key.enter}`)
    expect(await first.ended).toMatchObject({ status: 0 })
    expect(existsSync(path.join(project, "notes.txt"))).toBe(true)
    const second = heddle(["run", "clerk", "write more.txt"])
    await second.see(/path: more\.txt[^]*lways:$/)
    second.type(key.ctrlC)
    expect(await second.ended).toMatchObject({ status: 130 })
    expect(existsSync(path.join(project, "more.txt"))).toBe(false)
  })

  it("what was typed before a question is no answer outside of a chat either, be it a line or the beginning of one", async () => {
    const { heddle, project } = place({ "agents/clerk.md": "---\ntools: { allow: [write_file] }\n---\nYou write." })
    for (const [before, answer] of [
      [`y${key.enter}a${key.enter}`, `n${key.enter}`],
      ["y", key.enter]
    ] as const) {
      const terminal = heddle(["run", "clerk", "write notes.txt"])
      terminal.type(before)
      await terminal.see(/path: notes\.txt[^]*lways:$/)
      terminal.type(answer)
      await terminal.see("not allowed: The user said no.")
      expect(await terminal.ended).toMatchObject({ status: 0 })
      expect(existsSync(path.join(project, "notes.txt"))).toBe(false)
    }
    const last = heddle(["run", "clerk", "write notes.txt"])
    last.type(`y${key.enter}`)
    await last.see(/path: notes\.txt[^]*lways:$/)
    last.type(`y${key.enter}`)
    expect(await last.ended).toMatchObject({ status: 0 })
    expect(existsSync(path.join(project, "notes.txt"))).toBe(true)
  })

  it("after kill -9 in the middle of a run the session goes on with all that was finished", async () => {
    const { chat } = place()
    const first = chat(["--session", "s"])
    await first.see(ready)
    first.type(`finished${key.enter}`)
    await first.see("after 1 messages.\n>")
    first.type(`@writer finished too${key.enter}`)
    await first.see(/@writer\nI was told.*\n>$/)
    first.type(`stall${key.enter}`)
    await first.see("Well,")
    first.kill("SIGKILL")
    expect(await first.ended).toMatchObject({ signal: 9 })

    const second = chat(["--continue"])
    await second.see('Session "s" goes on: 1 exchange in the main conversation, 1 exchange of @writer.')
    await second.see(ready)
    second.type(`and on${key.enter}`)
    await second.see('I was told "and on" after 3 messages.')
  })

  it("two chats on one session at once see what the other one has said", async () => {
    const { chat } = place()
    const [one, two] = [chat(["--session", "s"]), chat(["--session", "s"])]
    await Promise.all([one.see(ready), two.see(ready)])
    one.type(`from one${key.enter}`)
    await one.see('I was told "from one" after 1 messages.\n>')
    two.type(`from two${key.enter}`)
    await two.see('I was told "from two" after 3 messages.\n>')
    one.type(`/history${key.enter}`)
    await one.see("> from two\nassistant: I was told")
  })

  it("Ctrl-C clears the line, and a second one leaves", async () => {
    const terminal = place().chat()
    await terminal.see(ready)
    terminal.type(`something${key.ctrlC}`)
    await terminal.see("> something^C\nPress Ctrl-C again to leave.\n>")
    terminal.type(key.ctrlC)
    expect(await terminal.ended).toMatchObject({ status: 0 })
    // Nothing was said: there is nothing to go on with.
    expect(terminal.screen()).not.toContain("To go on")
  })

  it("a message has several lines by a backslash at the end of each, or by being pasted", async () => {
    const { chat, history } = place()
    const terminal = chat()
    await terminal.see(ready)
    terminal.type(`one\\${key.enter}`)
    await terminal.see("> one\\\n…")
    terminal.type(`two${key.enter}`)
    await terminal.see(String.raw`I was told "one\ntwo"`)
    await terminal.see(ready)
    terminal.type(`see ${key.paste("three\r\nfour\r")}: ${key.paste("short")}`)
    await terminal.see("> see [paste 1: 2 lines]: short")
    terminal.type(key.enter)
    await terminal.see(String.raw`I was told "see three\nfour: short"`)
    await terminal.see(ready)
    terminal.type(key.ctrlD)
    await terminal.ended
    // A paste is not there any more in a later chat.
    expect(readFileSync(history, "utf8")).not.toContain("paste")
  })

  it("it can be used at 20 columns", async () => {
    const terminal = place().chat(["--session", "s"], { columns: 20, rows: 10 })
    await terminal.see(ready)
    terminal.type(`a line that is longer than the terminal${key.enter}`)
    await terminal.see('I was told "a line that is longer than the terminal" after 1 messages.\n>')
    terminal.type(`/help${key.enter}`)
    await terminal.see("the message goes on in the next line\n>")
    terminal.type(`a line that is longer than the terminal${key.ctrlC}`)
    await terminal.see("> a line that is longer than the terminal^C\nPress Ctrl-C")
    terminal.type(key.ctrlC)
    expect(await terminal.ended).toMatchObject({ status: 0 })
  })

  it("a session that is there already cannot be gone on with by two options at once", async () => {
    const { chat, history } = place()
    const terminal = chat(["--session", "s", "--continue"])
    expect(await terminal.ended).toMatchObject({ status: 2 })
    expect(existsSync(history)).toBe(false)
  })
})

interface Size {
  readonly columns?: number
  readonly rows?: number
}

/** The line that is read has nothing in it. */
const ready = /\n>$/
