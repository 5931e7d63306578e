import { Conversations } from "@heddle/memory"
import { Message } from "@heddle/core"
import { SqlConversations } from "@heddle/sql"
import * as libsql from "@heddle/sql/libsql"
import { HistoryStore, type RunRecord } from "@heddle/workflow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import Database from "libsql"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { ofProject } from "../src/internal/workflow/history.ts"
import { makePerson, scripted } from "./person.ts"
import { makeWorld, type World } from "./support.ts"

const exchange = (question: string, answer: string): Conversations.NewExchange => ({
  agent: "clerk",
  messages: [
    Message.user(question),
    Message.assistant([
      Message.toolCall("1", "search", { words: question }, Message.succeeded({ found: "`x`" })),
      { _tag: "Text", text: answer }
    ])
  ]
})

/** Keeps some exchanges for a tenant. */
const keep = (
  filename: string,
  keys: ReadonlyArray<readonly [Conversations.ConversationKey, Conversations.NewExchange]>
) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const store = yield* Conversations.Conversations
      for (const [key, exchange] of keys) yield* store.append(key, exchange)
    }).pipe(Effect.provide(Layer.provide(SqlConversations.layer, libsql.layer({ filename }))))
  )

/** A project with a session `s`, in which there are a main conversation, one of an agent's own and a run. */
const begun = async (): Promise<World> => {
  const world = makeWorld({
    "agents/clerk.md": "You answer.",
    "w.yaml": "name: greeting\nnode: { type: agent, name: ask, agent: clerk }\n"
  })
  const { project } = world
  await keep(path.join(project, "x.db"), [
    [Conversations.main("s", project), exchange("one?", "1")],
    [Conversations.main("s", project), exchange("two?", "\u001b[31m2")],
    [Conversations.own("s", "reviewer", project), exchange("three?", "3")],
    [Conversations.main("of another project", `${project}-2`), exchange("four?", "4")]
  ])
  await world.heddle(["workflow", "run", "w.yaml", "hello", "--session", "s", "--db", "x.db"])
  return world
}

const db = ["--db", "x.db"]

describe("an exchange that cannot be kept", () => {
  /** A world whose model lets nothing more be written once it is asked. */
  const full = () => {
    const world = makeWorld({ "agents/clerk.md": "You answer." })
    const { provider } = scripted(() => {
      const file = new Database(path.join(world.project, "x.db"))
      file.exec(
        "CREATE TRIGGER IF NOT EXISTS full BEFORE INSERT ON heddle_exchanges BEGIN SELECT RAISE(FAIL, 'no room'); END"
      )
      file.close()
      return "At nine."
    })
    return { ...world, options: { providers: [provider], variables: { HEDDLE_MODEL: "scripted/model" } } }
  }
  const lost = { status: 1, out: "At nine.\n", err: expect.stringMatching(/^! not kept: The file .*x\.db .*no room/) }

  it("fails a run in a session, whose answer is shown all the same", async () => {
    const { heddle, options, project } = full()
    const result = await heddle(["run", "clerk", "When?", "--session", "s", ...db], options)
    expect(result).toEqual(lost)
    expect(result.err).toContain("heddle: The answer was not kept")
    expect(result.err.replaceAll(path.join(project, "x.db"), "")).not.toContain(project)
    expect(result.err).not.toContain("append")
    // A run that belongs to no session has nothing to keep.
    expect((await heddle(["run", "clerk", "When?", ...db], options)).status).toBe(0)
  })

  it("fails a line of a chat", async () => {
    const { heddle, options } = full()
    const lines = makePerson(["When?"], { isTerminal: false }).service
    const result = await heddle(["chat", "clerk", "--session", "s", ...db], { ...options, lines })
    expect(result).toEqual(lost)
    expect(result.err).toContain("Error: The answer was not kept")
    expect(result.err).toContain("1 of 1 lines came to nothing")
  })
})

describe("the file in which conversations are kept", () => {
  const rights = (file: string) => (statSync(file).mode & 0o777).toString(8)
  const run = ["run", "assistant", "Hello", "--session", "s"]

  it("is for its user alone, with its folder and what stands beside it, if the command makes it", async () => {
    const { heddle, home } = makeWorld()
    const folder = path.join(home, ".local/share/heddle")
    const seen: Record<string, string> = {}
    const { provider } = scripted(() => {
      for (const name of readdirSync(folder)) seen[name] = rights(path.join(folder, name))
      return "Hello."
    })
    await heddle([...run, "--model", "scripted/model"], { providers: [provider] })
    expect(rights(folder)).toBe("700")
    expect(seen).toEqual({ "heddle.db": "600", "heddle.db-shm": "600", "heddle.db-wal": "600" })
  })

  it("keeps the rights that somebody has given it", async () => {
    const { heddle, project } = makeWorld()
    mkdirSync(path.join(project, "kept"))
    writeFileSync(path.join(project, "kept/x.db"), "")
    chmodSync(path.join(project, "kept"), 0o755)
    chmodSync(path.join(project, "kept/x.db"), 0o644)
    expect((await heddle([...run, "--db", "kept/x.db"])).status).toBe(0)
    expect([rights(path.join(project, "kept")), rights(path.join(project, "kept/x.db"))]).toEqual(["755", "644"])
  })

  it.runIf(existsSync("/proc/self"))("is told of where it cannot be made", async () => {
    const { heddle } = makeWorld()
    const variables = { XDG_DATA_HOME: "/proc/x" }
    const { err, status } = await heddle(run, { variables })
    expect({ err, status }).toEqual({ status: 1, err: expect.stringContaining("The file /proc/x/heddle/heddle.db ") })
    expect((await heddle(["doctor"], { variables })).out).toContain("✗ data folder: /proc cannot be written")
  })

  it("is told of in the same words by every command if a newer version has written it", async () => {
    const { heddle, project } = await begun()
    const file = path.join(project, "x.db")
    const newer = new Database(file)
    newer.exec("INSERT INTO heddle_layouts VALUES (999)")
    newer.close()
    mkdirSync(path.join(project, "notes"))
    const message = `The file ${file} was written by a newer version of heddle. Update heddle, or name another file with --db.`
    for (const args of [[...run], ["sessions", "list"], ["index", "notes"]]) {
      expect(await heddle([...args, ...db])).toMatchObject({ status: 1, err: `heddle: ${message}\n` })
    }
    expect((await heddle(["doctor", ...db])).out).toContain(`✗ database: ${message}`)
  })
})

describe("sessions list", () => {
  it("lists the sessions of this project alone, with what is in them", async () => {
    const { heddle } = await begun()
    const { out, status } = await heddle(["sessions", "list", ...db])
    expect(status).toBe(0)
    expect(out.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "…")).toMatch(/^s {2}… {2}\d+ exchanges {2}1 run {2}.*reviewer\n$/)
    const asJson = await heddle(["sessions", "list", "--json", ...db])
    expect(JSON.parse(asJson.out)).toMatchObject({ session: "s", runs: 1 })
  })

  it("says so where there are none, and makes no database for it", async () => {
    const { heddle, project } = makeWorld()
    const { err, out, status } = await heddle(["sessions", "list", ...db])
    expect({ out, status }).toEqual({ out: "", status: 0 })
    expect(err).toContain("no sessions")
    expect(existsSync(path.join(project, "x.db"))).toBe(false)
  })

  it("has all of many, over several pages", async () => {
    const { heddle, project } = makeWorld()
    const many = Array.from({ length: 450 }, (_, i) => `session ${i}`)
    await keep(
      path.join(project, "x.db"),
      many.map((name) => [Conversations.main(name, project), exchange("Hi", "Hello")] as const)
    )
    const { out } = await heddle(["sessions", "list", ...db])
    expect(out.trim().split("\n")).toHaveLength(450)
  })

  it("what does not fit stands below the name, and nothing steers the terminal", async () => {
    const { heddle, project } = makeWorld()
    await keep(path.join(project, "x.db"), [[Conversations.main("a\u001b[2Jname", project), exchange("Hi", "Hello")]])
    const { out } = await heddle(["sessions", "list", ...db], { terminal: { columns: 20 } })
    expect(out).not.toContain("\u001b")
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(20)
  })
})

describe("sessions show", () => {
  it("shows what was said and done, and nothing of it steers the terminal", async () => {
    const { heddle } = await begun()
    const { out } = await heddle(["sessions", "show", "s", ...db])
    expect(out).toContain("main conversation, 2 exchanges")
    expect(out).toContain('> one?\n  search({"words":"one?"}) succeeded: {"found":"`x`"}\nclerk: 1\n')
    expect(out).toContain("own conversation of reviewer, 1 exchange")
    expect(out).toContain("run of greeting")
    expect(out).not.toContain("\u001b")
  })

  it("shows the last ones, or one agent's own conversation", async () => {
    const { heddle } = await begun()
    const last = await heddle(["sessions", "show", "s", "--last", "1", ...db])
    expect(last.out).not.toContain("one?")
    expect(last.out).toContain("the last 1 of 2")
    const own = await heddle(["sessions", "show", "s", "--agent", "reviewer", ...db])
    expect(own.out).toContain("three?")
    expect(own.out).not.toContain("two?")
    const unknown = await heddle(["sessions", "show", "s", "--agent", "reviewr", ...db])
    expect(unknown).toMatchObject({ status: 2 })
    expect(unknown.err).toContain('is "reviewer" meant?')
  })

  it("with --json has a line for each conversation, exchange and run", async () => {
    const { heddle } = await begun()
    const { out } = await heddle(["sessions", "show", "s", "--json", ...db])
    const tags = out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly _tag: string })._tag)
    expect(tags.filter((tag) => tag !== "Exchange" && tag !== "Conversation")).toEqual(["Run"])
    expect(tags.slice(0, 3)).toEqual(["Conversation", "Exchange", "Exchange"])
  })

  it("a session that is not there is told of with the names that are near", async () => {
    const { heddle } = await begun()
    for (const command of ["show", "export", "delete"]) {
      const { err, out, status } = await heddle(["sessions", command, "ss", ...db])
      expect({ out, status }).toEqual({ out: "", status: 2 })
      expect(err).toContain('unknown session "ss": there are "s"')
    }
  })

  it("a session of another project is none of this one", async () => {
    const { heddle } = await begun()
    const { err, status } = await heddle(["sessions", "show", "of another project", ...db])
    expect(status).toBe(2)
    expect(err).toContain('there are "s"')
  })
})

describe("sessions export", () => {
  it("as JSON has everything, also what takes several pages", async () => {
    const { heddle, project } = makeWorld()
    const key = Conversations.main("long", project)
    await keep(
      path.join(project, "x.db"),
      Array.from({ length: 230 }, (_, i) => [key, exchange(`question ${i}`, `answer ${i}`)] as const)
    )
    const { out } = await heddle(["sessions", "export", "long", "--format", "json", ...db])
    const { conversations } = JSON.parse(out) as {
      readonly conversations: ReadonlyArray<{ readonly exchanges: ReadonlyArray<Conversations.Exchange> }>
    }
    const all = conversations[0]!.exchanges
    expect(all.map(({ position }) => position)).toEqual(Array.from({ length: 230 }, (_, i) => i + 1))
    expect(all.at(-1)!.messages).toEqual(exchange("question 229", "answer 229").messages)
  })

  it("as markdown has what was said, and calls of tools with their outcomes, as they were", async () => {
    const { heddle } = await begun()
    const { out } = await heddle(["sessions", "export", "s", ...db])
    expect(out).toContain("# s\n\n## Main conversation\n\n### 1. ")
    expect(out).toContain('**Tool search:**\n\n```json\n{\n  "words": "one?"\n}\n```\n\nSucceeded:\n')
    expect(out).toContain("**clerk:**\n\n\u001b[31m2")
    expect(out).toContain("## Own conversation of reviewer")
    expect(out).toContain("### Run of greeting")
  })

  it("no text of a tool closes the fence that it stands in", async () => {
    const { heddle, project } = makeWorld()
    const outcome = Message.succeeded("```\n# out\n````")
    await keep(path.join(project, "x.db"), [
      [
        Conversations.main("s", project),
        { agent: "a", messages: [Message.user("x"), Message.assistant([Message.toolCall("1", "t", {}, outcome)])] }
      ]
    ])
    const { out } = await heddle(["sessions", "export", "s", ...db])
    expect(out).toContain("`````text\n```\n# out\n````\n`````")
  })
})

describe("sessions delete", () => {
  it("asks first", async () => {
    const { heddle } = await begun()
    const no = await heddle(["sessions", "delete", "s", ...db], { answers: ["no"] })
    expect(no).toMatchObject({ status: 0, err: "Nothing was deleted.\n" })
    const yes = await heddle(["sessions", "delete", "s", ...db], { answers: ["y"] })
    expect(yes).toMatchObject({ status: 0 })
    expect((await heddle(["sessions", "list", ...db])).out).toBe("")
  })

  it("without a person needs --yes, and leaves other projects alone", async () => {
    const world = await begun()
    const { heddle, project } = world
    expect(await heddle(["sessions", "delete", "s", ...db])).toMatchObject({ status: 2 })
    expect((await heddle(["sessions", "show", "s", ...db])).status).toBe(0)
    expect(await heddle(["sessions", "delete", "s", "--yes", ...db])).toMatchObject({ status: 0 })
    expect((await heddle(["sessions", "show", "s", ...db])).status).toBe(2)
    const file = new Database(path.join(project, "x.db"))
    expect(file.prepare("SELECT session FROM heddle_conversations").all()).toEqual([{ session: "of another project" }])
    file.close()
  })
})

it("a session that is not there is told of with the nearest one, in whole sentences", async () => {
  const { heddle } = await begun()
  const { err } = await heddle(["sessions", "show", "ss", ...db])
  expect(err).toBe('heddle: unknown session "ss": there are "s"; is "s" meant? `heddle sessions list` lists them.\n')
})

describe("a database file", () => {
  it("that is damaged is told of, and left as it is", async () => {
    const { heddle, project } = await begun()
    const file = path.join(project, "x.db")
    const bytes = readFileSync(file)
    bytes.fill(0x5a, 100, 40_000)
    writeFileSync(file, bytes)
    const { err, out, status } = await heddle(["sessions", "list", ...db])
    expect({ out, status }).toEqual({ out: "", status: 1 })
    expect(err).toMatch(/is damaged|is not a database/)
    expect(err).not.toMatch(/\n\s+at /)
  })

  it("that a newer version has written to is told of, and left as it is", async () => {
    const { heddle, project } = await begun()
    const file = new Database(path.join(project, "x.db"))
    file.exec("INSERT INTO heddle_layouts (layout) VALUES (99)")
    file.close()
    const { err, status } = await heddle(["sessions", "list", ...db])
    expect(status).toBe(1)
    expect(err).toContain("newer version of heddle")
  })

  it("that is a folder is told of", async () => {
    const { heddle, project } = makeWorld()
    mkdirSync(path.join(project, "x.db"))
    const { err, status } = await heddle(["sessions", "list", ...db])
    expect(status).toBe(1)
    expect(err).toContain("is a folder")
  })
})

it("the history of a project has its own sessions alone, page by page", async () => {
  const record = (sessionId: string, runId: string): RunRecord.RunRecord => ({
    runId,
    sessionId,
    workflow: "w",
    status: "completed",
    startedAt: 0,
    endedAt: 1,
    steps: []
  })
  const program = Effect.gen(function* () {
    const store = yield* HistoryStore.HistoryStore
    const [one, two, three] = ["/a", "/a b", '/a","'].map((root) => ofProject(root)(store))
    for (const name of ["x", "y", 'z"]', "x\n"]) yield* one!.append(record(name, "1"))
    yield* two!.append(record("x", "1"))
    yield* three!.append(record("x", "1"))
    const pages = []
    let after: string | undefined
    do {
      const page: HistoryStore.SessionPage = yield* one!.sessions({ limit: 1, ...(after !== undefined && { after }) })
      pages.push(page.sessions.map(({ sessionId }) => sessionId))
      after = page.next
    } while (after !== undefined)
    expect(pages.flat().toSorted()).toEqual(["x", "x\n", "y", 'z"]'])
    expect((yield* two!.sessions({ limit: 10 })).sessions.map(({ sessionId }) => sessionId)).toEqual(["x"])
    expect(yield* three!.remove("x")).toBe(true)
    expect((yield* one!.last("x", 5, ["completed"])).map(({ sessionId }) => sessionId)).toEqual(["x"])
    expect(yield* three!.last("x", 5, ["completed"])).toEqual([])
  })
  await Effect.runPromise(Effect.provide(program, HistoryStore.layerMemory()))
})
