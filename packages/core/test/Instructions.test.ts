import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Handler, Instructions, Tool, Tools } from "@heddle/core"
import { Arbitraries, ScriptedModel } from "@heddle/testing"
import { Effect, Equal, FastCheck, Fiber, Hash, Stream, TestClock } from "effect"

const { append, concat, empty, fromSections, make, prepend, remove, render, replace, scoped } = Instructions
const any = Arbitraries.instructions
const source = FastCheck.constantFrom("", "agent", "tone", "constructor", "nobody")

describe("instructions are a monoid", () => {
  it.prop("concat is associative", [any, any, any], ([a, b, c]) => {
    expect(concat(concat(a, b), c)).toEqual(concat(a, concat(b, c)))
  })
  it.prop("empty is its unit on both sides", [any], ([a]) => {
    expect(concat(a, empty)).toBe(a)
    expect(Equal.equals(concat(empty, a), a)).toBe(true)
  })
  it.prop("append and prepend are concat with one section", [any, Arbitraries.text, source], ([a, text, source]) => {
    expect(append(a, text, source)).toEqual(concat(a, make(text, source)))
    expect(prepend(a, text, source)).toEqual(concat(make(text, source), a))
    expect(a.pipe(append(text, source))).toEqual(append(a, text, source))
    expect(a.pipe(prepend(text, source))).toEqual(prepend(a, text, source))
    expect(concat(a)(a)).toEqual(concat(a, a))
  })
  it.prop("append never touches what it is given", [any, Arbitraries.text], ([a, text]) => {
    const before = structuredClone(a.sections)
    append(a, text)
    expect(a.sections).toEqual(before)
  })
})

describe("changing sections", () => {
  const both = fromSections([
    { source: "agent", text: "Base." },
    { source: "tone", text: "Be kind." },
    { source: "agent", text: "More." },
    { source: "tone", text: "Be brief." }
  ])
  it("replace puts the text where the first section of the source was, and drops its others", () => {
    expect(replace(both, "tone", "Be quick.").sections).toEqual([
      { source: "agent", text: "Base." },
      { source: "tone", text: "Be quick." },
      { source: "agent", text: "More." }
    ])
  })
  it("replace adds where there is none, and removes by an empty text", () => {
    expect(both.pipe(replace("new", "Text.")).sections.at(-1)).toEqual({ source: "new", text: "Text." })
    expect(replace(both, "tone", "")).toEqual(remove(both, "tone"))
  })
  it.prop("remove leaves no section of the source and all others in order", [any, source], ([a, name]) => {
    expect(remove(a, name).sections).toEqual(a.sections.filter((section) => section.source !== name))
    expect(remove(name)(a)).toEqual(remove(a, name))
  })
  it.prop("replacing twice is replacing once", [any, source, Arbitraries.text], ([a, name, text]) => {
    const once = replace(a, name, text)
    expect(replace(once, name, text)).toEqual(once)
  })
  it("map changes each section, and leaves out those without text", () => {
    const mapped = Instructions.map(both, (s) =>
      s.source === "tone" ? { ...s, text: "" } : { ...s, text: `${s.text}!` }
    )
    expect(render(mapped)).toBe("Base.!\n\nMore.!")
    expect(both.pipe(Instructions.map((s) => s))).toEqual(both)
  })
  it.prop("attribute names the sections without a source and no others", [any], ([a]) => {
    const named = Instructions.attribute(a, "me")
    expect(named.sections).toEqual(a.sections.map((s) => (s.source === "" ? { ...s, source: "me" } : s)))
    expect(Instructions.attribute(named, "other")).toBe(named)
    expect(a.pipe(Instructions.attribute("me"))).toEqual(named)
  })
  it("sections without text are left out", () => {
    expect(make("")).toBe(empty)
    expect(fromSections([{ source: "a", text: "" }])).toBe(empty)
    expect(append(both, "")).toBe(both)
    expect(render(empty)).toBe("")
  })
})

describe("a text that is quoted", () => {
  const { quoted } = Instructions
  it("stands between tags, with attributes", () => {
    expect(quoted("passage", "Text.")).toBe("<passage>\nText.\n</passage>")
    expect(quoted("passage", "Text.", { number: 2, source: "a.md" })).toBe(
      '<passage number="2" source="a.md">\nText.\n</passage>'
    )
  })
  it("stays as it is, but for tags of that name", () => {
    expect(quoted("a", "x < y & <b>z</b> <c/>")).toBe("<a>\nx < y & <b>z</b> <c/>\n</a>")
    expect(quoted("passage", "</passage>")).toBe("<passage>\n&lt;/passage>\n</passage>")
  })
  const piece = FastCheck.constantFrom("<", "/", " ", "\n", "quote", "QUOTE", "Quote_d", ">", '"', "x", "&lt;")
  const pieces = FastCheck.array(piece, { maxLength: 20 }).map((all) => all.join(""))
  it.prop("cannot leave its tags or begin others, however they are written", [pieces], ([text]) => {
    const all = quoted("quote", text)
    expect(all.match(/<\s*\/?\s*quote/gi)).toEqual(["<quote", "</quote"])
    expect(all.replaceAll("&lt;", "<")).toBe(`<quote>\n${text.replaceAll("&lt;", "<")}\n</quote>`)
  })
  it.prop("has attributes that cannot leave their quotes", [pieces], ([value]) => {
    const [first] = quoted("quote", "x", { of: value }).split("\nx\n")
    expect(first).toMatch(/^<quote of="[^"<>\n\r]*">$/)
    // What a service has sent has the type that somebody hopes for.
    const [listed] = quoted("quote", "x", { of: [`">${value}`] as never }).split("\nx\n")
    expect(listed).toMatch(/^<quote of="[^"<>\n\r]*">$/)
  })
})

describe("as values", () => {
  it.prop("instructions of the same sections are equal and have one hash", [any], ([a]) => {
    const b = fromSections(a.sections.map((section) => ({ ...section })))
    expect(Equal.equals(a, b)).toBe(true)
    expect(Hash.hash(a)).toBe(Hash.hash(b))
    expect(Equal.equals(a, append(a, "more"))).toBe(false)
  })
  it("instructions that differ in text or source are not equal", () => {
    expect(Equal.equals(make("a", "x"), make("a", "y"))).toBe(false)
    expect(Equal.equals(make("a", "x"), make("b", "x"))).toBe(false)
    expect(Equal.equals(make("a"), "a")).toBe(false)
  })
  it("isInstructions knows them", () => {
    expect([make("a"), empty, "a", { sections: [] }, null].map(Instructions.isInstructions)).toEqual([
      true,
      true,
      false,
      false,
      false
    ])
  })
  it("the text is rendered once per value", () => {
    let reads = 0
    const section = {
      source: "a",
      get text() {
        reads++
        return "text"
      }
    }
    const value = fromSections([section])
    const before = reads
    expect([render(value), render(value), render(value)]).toEqual(["text", "text", "text"])
    expect(reads - before).toBe(1)
  })
})

describe("scoped instructions", () => {
  const agent = Agent.make({ name: "a", instructions: "Base." })
  const said = (requests: ReadonlyArray<ChatModel.ModelRequest>) => requests.map((r) => render(r.instructions))
  const told = <E>(
    program: Effect.Effect<unknown, E, ChatModel.ChatModel>,
    script: ScriptedModel.Script = () => "ok"
  ) =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(script)
      yield* Effect.provide(program, model.layer)
      return said(yield* model.requests)
    })
  const one = scoped(append("One.", "one"))
  const two = scoped(append("Two.", "two"))

  it.effect("change the instructions of their run and not of the agent", () =>
    Effect.gen(function* () {
      expect(yield* told(one(Agent.run(agent, "go")))).toEqual(["Base.\n\nOne."])
      expect(yield* told(Agent.run(agent, "go"))).toEqual(["Base."])
    })
  )

  it.effect("have a source of their own, whoever changes the instructions after them", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(["ok"])
      const changed = Agent.make({ name: "a", instructions: "Base.", handlers: Handler.instructions("More.") })
      yield* Effect.provide(Agent.run(changed, "go").pipe(scoped(append("One."))), model.layer)
      const [request] = yield* model.requests
      expect(request!.instructions.sections.map(({ source, text }) => [source, text])).toEqual([
        ["a", "Base."],
        ["scoped", "One."],
        ["instructions", "More."]
      ])
    })
  )

  it.effect("reach a run in an Effect, and a run in a Stream", () =>
    Effect.gen(function* () {
      const wrapped = Effect.map(Agent.run(agent, "go"), (result) => result.text)
      expect(yield* told(one(wrapped))).toEqual(["Base.\n\nOne."])
      expect(yield* told(Stream.runDrain(one(Agent.stream(agent, "go"))))).toEqual(["Base.\n\nOne."])
      expect(yield* told(one(Stream.runDrain(Agent.stream(agent, "go"))))).toEqual(["Base.\n\nOne."])
    })
  )

  it.effect("nest: the outer change is applied first, directly or through an Effect or Stream", () =>
    Effect.gen(function* () {
      const expected = ["Base.\n\nTwo.\n\nOne."]
      const run = Agent.run(agent, "go")
      expect(yield* told(run.pipe(one, two))).toEqual(expected)
      expect(yield* told(run.pipe(one, Effect.asVoid, two))).toEqual(expected)
      expect(yield* told(run.pipe(Effect.asVoid, one, two))).toEqual(expected)
      expect(yield* told(Stream.runDrain(Agent.stream(agent, "go").pipe(one, two)))).toEqual(expected)
      expect(yield* told(two(Stream.runDrain(one(Agent.stream(agent, "go")))))).toEqual(expected)
    })
  )

  it.effect("reach every run that begins inside, each once", () =>
    Effect.gen(function* () {
      const both = Effect.zip(Agent.run(agent, "go"), Agent.run(agent, "go"))
      expect(yield* told(one(both))).toEqual(["Base.\n\nOne.", "Base.\n\nOne."])
    })
  )

  it.effect("are not seen by an agent started inside, as a tool or in a hook", () =>
    Effect.gen(function* () {
      const inner = Agent.make({ name: "inner", instructions: "Inner." })
      const outer = Agent.make({
        name: "outer",
        instructions: "Outer.",
        tools: Tools.make(Agent.asTool(inner)),
        handlers: Handler.beforeAgent((run) => Effect.as(Agent.run(inner, "first"), run), "starting")
      })
      const script: ScriptedModel.Script = (request) =>
        render(request.instructions).startsWith("Inner") || request.history.length > 1
          ? "ok"
          : { calls: [{ tool: "inner", arguments: { input: "x" } }] }
      const expected = ["Inner.", "Outer.\n\nOne.", "Inner.", "Outer.\n\nOne."]
      expect(yield* told(one(Agent.run(outer, "go")), script)).toEqual(expected)
      expect(yield* told(one(Effect.asVoid(Agent.run(outer, "go"))), script)).toEqual(expected)
      expect(yield* told(Stream.runDrain(one(Agent.stream(outer, "go"))), script)).toEqual(expected)
    })
  )

  it.effect("are seen by the handlers, which come after", () =>
    Effect.gen(function* () {
      const handled = Agent.make({ name: "a", instructions: "Base.", handlers: Handler.instructions("Last.") })
      expect(yield* told(one(Agent.run(handled, "go")))).toEqual(["Base.\n\nOne.\n\nLast."])
    })
  )

  it.effect("hold for each of many runs at once, and for no other", () =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make((request) => ({ text: render(request.instructions), delay: "1 millis" }))
      const names = Array.from({ length: 100 }, (_, i) => `user ${i}.`)
      const all = Effect.forEach(
        names,
        (name) => Effect.map(Agent.run(agent, "go").pipe(scoped(append(name, "user"))), (result) => result.text),
        { concurrency: "unbounded" }
      )
      const fiber = yield* Effect.fork(Effect.provide(all, model.layer))
      yield* TestClock.adjust("1 millis")
      const texts = yield* Fiber.join(fiber)
      expect(texts).toEqual(names.map((name) => `Base.\n\n${name}`))
    })
  )

  it.effect("current reads what is in force: in hooks, in tools, and nothing outside", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const look = (where: string) =>
        Effect.map(Instructions.current, (now) => void seen.push(`${where}: ${render(now).replaceAll("\n\n", " ")}`))
      const tool = Tool.make({ name: "t", description: "t", execute: () => look("tool") })
      const watched = Agent.make({
        name: "a",
        instructions: "Base.",
        tools: Tools.make(tool),
        handlers: Handler.make("looking", {
          beforeAgent: (run) =>
            Effect.as(look("beforeAgent"), { ...run, instructions: append(run.instructions, "H.") }),
          beforeModel: (history) => Effect.as(look("beforeModel"), history),
          wrapModelCall: (request, next) => Call.unwrap(Effect.as(look("wrapModelCall"), next(request)))
        })
      })
      const model = ScriptedModel.layer([{ calls: [{ tool: "t" }] }, "ok"])
      yield* Effect.provide(one(Agent.run(watched, "go")), model)
      yield* look("outside")
      expect(seen).toEqual([
        "beforeAgent: Base. One.",
        "beforeModel: Base. One. H.",
        "wrapModelCall: Base. One. H.",
        "tool: Base. One. H.",
        "beforeModel: Base. One. H.",
        "wrapModelCall: Base. One. H.",
        "outside: "
      ])
    })
  )
})
