import { Agent, Call, ChatModel, Handler, Instructions, Message, Tool, Tools } from "@heddle/core"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Schema } from "effect"
import { OfflineModel } from "@heddle/models"

const model = OfflineModel.make()
const reply = (fields: Partial<ChatModel.ModelRequest>) => ChatModel.run(model.call(ChatModel.request(fields)))
const textOf = (reply: ChatModel.ModelReply) => Message.text(Message.assistant(reply.content))
const callsIn = (reply: ChatModel.ModelReply) => Message.toolCalls(Message.assistant(reply.content))
const called = (reply: ChatModel.ModelReply) => callsIn(reply).map(({ arguments: args, name }) => [name, args])
const ask = (question: string, fields: Partial<ChatModel.ModelRequest> = {}) =>
  reply({ ...fields, history: [...(fields.history ?? []), Message.user(question)] })

const tool = <P, I>(
  name: string,
  description: string,
  parameters: Schema.Schema<P, I>,
  annotations: Partial<Tool.Annotations> = { readOnly: true }
) => Tool.make({ name, description, parameters, annotations, execute: () => "done" })

const search = tool("search_notes", "Searches the notes.", Schema.Struct({ query: Schema.String }))
const read = tool("read_note", "Reads a note.", Schema.Struct({ path: Schema.String }))
const weather = tool("weather", "The weather in a city.", Schema.Struct({ city: Schema.String }))
const noteTools = Tools.make(search, read)

const asked = (question: string, ...calls: ReadonlyArray<Message.ToolCall>) => [
  Message.user(question),
  Message.assistant(calls)
]

describe("choosing tools", () => {
  it.effect("a search is called with the telling words of the question", () =>
    Effect.gen(function* () {
      expect(called(yield* ask("Where do the blue herons nest?", { tools: noteTools }))).toEqual([
        ["search_notes", { query: "blue herons nest" }]
      ])
    })
  )

  it.effect("what a search has found is read, nearest to the question first and never twice", () =>
    Effect.gen(function* () {
      const found = [
        { path: "a.md", text: "about ducks" },
        { path: "b.md", text: "where herons nest" }
      ]
      const history = asked(
        "Where do herons nest?",
        Message.toolCall("call-1", "search_notes", { query: "herons nest" }, Message.succeeded(found))
      )
      const next = yield* reply({ history, tools: noteTools })
      expect(called(next)).toEqual([
        ["read_note", { path: "b.md" }],
        ["read_note", { path: "a.md" }]
      ])
      const settled = callsIn(next).map((call) => ({ ...call, outcome: Message.succeeded("Herons nest in trees.") }))
      const last = yield* reply({ history: [...history, Message.assistant(settled)], tools: noteTools })
      expect(callsIn(last)).toEqual([])
      expect(textOf(last)).toBe("Herons nest in trees. (b.md)")
    })
  )

  it.effect("a question for what there is of a thing lists that thing, and no other", () =>
    Effect.gen(function* () {
      const tools = Tools.make(tool("list_notes", "Lists the notes.", Schema.Struct({})), search)
      expect(called(yield* ask("Which notes are there?", { tools }))[0]).toEqual(["list_notes", {}])
      expect(called(yield* ask("Which herons are there?", { tools }))).toEqual([["search_notes", { query: "herons" }]])
    })
  )

  it.effect("a path in the question goes to the tool that reads", () =>
    Effect.gen(function* () {
      expect(called(yield* ask("What is in notes/herons.md?", { tools: noteTools }))).toEqual([
        ["read_note", { path: "notes/herons.md" }]
      ])
    })
  )

  it.effect("a name in the question fills a parameter", () =>
    Effect.gen(function* () {
      const tools = Tools.make(weather)
      expect(called(yield* ask("What is the weather in New York?", { tools }))).toEqual([
        ["weather", { city: "New York" }]
      ])
      expect(called(yield* ask("weather in berlin", { tools }))).toEqual([["weather", { city: "berlin" }]])
    })
  )

  it.effect("numbers, booleans and choices are found in the question; what is optional and not said is left out", () =>
    Effect.gen(function* () {
      const book = tool(
        "book_table",
        "Books a table.",
        Schema.Struct({
          guests: Schema.Int,
          area: Schema.Literal("inside", "terrace"),
          vegan: Schema.optional(Schema.Boolean),
          note: Schema.optional(Schema.String)
        })
      )
      expect(called(yield* ask("Book a vegan table for 4 guests on the terrace", { tools: Tools.make(book) }))).toEqual(
        [["book_table", { guests: 4, area: "terrace", vegan: true }]]
      )
      expect(called(yield* ask("Book a table for 4 guests", { tools: Tools.make(book) }))).toEqual([])
    })
  )

  it.effect("two numbers fill two parameters in their order", () =>
    Effect.gen(function* () {
      const add = tool("add", "Adds two numbers.", Schema.Struct({ a: Schema.Number, b: Schema.Number }), {})
      expect(called(yield* ask("What is 1 + 2?", { tools: Tools.make(add) }))).toEqual([["add", { a: 1, b: 2 }]])
    })
  )

  it.effect("a destructive tool is called for one who says so, and not for one who asks about it", () =>
    Effect.gen(function* () {
      const remove = tool("delete_note", "Deletes a note.", Schema.Struct({ path: Schema.String }), {
        destructive: true
      })
      const tools = Tools.make(remove)
      expect(called(yield* ask("Delete the note a.md", { tools }))).toEqual([["delete_note", { path: "a.md" }]])
      expect(called(yield* ask("Can I delete the note a.md?", { tools }))).toEqual([])
      expect(called(yield* ask("What does a.md say?", { tools }))).toEqual([])
    })
  )

  it.effect("the tool choice is respected", () =>
    Effect.gen(function* () {
      const tools = Tools.make(search, weather)
      const question = "Where do herons nest?"
      expect(called(yield* ask(question, { tools, toolChoice: "none" }))).toEqual([])
      expect(called(yield* ask(question, { tools, toolChoice: { tool: "weather" } }))).toEqual([
        ["weather", { city: question }]
      ])
      expect(called(yield* ask("", { tools, toolChoice: "required" }))).toHaveLength(1)
      expect(called(yield* ask(question, { tools, toolChoice: { tool: "no_such" } }))).toEqual([])
    })
  )

  it.effect("a forced tool is not called twice with the same arguments, so that a run ends", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", tools: Tools.make(weather), toolChoice: "required" })
      const result = yield* Agent.run(agent, "hello").pipe(Effect.provide(OfflineModel.layer))
      expect(result.steps).toBe(2)
    })
  )

  it.effect("a denied call is not tried again, and the answer says that it was denied", () =>
    Effect.gen(function* () {
      const question = "What is in secret/plan.md?"
      const history = asked(
        question,
        Message.toolCall("call-1", "read_note", { path: "secret/plan.md" }, Message.denied("it is secret"))
      )
      const last = yield* reply({ history, tools: noteTools })
      expect(callsIn(last)).toEqual([])
      expect(textOf(last)).toContain('read_note("secret/plan.md") was not allowed: it is secret')
      expect(textOf(last)).toContain("no language model")
    })
  )

  it.effect("after a failed call another tool is tried", () =>
    Effect.gen(function* () {
      const history = asked(
        "What is in herons.md?",
        Message.toolCall("call-1", "read_note", { path: "herons.md" }, Message.failed("not found"))
      )
      expect(called(yield* reply({ history, tools: noteTools }))).toEqual([["search_notes", { query: "herons.md" }]])
    })
  )

  it.effect("it stops after so many calls as it was told", () =>
    Effect.gen(function* () {
      const one = OfflineModel.make({ maxToolCalls: 1 })
      const history = asked(
        "Where?",
        Message.toolCall("1", "search_notes", { query: "x" }, Message.succeeded(["herons.md"]))
      )
      const last = yield* ChatModel.run(one.call(ChatModel.request({ history, tools: noteTools })))
      expect(callsIn(last)).toEqual([])
    })
  )

  it.effect("tools and parameters may be named as properties of an object are", () =>
    Effect.gen(function* () {
      const tools = Tools.make(
        tool("__proto__", "", Schema.Struct({ constructor: Schema.String })),
        tool("toString", "Searches.", Schema.Struct({ query: Schema.String }))
      )
      expect(called(yield* ask("proto constructor herons", { tools, toolChoice: { tool: "__proto__" } }))).toEqual([
        ["__proto__", { constructor: "herons" }]
      ])
      expect(called(yield* ask("herons", { tools, toolChoice: "required" }))).toHaveLength(1)
    })
  )
})

describe("answering", () => {
  it.effect("the sentence that fits best is quoted with its source, whatever its form of the words", () =>
    Effect.gen(function* () {
      const text =
        "# Birds\n\nDucks swim in ponds.\n\n## Herons\n\nThey are grey. A heron nests in tall trees.\n\n```js\nherons.nest()\n```"
      const history = asked(
        "Where are herons nesting?",
        Message.toolCall("1", "read_note", { path: "birds.md" }, Message.succeeded(text))
      )
      expect(textOf(yield* reply({ history }))).toBe("A heron nests in tall trees. (birds.md)")
    })
  )

  it.effect("a list is quoted with the sentence that announces it", () =>
    Effect.gen(function* () {
      const text = "The colours of the flag are:\n\n- red\n- white\n\nIt is old."
      const history = asked(
        "Which colours has the flag?",
        Message.toolCall("1", "read", { path: "flag.md" }, Message.succeeded(text))
      )
      expect(textOf(yield* reply({ history }))).toBe("The colours of the flag are:\n- red\n- white (flag.md)")
    })
  )

  it.effect("a bare result is an answer", () =>
    Effect.gen(function* () {
      const history = asked("What is 1 + 2?", Message.toolCall("1", "add", { a: 1, b: 2 }, Message.succeeded(3)))
      expect(textOf(yield* reply({ history }))).toBe("3 (add)")
      const weather = asked(
        "What is the weather in Rome?",
        Message.toolCall("1", "weather", { city: "Rome" }, Message.succeeded({ celsius: 18 }))
      )
      expect(textOf(yield* reply({ history: weather }))).toBe("celsius: 18 (weather)")
    })
  )

  it.effect("what was said earlier is remembered, and questions are not taken for answers", () =>
    Effect.gen(function* () {
      const history = [Message.user("My cat is called Miso. Is my cat old?"), Message.assistant("I do not know.")]
      expect(textOf(yield* ask("What is my cat called?", { history }))).toBe(
        "My cat is called Miso. (our conversation)"
      )
    })
  )

  it.effect("the instructions are quoted when nothing else knows", () =>
    Effect.gen(function* () {
      const instructions = Instructions.make("The office opens at nine.", "house")
      expect(textOf(yield* ask("When does the office open?", { instructions }))).toBe(
        "The office opens at nine. (instructions: house)"
      )
    })
  )

  it.effect("a text in the message is what the question is about", () =>
    Effect.gen(function* () {
      const text = `${"The harbour was built in 1850. Ships came from everywhere. ".repeat(20)}\n\nWhen was the harbour built?`
      expect(textOf(yield* ask(text))).toBe("The harbour was built in 1850. (your message)")
      const summary = textOf(
        yield* ask(
          `Summarize this.\n\n${"Herons eat fish. Herons nest in trees near fish. The sky is blue. ".repeat(20)}`
        )
      )
      expect(summary).toContain("Herons")
    })
  )

  it.effect("where it knows nothing it says so, and what it is", () =>
    Effect.gen(function* () {
      for (const question of [
        "What is the airspeed of a swallow?",
        "",
        "В каком порядке?",
        "鷺はどこに巣を作りますか"
      ]) {
        expect(textOf(yield* ask(question))).toContain("no language model")
      }
    })
  )
})

describe("answering in JSON", () => {
  const Report = Schema.Struct({
    answer: Schema.String,
    sources: Schema.Array(Schema.String),
    bird: Schema.Literal("duck", "heron"),
    celsius: Schema.Number.pipe(Schema.between(-90, 60)),
    sure: Schema.Boolean
  })
  const output = (schema: Schema.Schema.AnyNoContext) =>
    Agent.make({
      name: "a",
      output: schema as Schema.Schema<unknown, unknown>,
      handlers: Handler.beforeModel((history) => history)
    })

  it.effect("fields are filled from what was found", () =>
    Effect.gen(function* () {
      const history = asked(
        "Where does the heron nest?",
        Message.toolCall(
          "1",
          "read",
          { path: "a.md" },
          Message.succeeded("The heron nests in trees. Celsius: 12, on average.")
        )
      )
      const { value } = yield* Effect.map(
        Agent.run(output(Report), "Where does the heron nest?", { history }),
        (r) => ({ value: r.output })
      ).pipe(Effect.provide(OfflineModel.layer))
      expect(value).toMatchObject({
        answer: "The heron nests in trees.",
        sources: ["a.md"],
        bird: "heron",
        celsius: 12
      })
    })
  )

  interface Tree {
    readonly value: string
    readonly children: ReadonlyArray<Tree>
  }
  const Tree = Schema.Struct({
    value: Schema.NonEmptyString,
    children: Schema.Array(Schema.suspend((): Schema.Schema<Tree> => Tree))
  }).annotations({ identifier: "Tree" })

  const schemas: ReadonlyArray<Schema.Schema.AnyNoContext> = [
    Report,
    Tree,
    Schema.String,
    Schema.NonEmptyArray(Schema.Int.pipe(Schema.greaterThan(3))),
    Schema.Tuple(Schema.String, Schema.Number),
    Schema.Union(Schema.Struct({ _tag: Schema.Literal("a"), n: Schema.Int }), Schema.Null),
    Schema.Struct({ a: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.minLength(3), Schema.maxLength(5)))) }),
    Schema.Record({ key: Schema.String, value: Schema.Number }),
    Schema.Number.pipe(Schema.multipleOf(7), Schema.greaterThan(10), Schema.lessThan(100))
  ]

  it.effect.each(schemas.map((schema, i) => [i, schema] as const))(
    "an answer fits its schema, known or not: %i",
    ([, schema]) =>
      Effect.gen(function* () {
        for (const question of ["", "The heron 5 nests. Which duck -3.5?"]) {
          yield* Agent.run(output(schema), question).pipe(Effect.provide(OfflineModel.layer))
        }
      })
  )
})

describe("laws", () => {
  const message: fc.Arbitrary<Message.Message> = fc.oneof(
    fc.fullUnicodeString({ maxLength: 60 }).map((text) => Message.user(text)),
    fc.fullUnicodeString({ maxLength: 60 }).map((text) => Message.assistant(text)),
    fc
      .tuple(fc.string(), fc.jsonValue(), fc.jsonValue())
      .map(([id, args, result]) =>
        Message.assistant([Message.toolCall(id, "search_notes", args, Message.succeeded(result))])
      ),
    fc
      .tuple(
        fc.string(),
        fc.jsonValue(),
        fc.constantFrom(Message.denied("no"), Message.failed("why"), Message.cancelled)
      )
      .map(([id, args, outcome]) => Message.assistant([Message.toolCall(id, "read_note", args, outcome)]))
  )
  const words = fc.array(
    fc.constantFrom("heron", "nests", "docs/a.md", "Where", "12", '"tree"', "the", "__proto__", "鷺", "גן", "?"),
    { maxLength: 8 }
  )
  const request = fc
    .record({
      history: fc.array(message, { maxLength: 6 }),
      question: words.map((all) => all.join(" ")),
      toolChoice: fc.constantFrom<ChatModel.ToolChoice>("auto", "none", "required", { tool: "weather" })
    })
    .map(({ history, question, toolChoice }) =>
      ChatModel.request({
        history: [...history, Message.user(question)],
        toolChoice,
        tools: Tools.make(search, read, weather)
      })
    )

  it.effect.prop("the same request gets the same reply, and every reply can be had", [request], ([request]) =>
    Effect.gen(function* () {
      const once = yield* ChatModel.run(model.call(request))
      const again = yield* ChatModel.run(OfflineModel.make().call(structuredCloneOf(request)))
      expect(again).toEqual(once)
    })
  )

  it.effect.prop("the streamed words make the whole answer", [request], ([request]) =>
    Effect.gen(function* () {
      const whole = yield* ChatModel.run(model.call(request))
      const { parts, value } = yield* Call.collect(model.call(request), ChatModel.fold)
      expect(value).toEqual(whole)
      for (const part of parts) {
        if (part._tag === "Text") expect(part.text.trim()).not.toMatch(/\s/)
      }
    })
  )

  it.effect.prop("no call repeats one of the exchange", [request], ([request]) =>
    Effect.gen(function* () {
      const next = yield* ChatModel.run(model.call(request))
      const keys = callsIn(next).map(({ arguments: args, name }) => JSON.stringify([name, args]))
      expect(new Set(keys).size).toBe(keys.length)
      const settled = callsIn(next).map((call) => ({ ...call, outcome: Message.succeeded([]) }))
      const after = yield* ChatModel.run(
        model.call({ ...request, history: [...request.history, Message.assistant(settled)] })
      )
      const more = callsIn(after).map(({ arguments: args, name }) => JSON.stringify([name, args]))
      expect(more.filter((key) => keys.includes(key))).toEqual([])
    })
  )

  /** The same request, sharing nothing that could have been written to. */
  const structuredCloneOf = (request: ChatModel.ModelRequest): ChatModel.ModelRequest => ({
    ...request,
    history: JSON.parse(JSON.stringify(request.history)) as ChatModel.ModelRequest["history"]
  })
})

describe("size", () => {
  it.effect("words are counted as usage", () =>
    Effect.gen(function* () {
      const instructions = Instructions.make("The office opens at nine.")
      const { usage } = yield* ask("When does the office open?", { instructions })
      expect(usage).toEqual({ inputTokens: 10, outputTokens: 6 })
    })
  )

  it.effect(
    "10 MB of text and 10,000 messages are read",
    () =>
      Effect.gen(function* () {
        const filler = "The quick brown fox jumps over the lazy dog.\n\n".repeat(230_000)
        const text = `${filler}A heron nests in trees.\n`
        const history = asked(
          "Where do herons nest?",
          Message.toolCall("1", "read", { path: "big.md" }, Message.succeeded(text))
        )
        expect(textOf(yield* reply({ history }))).toBe("A heron nests in trees. (big.md)")
        const noise = "x".repeat(10_000_000)
        expect(textOf(yield* ask(noise, { tools: noteTools, toolChoice: "none" }))).toContain("no language model")
        const many = Array.from({ length: 10_000 }, (_, i) =>
          Message.user(i === 5_000 ? "Herons nest in trees." : `Message ${i}.`)
        )
        expect(textOf(yield* ask("Where do herons nest?", { history: many }))).toBe(
          "Herons nest in trees. (our conversation)"
        )
      }),
    30_000
  )
})

describe("what is quoted to it", () => {
  const passages = [
    Instructions.quoted("passage", "# Hours\n\nThe office opens at nine. It closes at five.", {
      number: 1,
      source: 'a "b".md'
    }),
    Instructions.quoted("passage", "Herons nest in the reeds.", { number: 2, source: "herons.md" })
  ].join("\n\n")

  it.effect("is cited by its number", () =>
    Effect.gen(function* () {
      const instructions = Instructions.make(`These were found.\n\n${passages}`)
      expect(textOf(yield* ask("When does the office open?", { instructions }))).toBe("The office opens at nine. [1]")
      expect(textOf(yield* ask("Where do herons nest?", { instructions }))).toBe("Herons nest in the reeds. [2]")
    })
  )

  it.effect("is what notes are taken on, for the question that is quoted", () =>
    Effect.gen(function* () {
      const noting = (question: string) =>
        ask(`${Instructions.quoted("question", question)}\n\n${passages}`, {
          instructions: Instructions.make("Take notes. Do not answer the question."),
          purpose: "rag_map"
        })
      expect(textOf(yield* noting("Where do herons nest?"))).toBe("Herons nest in the reeds. [2]")
      expect(textOf(yield* noting("Who invented the wheel?"))).toBe("NOTHING")
    })
  )

  it.effect("can be notes, which say themselves where they are from", () =>
    Effect.gen(function* () {
      const notes = Instructions.quoted("note", "Herons nest in the reeds. [2]", { passage: 2 })
      const instructions = Instructions.make(Instructions.quoted("notes", "Herons nest in the reeds. [2]"))
      expect(textOf(yield* ask("Where do herons nest?", { instructions }))).toBe("Herons nest in the reeds. [2]")
      const reduced = `${Instructions.quoted("question", "Where do herons nest?")}\n\n${notes}`
      expect(textOf(yield* ask(reduced, { purpose: "rag_reduce" }))).toBe("Herons nest in the reeds. [2]")
    })
  )

  it.effect("takes no time beyond its length to find", () =>
    Effect.gen(function* () {
      const instructions = Instructions.make('<a>\n<passage number="1">\n'.repeat(100_000))
      expect(textOf(yield* ask("Where do herons nest?", { instructions }))).toContain("nothing")
    })
  )
})
