import { describe, expect, it } from "@effect/vitest"
import { Agent, Handler, Instructions, Message, Pipeline, Tool, Tools } from "@heddle/core"
import { ContextMode, ContextSection, Conversations, Memory, MemoryErrors, Session } from "@heddle/memory"
import { ScriptedModel } from "@heddle/testing"
import { Context, Deferred, Effect, Layer } from "effect"
import { agentNamed, answers, inWorld, kept, lastSeen, note, section, talked, world } from "./support.ts"

const main = Conversations.main("s")
const own = (agent: string) => Conversations.own("s", agent)
const theMain = (...questions: ReadonlyArray<string>) => questions.flatMap((text) => [text, `re: ${text}`])

describe("isolated", () => {
  it.effect("is what an agent has that says nothing: it sees and extends its own conversation", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "our project uses React")
          const agent = agentNamed("coder")
          yield* Agent.run(agent, "one")
          expect(lastSeen(yield* w.asked)).toEqual(["one"])
          const result = yield* Agent.run(agent, "two")
          expect(lastSeen(yield* w.asked)).toEqual(["one", "re: one", "two"])
          expect(result.warnings).toBe(undefined)
          expect(yield* kept(own("coder"))).toEqual([theMain("one"), theMain("two")])
          expect(yield* kept(main)).toEqual([theMain("our project uses React")])
        })
      )
    })
  )

  it.effect("keeps calls of tools with their outcomes", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* Agent.run(agentNamed("coder"), "note it")
          expect(yield* kept(own("coder"))).toEqual([["note it", "[note: Succeeded] one moment", "re: note it"]])
        })
      )
    })
  )
})

describe("shared", () => {
  it.effect("sees and extends the main conversation, without calls of tools unless they are asked for", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "our project uses React")
          const mode = ContextMode.shared()
          yield* Agent.run(agentNamed("coder", { mode }), "note it")
          expect(lastSeen(yield* w.asked)).toEqual([
            ...theMain("our project uses React"),
            "note it",
            "[note: Succeeded] one moment"
          ])
          yield* Agent.run(agentNamed("chief", { mode: ContextMode.shared({ toolCalls: true }) }), "note it, too")
          expect(yield* kept(main)).toEqual([
            theMain("our project uses React"),
            theMain("note it"),
            ["note it, too", "[note: Succeeded] one moment", "re: note it, too"]
          ])
          expect(yield* kept(own("coder"))).toEqual([])
        })
      )
    })
  )

  it.effect("keeps the answer of a tool that returns directly", () =>
    Effect.gen(function* () {
      const w = yield* world(() => ({ calls: [{ tool: "note" }] }))
      const agent = Agent.make({
        name: "coder",
        tools: Tools.make(
          Tool.make({ name: "note", description: "Notes it.", returnDirectly: true, execute: () => "noted" })
        ),
        handlers: Memory.handler({ mode: "shared" })
      })
      yield* inWorld(w)(
        Effect.gen(function* () {
          expect((yield* Agent.run(agent, "go")).text).toBe("noted")
          expect(yield* kept(main)).toEqual([["go", "noted"]])
        })
      )
    })
  )
})

describe("hybrid", () => {
  const asked = (input: string) => `coder was asked: ${input}`
  const report = (mode: Parameters<typeof ContextMode.hybrid>[0], input = "note it") =>
    Effect.gen(function* () {
      const w = yield* world()
      return yield* inWorld(w)(
        Effect.gen(function* () {
          const agent = agentNamed("coder", { mode: ContextMode.hybrid(mode) })
          const result = yield* Agent.run(agent, input)
          return { result, main: yield* kept(main), own: yield* kept(own("coder")) }
        })
      )
    })

  it.effect("sees and extends its own conversation, and reports the answer to the main one", () =>
    Effect.gen(function* () {
      const { main, own } = yield* report({})
      expect(own).toEqual([["note it", "[note: Succeeded] one moment", "re: note it"]])
      expect(main).toEqual([[asked("note it"), "coder answered: re: note it"]])
    })
  )

  it.effect("reports without the answer, with the tools, in few characters, or in other words", () =>
    Effect.gen(function* () {
      expect((yield* report({ summary: false })).main).toEqual([[asked("note it"), "coder answered."]])
      expect((yield* report({ toolCalls: true })).main).toEqual([
        [asked("note it"), "coder answered: re: note it\nTools that coder called: note (Succeeded)"]
      ])
      expect((yield* report({ maxCharacters: 3 })).main).toEqual([[asked("not …"), "coder answered: re: …"]])
      const format = (report: ContextMode.Report) => `${report.agent}/${report.answer}/${report.toolCalls.length}`
      expect((yield* report({ format })).main).toEqual([[asked("note it"), "coder/re: note it/1"]])
      const effectful = (report: ContextMode.Report) => Effect.succeed(report.input)
      expect((yield* report({ format: effectful })).main).toEqual([[asked("note it"), "note it"]])
    })
  )

  it.effect("a report that cannot be written does not cost the answer", () =>
    Effect.gen(function* () {
      const broken = () => {
        throw new Error("no words")
      }
      const { main, own, result } = yield* report({ format: broken })
      expect(result.text).toBe("re: note it")
      expect(result.warnings).toEqual([{ handler: "memory", error: new Error("no words") }])
      expect(own.length).toBe(1)
      expect(main).toEqual([])
    })
  )

  const failing = (mode: Parameters<typeof ContextMode.hybrid>[0]) =>
    Effect.gen(function* () {
      const w = yield* world([{ text: "one moment", calls: [{ tool: "note" }] }])
      return yield* inWorld(w)(
        Effect.gen(function* () {
          const error = yield* Effect.flip(Agent.run(agentNamed("coder", { mode: ContextMode.hybrid(mode) }), "go"))
          return { error, main: yield* kept(main), own: yield* kept(own("coder")) }
        })
      )
    })

  it.effect("a run that fails is reported, with the tools that were called, and fails all the same", () =>
    Effect.gen(function* () {
      const { error, main, own } = yield* failing({ toolCalls: true })
      expect(error._tag).toBe("ModelError")
      expect(own).toEqual([])
      expect(main).toEqual([
        [asked("go"), expect.stringMatching(/^coder failed: .+\nTools that coder called: note \(Succeeded\)$/s)]
      ])
      expect((yield* failing({ errors: false })).main).toEqual([])
    })
  )

  it.effect("a run that is interrupted is not reported", () =>
    Effect.gen(function* () {
      const w = yield* world([{ text: "late", delay: "1 hour" }])
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* Agent.run(agentNamed("coder", { mode: "hybrid" }), "go").pipe(Effect.raceFirst(Effect.yieldNow()))
          expect(yield* kept(main)).toEqual([])
        })
      )
    })
  )
})

describe("selective", () => {
  const seen = (patterns: ReadonlyArray<ContextMode.Pattern>, options?: Parameters<typeof ContextMode.selective>[1]) =>
    Effect.gen(function* () {
      const w = yield* world()
      return yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "Our project uses React.", "What about lunch?", "Tech stack: Node\nand more", "Bye")
          const agent = agentNamed("coder", { mode: ContextMode.selective(patterns, options) })
          yield* Agent.run(agent, "one")
          yield* Agent.run(agent, "two")
          expect((yield* kept(main)).length).toBe(4)
          expect(yield* kept(own("coder"))).toEqual([theMain("one"), theMain("two")])
          return lastSeen(yield* w.asked).slice(0, -3)
        })
      )
    })
  const react = theMain("Our project uses React.")
  const stack = theMain("Tech stack: Node\nand more")

  it.effect("sees the exchanges that match, then its own, and extends its own", () =>
    Effect.gen(function* () {
      expect(yield* seen(["project uses *", "tech stack: *"])).toEqual([...react, ...stack])
      expect(yield* seen(["nothing like it"])).toEqual([])
      expect(yield* seen(["*"])).toEqual([...react, ...theMain("What about lunch?"), ...stack, ...theMain("Bye")])
      expect(yield* seen([({ position }) => position === 4])).toEqual(theMain("Bye"))
    })
  )

  it.effect("its window is one of exchanges that match", () =>
    Effect.gen(function* () {
      const patterns = ["project uses *", "tech stack: *"]
      expect(yield* seen(patterns, { window: { exchanges: 1 } })).toEqual(stack)
      expect(yield* seen(patterns, { window: { exchanges: 0 } })).toEqual([])
      expect(yield* seen(patterns, { window: { tokens: 30 } })).toEqual(stack)
    })
  )

  it.effect("a predicate that throws fails the run, and says which it is", () =>
    Effect.gen(function* () {
      const broken = () => {
        throw new Error("odd")
      }
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a")
          const agent = agentNamed("coder", { mode: ContextMode.selective(["x", broken]) })
          const error = yield* Effect.flip(Agent.run(agent, "now"))
          expect(error).toEqual(new MemoryErrors.InvalidMemory({ problems: ["mode.patterns[1] threw: Error: odd"] }))
        })
      )
    })
  )

  it.effect("finds what is further back than a page", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "tech stack: Node", ...Array.from({ length: 250 }, (_, i) => `chat ${i}`))
          yield* Agent.run(agentNamed("coder", { mode: ContextMode.selective(["tech stack: *"]) }), "one")
          expect(lastSeen(yield* w.asked)).toEqual([...theMain("tech stack: Node"), "one"])
        })
      )
    })
  )

  it.effect("looks no further back than it is told, and reads no more than that", () =>
    Effect.gen(function* () {
      const reads: Array<number | undefined> = []
      const counted = Layer.map(Conversations.layerMemory(), (context) => {
        const store = Context.get(context, Conversations.Conversations)
        const read: typeof store.read = (key, range) =>
          Effect.tap(store.read(key, range), ({ exchanges }) =>
            Effect.sync(() => key.agent === undefined && reads.push(exchanges.length))
          )
        return Context.make(Conversations.Conversations, { ...store, read })
      })
      const w = yield* world(answers, counted)
      const asking = (lookBack?: number) =>
        Effect.gen(function* () {
          reads.length = 0
          const mode = ContextMode.selective(["tech stack: *"], lookBack === undefined ? {} : { lookBack })
          yield* Agent.run(agentNamed("coder"), "one", Memory.call({ mode, settings: { historyLimit: 1 } }))
          return lastSeen(yield* w.asked).includes("tech stack: Node")
        })
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "tech stack: Node", ...Array.from({ length: 250 }, (_, i) => `chat ${i}`))
          expect(yield* asking(251)).toBe(true)
          expect(yield* asking(250)).toBe(false)
          expect(reads).toEqual([100, 100, 50])
          expect(yield* asking(1)).toBe(false)
          expect(reads).toEqual([1])
          // Of the last 1,000 unless said.
          yield* talked(main, ...Array.from({ length: 749 }, (_, i) => `chat ${i}`))
          expect(yield* asking()).toBe(true)
          yield* talked(main, "chat")
          expect(yield* asking()).toBe(false)
          expect(reads).toEqual(Array.from({ length: 10 }, () => 100))
        })
      )
    })
  )
})

describe("fork", () => {
  it.effect("sees a copy of the main conversation and never writes back", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a", "b")
          const agent = agentNamed("coder", { mode: "fork" })
          yield* Agent.run(agent, "one")
          yield* Agent.run(agent, "two")
          expect(lastSeen(yield* w.asked)).toEqual([...theMain("a", "b"), "two"])
          expect(yield* kept(main)).toEqual([theMain("a"), theMain("b")])
          expect(yield* kept(own("coder"))).toEqual([theMain("one"), theMain("two")])
        })
      )
    })
  )

  const script: ScriptedModel.Script = (request, turn) => {
    const question = Message.text(request.history.findLast(({ role }) => role === "user")!)
    if (request.history.at(-1)!.role === "assistant" || request.tools.size === 0) return `re: ${question}`
    return question === "plan"
      ? { text: "let me see", calls: [{ tool: "note" }, { tool: "planner", arguments: { input: "think" } }] }
      : (answers as Extract<ScriptedModel.Script, (...args: never) => unknown>)(request, turn)
  }
  const planner = (mode: ContextMode.Input) => Agent.make({ name: "planner", handlers: Memory.handler({ mode }) })
  const chief = (mode: ContextMode.Input, inner: ContextMode.Input = "fork") =>
    Agent.make({
      name: "chief",
      tools: Tools.make(note, Agent.asTool(planner(inner))),
      handlers: Memory.handler({ mode }),
      toolConcurrency: 1
    })

  it.effect("sees the exchange that is going on in the main conversation, with its calls closed", () =>
    Effect.gen(function* () {
      const w = yield* world(script)
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a")
          yield* Agent.run(chief("shared"), "plan")
          const forked = (yield* w.asked).find(({ tools }) => tools.size === 0)!
          expect(
            forked.history
              .slice(0, -1)
              .every(
                (m) => m.role === "user" || Message.toolCalls(m).every(({ outcome }) => outcome._tag !== "Pending")
              )
          ).toBe(true)
          expect(lastSeen([forked])).toEqual([
            ...theMain("a"),
            "plan",
            "[note: Succeeded] [planner: Failed] let me see",
            "think"
          ])
          expect(yield* kept(main)).toEqual([theMain("a"), theMain("plan")])
        })
      )
    })
  )

  it.effect("an exchange that goes on in an agent's own conversation is not seen", () =>
    Effect.gen(function* () {
      const w = yield* world(script)
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a")
          yield* Agent.run(chief("isolated"), "plan")
          const forked = (yield* w.asked).find(({ tools }) => tools.size === 0)!
          expect(lastSeen([forked])).toEqual([...theMain("a"), "think"])
        })
      )
    })
  )

  it.effect("the exchange of another session or tenant is not seen from inside of it", () =>
    Effect.gen(function* () {
      for (const elsewhere of [{ id: "s", tenant: "other" }, { id: "t" }]) {
        const w = yield* world(script)
        const ask = Tool.make({
          name: "planner",
          description: "Asks.",
          execute: () =>
            Agent.run(planner("fork"), "think").pipe(
              Session.within(elsewhere),
              Effect.map(({ text }) => text),
              Effect.orDie
            )
        })
        const agent = Agent.make({
          name: "chief",
          tools: Tools.make(note, ask),
          handlers: Memory.handler({ mode: "shared" })
        })
        yield* inWorld(w)(
          Effect.gen(function* () {
            yield* talked(main, "a")
            yield* Agent.run(agent, "plan")
            const forked = (yield* w.asked).find(({ tools }) => tools.size === 0)!
            expect(lastSeen([forked])).toEqual(["think"])
          })
        )
      }
    })
  )

  it.effect("no exchange goes through a run of another tenant into a fork inside of it, nor is lost behind it", () =>
    Effect.gen(function* () {
      const asking: ScriptedModel.Script = ({ history, tools }) =>
        history.at(-1)!.role === "user" && tools.size > 0 ? { calls: [{ tool: tools.names[0]! }] } : "done"
      const w = yield* world(asking)
      const asks = <E, R>(agent: Agent.Agent<string, E, R>, input: string, session: string) =>
        Tool.make({
          name: agent.name,
          description: "Asks.",
          execute: () => Agent.run(agent, input).pipe(Session.within(session), Effect.as("asked"), Effect.orDie)
        })
      const host = <E, R>(name: string, tool: Tool.Tool<E, R>) =>
        Agent.make({ name, tools: Tools.make(tool), handlers: Memory.handler({ mode: "shared" }) })
      const fork = Agent.make({ name: "fork", handlers: Memory.handler({ mode: "fork" }) })
      // a in s, in it b in t, in it forks in t and in s.
      for (const [session, seen] of [
        ["t", ["question b", "[fork: Failed]", "fork question"]],
        ["s", ["question a", "[b: Failed]", "fork question"]]
      ] as const) {
        const b = host("b", asks(fork, "fork question", session))
        const a = host("a", asks(b, "question b", "t"))
        yield* inWorld(w)(Agent.run(a, "question a"))
        const forked = (yield* w.asked).findLast(({ tools }) => tools.size === 0)!
        expect(lastSeen([forked]).slice(-3)).toEqual(seen)
      }
    })
  )

  it.effect("what goes on after the run has ended sees the exchange once", () =>
    Effect.gen(function* () {
      const over = yield* Deferred.make<void>()
      const seen = yield* Deferred.make<ReadonlyArray<string>>()
      const w = yield* world(script)
      yield* inWorld(w)(
        Effect.gen(function* () {
          const later = Deferred.await(over).pipe(
            Effect.zipRight(Agent.run(planner("fork"), "later")),
            Effect.zipRight(w.asked),
            Effect.flatMap((asked) => Deferred.succeed(seen, lastSeen(asked))),
            Effect.orDie
          )
          const tool = Tool.make({
            name: "note",
            description: "Later.",
            execute: () => Effect.as(Effect.forkDaemon(later), "")
          })
          const agent = Agent.make({
            name: "chief",
            tools: Tools.make(tool),
            handlers: Memory.handler({ mode: "shared" })
          })
          yield* Agent.run(agent, "note it")
          yield* Deferred.succeed(over, undefined)
          expect(yield* Deferred.await(seen)).toEqual(["note it", "re: note it", "later"])
        })
      )
    })
  )

  it.effect("no other mode sees the exchange that is going on", () =>
    Effect.gen(function* () {
      for (const mode of ["isolated", "shared", "hybrid", "summarized"] as const) {
        const w = yield* world(script)
        yield* inWorld(w)(
          Effect.gen(function* () {
            yield* Agent.run(chief("shared", mode), "plan")
            const inner = (yield* w.asked).find(({ tools }) => tools.size === 0)!
            expect(lastSeen([inner])).toEqual(["think"])
          })
        )
      }
    })
  )
})

describe("precedence", () => {
  it.effect("the mode of a call stands over that of the agent, for this run and none inside of it", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a")
          const agent = agentNamed("coder", { mode: "shared" })
          yield* Agent.run(agent, "one", Memory.call({ mode: "isolated" }))
          expect(lastSeen(yield* w.asked)).toEqual(["one"])
          yield* Agent.run(agent, "two", { maxSteps: 3, ...Memory.call({ mode: ContextMode.fork() }) })
          expect(lastSeen(yield* w.asked)).toEqual([...theMain("a"), "two"])
          yield* Agent.run(agent, "three", Memory.call({}))
          expect(yield* kept(main)).toEqual([theMain("a"), theMain("three")])
        })
      )
    })
  )
})

describe("the section", () => {
  const sections = (mode: ContextMode.Input, options?: Omit<Memory.Options, "mode">) =>
    Effect.gen(function* () {
      const w = yield* world()
      return yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a")
          const agent = agentNamed("coder", { ...options, mode })
          yield* Agent.run(agent, "one")
          yield* Agent.run(agent, "two")
          return (yield* w.asked).map((request) => section(request))
        })
      )
    })

  it.effect("tells the model what it sees: another text for each mode, the first time and later", () =>
    Effect.gen(function* () {
      const modes = ["isolated", "shared", "hybrid", "summarized", "fork", ContextMode.selective(["x"])] as const
      const all = yield* Effect.forEach(modes, (mode) => sections(mode))
      for (const [i, mode] of modes.entries()) {
        const name = typeof mode === "string" ? mode : mode._tag
        for (const told of all[i]!) expect(told).toEqual([expect.stringContaining(`Context mode: ${name}.`)])
      }
      expect(new Set(all.map(([first]) => first![0])).size).toBe(modes.length)
      const [first, later] = all[0]!
      expect(first![0]).toContain("This is your first exchange here")
      expect(first![0]).toContain("main conversation is not visible")
      expect(later![0]).toContain("You see your own earlier exchanges")
      expect(all[1]![0]![0]).toContain("You see the main conversation")
    })
  )

  it.effect("can be taken out and written anew, by an option or by a handler", () =>
    Effect.gen(function* () {
      expect(yield* sections("isolated", { section: false })).toEqual([[], []])
      const short = ({ mode, shown, total }: ContextSection.ContextView) => `${mode}: ${shown} of ${total}`
      expect(yield* sections("isolated", { section: short, settings: { historyLimit: 0 } })).toEqual([
        ["isolated: 0 of 0"],
        ["isolated: 0 of 1"]
      ])
      const w = yield* world()
      const agent = Agent.make({
        name: "coder",
        handlers: Pipeline.make(
          Memory.handler(),
          Handler.mapInstructions(Instructions.replace(ContextSection.source, "Mine."))
        )
      })
      yield* inWorld(w)(Agent.run(agent, "go"))
      expect(section((yield* w.asked)[0]!)).toEqual(["Mine."])
    })
  )

  /** What a conversation is to the run: empty; there, but not shown; shown in part; as a whole; in a summary too. */
  const extents = ["empty", "unseen", "part", "all", "summary", "beginning", "gap"] as const
  type Extent = (typeof extents)[number]
  const shownOf: Record<Extent, number> = { empty: 0, unseen: 0, part: 1, all: 2, summary: 0, beginning: 1, gap: 1 }
  const hasSummary = (extent: Extent) => extent === "summary" || extent === "beginning" || extent === "gap"
  const through: Record<Extent, number> = { empty: 0, unseen: 0, part: 0, all: 0, summary: 2, beginning: 1, gap: 1 }
  const size = (extent: Extent) => (extent === "empty" ? 0 : extent === "gap" ? 3 : 2)

  /** What is told of a run that has exchanges of 16 tokens, so many of which fit. */
  const told = (mode: ContextMode.Name, main: Extent, own: Extent) =>
    Effect.gen(function* () {
      const w = yield* world()
      return yield* inWorld(w)(
        Effect.gen(function* () {
          const store = yield* Conversations.Conversations
          const fill = (key: Conversations.ConversationKey, extent: Extent) =>
            Effect.gen(function* () {
              yield* talked(key, ...["tea", "tea", "tea"].slice(0, size(extent)))
              const { info } = yield* store.read(key)
              if (through[extent] > 0)
                yield* store.summarize(key, { text: "in short", through: through[extent] }, info!)
            })
          yield* fill(Conversations.main("s"), main)
          yield* fill(Conversations.own("s", "coder"), own)
          // What comes before the conversation that a window is of has the limit of the settings.
          const window = (extent: Extent) => ({ tokens: 16 * shownOf[extent] })
          const isOwn = mode === "isolated" || mode === "hybrid"
          const options = { window: window(isOwn ? own : main) }
          const value =
            mode === "selective" ? ContextMode.selective(["tea"], options) : { ...ContextMode.make(mode), ...options }
          const isSummary = hasSummary(own) || (mode !== "selective" && hasSummary(main))
          const settings = {
            strategy: isSummary ? ("summary" as const) : ("window" as const),
            summaryEnabled: false,
            historyLimit: shownOf[own]
          }
          yield* Agent.run(agentNamed("coder", { mode: value, settings }), "now")
          return section((yield* w.asked)[0]!)[0]!.replace(`Context mode: ${mode}. `, "")
        })
      )
    })

  const noMain = "The main conversation is not visible to you."
  const ask = (mode: ContextMode.Name) =>
    `If you are asked about something that you do not see, do not guess: say that you run in ${mode} context mode and cannot see it, and ask for the text that is meant.`
  const notAdded = "Your answer is not added to the main conversation."
  const nothingYet = "Nothing was said in the main conversation yet."

  const ownAlone: Record<Extent, string> = {
    empty: "This is your first exchange here, so there is nothing earlier that you could refer to.",
    unseen: "You had exchanges here before, but none of them is shown to you.",
    part: "You see your own earlier exchanges here and can refer to them. Only a part of them is shown to you.",
    all: "You see your own earlier exchanges here and can refer to them.",
    summary: "You see a summary of your own earlier exchanges here and can refer to them.",
    beginning: "You see a summary of your own earlier exchanges here, and the last of them, and can refer to them.",
    gap: "You see a summary of your own earlier exchanges here, and the last of them, and can refer to them. Only a part of them is shown to you."
  }
  const ofMain: Record<Extent, string> = {
    empty: nothingYet,
    unseen: "Nothing that was said in the main conversation is shown to you.",
    part: "You see the main conversation and can refer to what was said in it. Only a part of it is shown to you.",
    all: "You see the main conversation and can refer to what was said in it.",
    summary: "You see a summary of the main conversation and can refer to what was said in it.",
    beginning:
      "You see a summary of the beginning of the main conversation and its last exchanges and can refer to what was said in it.",
    gap: "You see a summary of the beginning of the main conversation and its last exchanges and can refer to what was said in it. Only a part of it is shown to you."
  }

  it.effect("says what is true of the one conversation that is seen: none there, none shown, a part, all", () =>
    Effect.gen(function* () {
      for (const extent of extents) {
        expect(yield* told("isolated", "all", extent)).toBe(`${noMain} ${ownAlone[extent]} ${ask("isolated")}`)
        expect(yield* told("hybrid", "all", extent)).toBe(
          `${noMain} ${ownAlone[extent]} A short report of your answer is added to the main conversation. ${ask("hybrid")}`
        )
        expect(yield* told("shared", extent, "empty")).toBe(
          `${ofMain[extent]} What is asked and answered now becomes a part of it.`
        )
        expect(yield* told("fork", extent, "empty")).toBe(
          `You work on a copy of the main conversation as it was when you were called. ${ofMain[extent]} Nothing that you say is added to it.`
        )
      }
    })
  )

  const ownBehind = (own: Extent, isBehind: boolean) =>
    own === "empty"
      ? "This is your first exchange here."
      : isBehind
        ? ownAlone[own].replace("You see", "After that you see")
        : ownAlone[own]
  const plain = ["empty", "unseen", "part", "all"] as const

  it.effect("says what is true of both conversations, of each for itself", () =>
    Effect.gen(function* () {
      const matches = "Of the main conversation you see only exchanges that match your topics"
      const matching: Record<(typeof plain)[number], string> = {
        empty: nothingYet,
        unseen: `${matches}; at the moment none is shown to you.`,
        part: `${matches}, with gaps between them. Do not take what you see for all that was said.`,
        all: "You see the main conversation: all that was said in it matches your topics."
      }
      const gist: Record<Extent, string> = {
        empty: nothingYet,
        unseen: ofMain.unseen,
        part: "You see the last exchanges of the main conversation.",
        all: "You see the main conversation.",
        summary: "Of the main conversation you see a summary. Details may be missing.",
        beginning: "Of the main conversation you see a summary and the last exchanges. Details may be missing.",
        gap: "Of the main conversation you see a summary and the last exchanges. Details may be missing. Only a part of it is shown to you."
      }
      for (const own of plain) {
        for (const main of plain) {
          const behind = ownBehind(own, shownOf[main] > 0)
          expect(yield* told("selective", main, own)).toBe(`${matching[main]} ${behind} ${notAdded}`)
        }
        for (const main of extents) {
          const behind = ownBehind(own, shownOf[main] > 0)
          expect(yield* told("summarized", main, own)).toBe(`${gist[main]} ${behind} ${notAdded}`)
        }
      }
    })
  )

  it.effect("what goes on in the main conversation is a part of the copy that a fork sees", () =>
    Effect.gen(function* () {
      const views: Array<ContextSection.ContextView> = []
      const seeing = (view: ContextSection.ContextView) => (views.push(view), ContextSection.text(view))
      const fork = Agent.make({ name: "fork", handlers: Memory.handler({ mode: "fork", section: seeing }) })
      const chief = Agent.make({
        name: "chief",
        tools: Tools.make(Agent.asTool(fork)),
        handlers: Memory.handler({ mode: "shared" })
      })
      const w = yield* world(({ history, tools }) =>
        history.at(-1)!.role === "user" && tools.size > 0
          ? { calls: [{ tool: "fork", arguments: { input: "x" } }] }
          : "ok"
      )
      yield* inWorld(w)(Agent.run(chief, "go"))
      const all = { total: 1, shown: 1, hidden: 0, summarized: false }
      expect(views).toEqual([{ mode: "fork", agent: "fork", first: false, ...all, main: all }])
    })
  )

  it.effect("whoever writes it is told of both conversations, together and of each", () =>
    Effect.gen(function* () {
      const views: Array<ContextSection.ContextView> = []
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "tea", "coffee", "tea")
          const agent = agentNamed("coder", {
            mode: ContextMode.selective(["tea"], { window: { exchanges: 1 } }),
            section: (view) => (views.push(view), "")
          })
          yield* Agent.run(agent, "one")
          yield* Agent.run(agent, "two")
        })
      )
      const ofMain = { total: 3, shown: 1, hidden: 2, summarized: false }
      const own = { total: 1, shown: 1, hidden: 0, summarized: false }
      expect(views[1]).toEqual({
        mode: "selective",
        agent: "coder",
        first: false,
        total: 4,
        shown: 2,
        hidden: 2,
        summarized: false,
        main: ofMain,
        own
      })
      expect(views[0]!.own).toEqual({ ...own, total: 0, shown: 0 })
      expect(views[0]!.first).toBe(true)
    })
  )
  it.effect("says when only a part is shown", () =>
    Effect.gen(function* () {
      const w = yield* world()
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(main, "a", "b", "c")
          yield* Agent.run(agentNamed("coder", { mode: "shared", settings: { historyLimit: 2 } }), "go")
          expect(section((yield* w.asked)[0]!)[0]).toContain("Only a part of it is shown")
          const summary = { strategy: "summary", historyLimit: 2 } as const
          const tokens = ContextMode.shared({ window: { tokens: 11 } })
          const told = (mode: ContextMode.Input) =>
            Effect.gen(function* () {
              yield* Agent.run(agentNamed("coder", { mode, settings: summary }), "go")
              return section((yield* w.asked).at(-1)!)[0]
            })
          const store = yield* Conversations.Conversations
          const { info } = yield* store.read(main)
          yield* store.summarize(main, { text: "in short", through: 1 }, info!)
          expect(yield* told("shared")).not.toContain("Only a part")
          expect(yield* told(tokens)).toContain("Only a part")
        })
      )
    })
  )
})
