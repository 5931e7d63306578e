import { Handler, Message, Tool } from "@heddle/core"
import { ScriptedModel } from "@heddle/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { afterEach, describe, expect, it, vi } from "vitest"
import { HandlerRegistry } from "../src/index.ts"
import { ctrlC, makePerson, scripted } from "./person.ts"
import { makeWorld, type Options, type World } from "./support.ts"

const agents = {
  "agents/reviewer.md": "---\ndescription: Reviews code.\n---\nYou review code.\n",
  "agents/writer.md": '---\nsharePatterns: ["project uses *"]\n---\nYou write.\n'
}

/** A chat with a person who does this, and a model that says what it was told last and how many messages there were before. */
const chat = (
  world: World,
  steps: Parameters<typeof makePerson>[0],
  options: Options & {
    readonly args?: ReadonlyArray<string>
    readonly script?: ScriptedModel.Script
    readonly isTerminal?: boolean
  } = {}
) => {
  const { args = [], isTerminal = true, script = echo, ...rest } = options
  const person = makePerson(steps, { isTerminal })
  const { provider, requests } = scripted(script)
  const result = world.heddle(["chat", "--model", "scripted/model", ...args], {
    lines: person.service,
    providers: [provider],
    ...rest
  })
  return { person, requests, result }
}

const echo: ScriptedModel.Script = ({ history, purpose }) =>
  purpose === "memory_summary" ? "SUMMARY" : `[${Message.text(history.at(-1)!)} ${history.length - 1}]`

afterEach(() => void vi.useRealTimers())

describe("what is said", () => {
  it("goes to the assistant that comes with the command, unless an agent is named", async () => {
    const world = makeWorld(agents)
    const first = chat(world, ["hello"])
    expect(await first.result).toMatchObject({ status: 0, out: "[hello 0]\n" })
    const second = chat(world, ["hello"], { args: ["reviewer"] })
    expect((await second.result).err).toContain("You talk to reviewer.")
    expect(JSON.stringify(second.requests()[0]!.instructions)).toContain("You review code.")
  })

  it("goes to another agent with @name, which sees of the conversation what its context mode says", async () => {
    const { out } = await chat(makeWorld(agents), [
      "our project uses React",
      "@reviewer alone",
      "@reviewer --context-mode shared not alone",
      '@reviewer "alone"',
      "@writer --context-mode=selective some",
      "@reviewer: --context-mode isolated -- --alone"
    ]).result
    expect(out.split("\n")).toEqual([
      "[our project uses React 0]",
      "[alone 0]",
      "[not alone 2]",
      "[alone 2]",
      "[some 2]",
      "[--alone 4]",
      ""
    ])
  })

  it("goes to another agent with /agents run, in the same forms", async () => {
    const { out } = await chat(makeWorld(agents), [
      "one",
      '/agents run reviewer "alone"',
      '/agents run reviewer --context-mode shared "say \\"yes\\""',
      "/agents run --context-mode shared reviewer -- --two"
    ]).result
    expect(out.split("\n")).toEqual(["[one 0]", "[alone 0]", '[say "yes" 2]', "[--two 4]", ""])
  })

  it("may have several lines, and begin with a doubled / or @", async () => {
    const { out } = await chat(makeWorld(agents), ["//usr is a path", "@@home", "one\\", "two", "", "three\\"]).result
    expect(out).toBe("[/usr is a path 0]\n[@home 2]\n[one\ntwo 4]\n[three 6]\n")
  })

  it("is told what is wrong with it, with what may be meant, and the chat goes on", async () => {
    const { err, out, status } = await chat(makeWorld(agents), [
      "@reviewr hi",
      "@reviewer",
      "@reviewer --context-mode",
      "@reviewer --context-mode sharde hi",
      "@reviewer --contextmode shared hi",
      "@reviewer --context-mode selective hi",
      "/agnets list",
      "/agents rum reviewer hi",
      "/usr/bin",
      "/agents info",
      "/agents clear reviewer --yse",
      "/history soon",
      "hello"
    ]).result
    expect({ out, status }).toEqual({ out: "[hello 0]\n", status: 0 })
    for (const said of [
      'unknown agent "reviewr": there are "assistant", "reviewer", "writer"; is "reviewer" meant?',
      "What is @reviewer to be told? @reviewer [--context-mode mode] text",
      "--context-mode says which: isolated, shared",
      'is "shared" meant?',
      'unknown option "--contextmode": there are "--context-mode"',
      "sharePatterns: expected one pattern at least",
      'is "/agents" meant?',
      'is "/agents run" meant?',
      "A text that begins with / is said with //.",
      "Which agent? A name stands behind the command.",
      'What is "--yse" here? There is --yes.',
      "n is a whole number from 1"
    ]) {
      expect(err).toContain(said)
    }
  })

  it("that fails is told of in one line, and the chat goes on", async () => {
    const { err, out, status } = await chat(makeWorld(), ["one", "two"], {
      script: [{ text: "Well", defect: new Error("broken\nin two") }, "fine"]
    }).result
    expect({ out, status }).toEqual({ out: "fine\n", status: 0 })
    expect(err).toMatch(/^Error: .*broken in two$/m)
  })

  it("reaches agents as their files are at the moment", async () => {
    const world = makeWorld()
    const { requests, result } = chat(world, [
      "@new hello",
      () => {
        world.write("agents/new.md", "You are new.")
        return "@new hello"
      },
      () => {
        world.write("agents/new.md", "You are not new any more.")
        return "@new hello"
      }
    ])
    expect(await result).toMatchObject({ out: "[hello 0]\n[hello 2]\n" })
    expect(requests().map(({ instructions }) => JSON.stringify(instructions).includes("not new"))).toEqual([
      false,
      true
    ])
  })
})

describe("a session", () => {
  it("has a name that says when it began, and how to go on with it is told at the end", async () => {
    const world = makeWorld(agents)
    const { err } = await chat(world, ["hello"], { args: ["reviewer"] }).result
    const [, name] = /^To go on: heddle chat reviewer --session (chat-\d{8}-\d{4}-\w{5})$/m.exec(err)!
    const again = await chat(world, ["and"], { args: ["--session", name!, "reviewer"] }).result
    expect(again.err).toContain(`Session "${name}" goes on: 1 exchange of @reviewer.`)
    expect(again.out).toBe("[and 2]\n")
  })

  it("of a name is a new one if there is none, and its name is quoted for the shell", async () => {
    const { err } = await chat(makeWorld(), ["hello"], { args: ["--session", "Ann's"] }).result
    expect(err).not.toContain("goes on")
    expect(err).toContain(String.raw`To go on: heddle chat --session 'Ann'\''s'`)
  })

  it("is the last one with --continue, and it is an error if there is none", async () => {
    const world = makeWorld()
    expect(await chat(world, [], { args: ["--continue"] }).result).toMatchObject({ status: 2 })
    await chat(world, ["one"], { args: ["--session", "z"] }).result
    await chat(world, ["one", "two"], { args: ["--session", "a"] }).result
    const { err, out } = await chat(world, ["three"], { args: ["--continue"] }).result
    expect(err).toContain('Session "a" goes on: 2 exchanges in the main conversation.')
    expect(out).toBe("[three 4]\n")
  })

  it("of another project is not seen", async () => {
    const world = makeWorld({ "one/.heddle/config.yaml": "", "two/.heddle/config.yaml": "" })
    await chat(world, ["one"], { in: "one", args: ["--session", "s"] }).result
    expect((await chat(world, ["two"], { in: "two", args: ["--session", "s"] }).result).out).toBe("[two 0]\n")
  })

  it("cannot be kept in a file that is no database: the chat does not begin", async () => {
    const world = makeWorld({
      "notes.db": "not a database, but some text that is longer than its header would be".repeat(20)
    })
    const { err, out, status } = await chat(world, ["hello"], { args: ["--db", "notes.db"] }).result
    expect({ out, status }).toEqual({ out: "", status: 1 })
    expect(err).toContain("is not a database")
  })
})

describe("commands", () => {
  it("/help tells of all of them, in two columns or, where it is narrow, in one", async () => {
    const wide = await chat(makeWorld(), ["/help"]).result
    expect(wide.out).toContain("/clear [--yes]            deletes the main conversation")
    const narrow = await chat(makeWorld(), ["/help"], { terminal: { columns: 20 } }).result
    expect(narrow.out).toContain("/clear [--yes]\n  deletes the main conversation")
  })

  it("/agents context shows and sets the context mode of an agent in this chat; so does --context-mode for the chat's own", async () => {
    const world = makeWorld({ ...agents, "agents/architect.md": "---\ncontextMode: hybrid\n---\nYou plan." })
    const { out } = await chat(
      world,
      [
        "hello",
        "/agents context reviewer",
        "/agents context architect",
        "/agents context reviewer fork",
        "@reviewer hello",
        "/agents context reviewer default",
        "@reviewer hello",
        "/agents context assistant"
      ],
      { args: ["--context-mode", "shared"] }
    ).result
    expect(out.split("\n")).toEqual([
      "[hello 0]",
      "reviewer: isolated (unless said)",
      "architect: hybrid (agents/architect.md)",
      "reviewer: fork (in this chat)",
      "[hello 2]",
      "reviewer: isolated (unless said)",
      "[hello 2]",
      "assistant: shared (in this chat)",
      ""
    ])
  })

  it("/history shows who said what, of the main conversation or of an agent's own", async () => {
    const { err, out } = await chat(makeWorld(agents), [
      "/history",
      "one",
      "@reviewer --context-mode shared two",
      "@reviewer alone",
      "/history",
      "/history 1",
      "/history @reviewer"
    ]).result
    expect(err).toContain("There is nothing in the main conversation yet.")
    expect(
      out
        .split("\n")
        .slice(3)
        .filter((line) => !line.startsWith("#"))
    ).toEqual([
      "> one",
      "assistant: [one 0]",
      "> two",
      "reviewer: [two 2]",
      "> two",
      "reviewer: [two 2]",
      "> alone",
      "reviewer: [alone 0]",
      ""
    ])
    expect(err).toContain("(1 before)")
  })

  it("/clear and /agents clear ask before anything is deleted", async () => {
    const { err, out } = await chat(makeWorld(agents), [
      "/clear",
      "one",
      "@reviewer one",
      "/clear",
      "no",
      "two",
      "/clear",
      "y",
      "three",
      "/agents clear reviewer --yes",
      "@reviewer two"
    ]).result
    expect(out).toBe("[one 0]\n[one 0]\n[two 2]\n[three 0]\n[two 0]\n")
    expect(err).toContain("There is nothing in the main conversation.")
    expect(err).toContain("Nothing was deleted.")
    expect(err).toContain("the conversation of @reviewer begins anew.")
  })

  it("/summary writes a summary where enough was said, and shows the one that there is", async () => {
    const { err, out, requests } = await (async () => {
      const { requests, result } = chat(makeWorld(), ["1", "/summary", "2", "3", "4", "/summary", "/summary"])
      return { ...(await result), requests: requests() }
    })()
    expect(err).toContain(
      "There is no summary: the main conversation has 1 exchange, and one is written when it has 4."
    )
    expect(out).toBe("[1 0]\n[2 2]\n[3 4]\n[4 6]\nSUMMARY\nSUMMARY\n")
    expect(err).toContain("(of the first 2 of 4 exchanges)")
    expect(requests.filter(({ purpose }) => purpose === "memory_summary")).toHaveLength(1)
  })

  it("/summary covers nothing that an agent which reads summaries still sees as it was said", async () => {
    const world = makeWorld({
      "agents/short.md": "---\nmemory: { strategy: summary, historyLimit: 3 }\n---\nBe short."
    })
    const { err } = await chat(world, ["1", "2", "3", "4", "/summary", "5", "/summary"]).result
    expect(err).toContain("has 4 exchanges, and one is written when it has 5.")
    expect(err).toContain("(of the first 2 of 5 exchanges)")
  })

  it("/summary says why none could be written", async () => {
    const { err, out } = await chat(makeWorld(), ["1", "2", "3", "4", "/summary", "5"], {
      script: (request, turn) => (request.purpose === "memory_summary" ? "" : `${turn}`)
    }).result
    expect(err).toContain("Error: No summary was written: the model said nothing.")
    expect(out).toContain("5\n")
  })

  it("/exit ends the chat", async () => {
    expect(await chat(makeWorld(), ["/exit", "hello"]).result).toMatchObject({ out: "", status: 0 })
  })
})

describe("the files of agents", () => {
  it("are listed, shown and explained", async () => {
    const { out } = await chat(makeWorld(agents), ["/agents", "/agents info reviewer"]).result
    expect(out).toContain("reviewer   Reviews code.")
    expect(out).toContain("file: agents/reviewer.md (project)")
  })

  it("are explained with what their models would be told in this session", async () => {
    const { out } = await chat(makeWorld(agents), [
      "our project uses React",
      "/explain",
      "/agents context reviewer fork",
      "/explain reviewer"
    ]).result
    const [, ofAssistant, ofReviewer] = out.split(/\(assistant, |\(reviewer, /)
    expect(ofAssistant).toMatch(/contextMode +shared {2}\(\(built-in\)\)/)
    expect(ofAssistant).toContain("our project uses React")
    expect(ofReviewer).toMatch(/contextMode +fork {2}\(this chat\)/)
    expect(ofReviewer).toContain("our project uses React")
  })

  it("are made by what is said and answered, and the agent can be talked to at once", async () => {
    const world = makeWorld()
    const { err, out } = await chat(world, [
      '/agents create poet --title "A poet" --context-mode shared --tools read_file,list_files --body "You write poems."',
      "@poet hello",
      "/agents context poet",
      "/agents create poet --body more",
      "/agents create bard --context-mode near --body x",
      "/agents create bard --scope world --body x",
      "/agents create bard --boddy x",
      "/agents create bard --body"
    ]).result
    expect(out).toBe("[hello 0]\npoet: shared (agents/poet.md)\n")
    expect(err).toContain("Made agents/poet.md. Talk to it: @poet …")
    expect(err).toContain('There is an agent "poet" already, in agents/poet.md.')
    expect(err).toContain('unknown context mode "near"')
    expect(err).toContain("--scope says whose agent it is: project or user.")
    expect(err).toContain('is "--body" meant?')
    expect(err).toContain("--body says nothing.")
    expect(readFileSync(`${world.project}/agents/poet.md`, "utf8")).toContain("You write poems.")
  })

  it("are asked about where something is not said; Ctrl-C leaves it", async () => {
    const world = makeWorld()
    const { err } = await chat(world, ["/agents create", "poet", ctrlC(), "/agents info poet"]).result
    expect(err).toContain("Cancelled.")
    expect(err).toContain('unknown agent "poet"')
  })

  it("are checked: all that is wrong with them is told", async () => {
    const world = makeWorld({ ...agents, "agents/broken.md": "---\ncontextMod: shared\n---\nHello.\n" })
    const { err, out } = await chat(world, [
      "/agents validate",
      "/agents validate writer",
      "@broken hello",
      () => {
        world.write("agents/broken.md", "---\ncontextMode: share\n---\nHello.\n")
        return "@broken hello"
      }
    ]).result
    expect(out).toContain("agents/broken.md:2:1: error:")
    expect(err).toContain("Error: 1 error and 1 warning in 2 of 3 files.")
    expect(err).toContain('is "contextMode" meant?')
    expect(err).toContain('is "shared" meant?')
  })

  it("are deleted after a question", async () => {
    const world = makeWorld(agents)
    const { err } = await chat(world, [
      "/agents delete reviewer",
      "n",
      "/agents delete reviewer",
      "y",
      "/agents delete writer --yes",
      "/agents delete assistant",
      "@reviewer hello"
    ]).result
    expect(err).toMatch(
      /Nothing was deleted\.\nDeleted agents\/reviewer\.md\.\nDeleted agents\/writer\.md\.\nError: .*it has no file\.\nError: unknown agent "reviewer"/
    )
  })

  it("say in the configuration which agent a chat is with", async () => {
    const world = makeWorld({ ...agents, ".heddle/config.yaml": "agent: writer\n" })
    const { err } = await chat(world, ["hello"]).result
    expect(err).toContain("You talk to writer.")
    expect((await chat(world, ["hello"], { args: ["nobody"] }).result).status).toBe(2)
  })
})

describe("Ctrl-C", () => {
  it("while an agent runs cancels the run, of which nothing is kept, and the chat goes on", async () => {
    const { person, requests, result } = chat(makeWorld(), ["one", "wait", "two"], {
      script: ({ history }) => {
        const said = Message.text(history.at(-1)!)
        if (said !== "wait") return `[${said} ${history.length - 1}]`
        person.press()
        return { text: "Well", delay: "1 hour" }
      }
    })
    const { err, out, status } = await result
    expect({ out, status }).toEqual({ out: "[one 0]\n[two 2]\n", status: 0 })
    expect(err).toContain("Cancelled. Press Ctrl-C again to leave.")
    expect(requests()).toHaveLength(3)
  })

  it("once more while the run is not yet at its end leaves the chat without waiting for it", async () => {
    const handlers = {
      stubborn: HandlerRegistry.define({
        description: "Does not let itself be cancelled.",
        options: Schema.Struct({}),
        make: () => Handler.beforeModel((history) => Effect.as(Effect.uninterruptible(stuck), history))
      })
    }
    const { person, result } = chat(
      makeWorld({ "agents/slow.md": "---\nhandlers: [stubborn]\n---\nSlow." }),
      ["@slow hello", "never said"],
      { handlers }
    )
    const stuck = Effect.async<void>(() => {
      person.press()
      person.press()
    })
    expect(await result).toMatchObject({ out: "", status: 0 })
  })

  it("at the prompt clears the line; a second one at an empty line within 2 s leaves", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const later = (milliseconds: number) => () => {
      vi.setSystemTime(Date.now() + milliseconds)
      return ctrlC()
    }
    const { err, out } = await chat(makeWorld(), [
      ctrlC("hel"),
      ctrlC("lo"),
      later(2001),
      "still here",
      "and here\\",
      ctrlC(),
      later(1999),
      "not any more"
    ]).result
    expect(out).toBe("[still here 0]\n")
    expect(err.match(/Press Ctrl-C again to leave/g)).toHaveLength(4)
  })
})

describe("questions", () => {
  const removed: Array<string> = []
  const tools = HandlerRegistry.define({
    description: "Gives a tool that changes things.",
    options: Schema.Struct({}),
    make: () =>
      Handler.tools(
        Tool.make({
          name: "remove",
          description: "Removes a thing.",
          parameters: Schema.Struct({ thing: Schema.String }),
          annotations: { destructive: true },
          execute: ({ thing }) => {
            removed.push(thing)
            return "removed"
          }
        })
      )
  })
  const files = { "agents/cleaner.md": "---\nhandlers: [tools]\n---\nYou clean." }
  const script: ScriptedModel.Script = ({ history }) =>
    history.at(-1)!.role === "user"
      ? { calls: [{ tool: "remove", arguments: { thing: Message.text(history.at(-1)!) } }] }
      : Message.toolCalls(history.at(-1)!)[0]!.outcome._tag
  const cleaning = (steps: Parameters<typeof makePerson>[0], options: Parameters<typeof chat>[2] = {}) => {
    removed.length = 0
    return chat(makeWorld(files), steps, { args: ["cleaner"], script, handlers: { tools }, ...options })
  }

  it("of a tool are asked in the chat, and an answer is no message", async () => {
    const { person, result } = cleaning(["one", "yes", "two", "no", "three"])
    expect(await result).toMatchObject({ out: "Succeeded\nDenied\nDenied\n", status: 0 })
    expect(removed).toEqual(["one"])
    // What is typed is drawn with the last line of the question alone.
    expect(person.asked[1]).toEqual({ prompt: "Allow it? [y]es, [n]o, [a]lways: ", isAnswer: true })
  })

  it("are not asked any more in this chat after an always", async () => {
    const { result } = cleaning(["one", "always", "two"])
    expect(await result).toMatchObject({ out: "Succeeded\nSucceeded\n" })
    expect(removed).toEqual(["one", "two"])
  })

  it("that are answered by Ctrl-C cancel the run", async () => {
    const { result } = cleaning(["one", ctrlC("y"), "/history"])
    const { err, out } = await result
    expect(out).toBe("")
    expect(err).toContain("Cancelled.")
    expect(removed).toEqual([])
  })

  it("are not asked where the lines are typed by nobody; --allow stands for the answer", async () => {
    const denied = cleaning(["one", "yes"], { isTerminal: false })
    expect(await denied.result).toMatchObject({ out: "Denied\nDenied\n", status: 0 })
    const allowed = cleaning(["one"], { isTerminal: false, args: ["cleaner", "--allow", "rem*"] })
    expect(await allowed.result).toMatchObject({ out: "Succeeded\n" })
  })
})

describe("lines that nobody types", () => {
  it("are said one by one, and the status is 1 if one came to nothing", async () => {
    const good = await chat(makeWorld(), ["one", "two"], { isTerminal: false }).result
    expect(good).toMatchObject({ out: "[one 0]\n[two 2]\n", status: 0 })
    expect(good.err).not.toContain("/help")
    const bad = await chat(makeWorld(), ["@nobody hi", "/clear", "one", "/clear", "two"], { isTerminal: false }).result
    expect(bad).toMatchObject({ out: "[one 0]\n[two 2]\n", status: 1 })
    expect(bad.err).toContain("With --yes at its end, the command does not ask.")
    expect(bad.err).toContain("heddle: 2 of 5 lines came to nothing.")
  })
})

it("the history of lines is not written into the project", async () => {
  const world = makeWorld(agents)
  await chat(world, ["hello"]).result
  expect(() => readFileSync(`${world.project}/chat-history`)).toThrow("ENOENT")
})
