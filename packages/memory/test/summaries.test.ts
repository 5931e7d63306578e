import { describe, expect, it } from "@effect/vitest"
import { Agent, Call, ChatModel, Errors, Message } from "@heddle/core"
import { ContextMode, Conversations, MemoryErrors, MemorySettings, Summaries, TokenCounter } from "@heddle/memory"
import { ScriptedModel } from "@heddle/testing"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Queue, Ref, Scope, Stream, TestClock } from "effect"
import { agentNamed, inWorld, lastSeen, section, talked, texts, world } from "./support.ts"

const own = Conversations.own("s", "coder")
const many = (count: number) => Array.from({ length: count }, (_, i) => `q${i + 1}`)
const settings: MemorySettings.MemorySettings = {
  strategy: "summary",
  historyLimit: 2,
  summaryTrigger: 6,
  summaryMinGrowth: 4
}
const request: Summaries.SummaryRequest = { key: own, keep: 2, trigger: 6, minGrowth: 1, maxTokens: 50 }

/** Answers agents, and gives summaries by a script of their own. */
const summarizing = (summary: (turn: number, request: ChatModel.ModelRequest) => ScriptedModel.Reply) => {
  let turn = 0
  return (request: ChatModel.ModelRequest): ScriptedModel.Reply =>
    request.purpose === "memory_summary" ? summary(turn++, request) : "fine"
}

/** A reply with what an effect gives. */
const said = (text: Effect.Effect<string>) => Call.unwrap(Effect.map(text, (text) => ChatModel.reply(text)))

/** Runs with summaries, with all that happens to them. */
const withEvents = <A, E, R>(body: (events: Queue.Dequeue<Summaries.SummaryEvent>) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { events } = yield* Summaries.Summaries
      const queue = yield* Queue.unbounded<Summaries.SummaryEvent>()
      const begun = yield* Deferred.make<void>()
      yield* Effect.forkScoped(
        Stream.runForEach(Stream.onStart(events, Deferred.succeed(begun, undefined)), (event) => queue.offer(event))
      )
      yield* Deferred.await(begun)
      yield* Effect.yieldNow()
      return yield* body(queue)
    })
  )

const tags = (queue: Queue.Dequeue<Summaries.SummaryEvent>) =>
  Effect.map(Queue.takeAll(queue), (events) => Chunk.toReadonlyArray(events).map(({ _tag }) => _tag))

const summaryOf = (key: Conversations.ConversationKey) =>
  Effect.flatMap(Conversations.Conversations, (store) => store.read(key))
const settled = Effect.flatMap(Summaries.Summaries, ({ settled }) => settled)
const write = (request: Summaries.SummaryRequest) => Effect.flatMap(Summaries.Summaries, ({ write }) => write(request))

describe("a summary that is set off by a run", () => {
  it.effect("covers what is older than the window, stands in its place, and leaves the originals where they are", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing((turn) => `summary ${turn + 1}`))
      yield* inWorld(w)(
        withEvents((events) =>
          Effect.gen(function* () {
            const agent = agentNamed("coder", { settings })
            for (const question of many(3)) yield* Agent.run(agent, question)
            yield* settled
            // Six messages are enough, but only two of them are older than the window.
            expect(yield* tags(events)).toEqual(["Started", "Skipped"])
            yield* Agent.run(agent, "q4")
            yield* settled
            expect(yield* tags(events)).toEqual(["Started", "Written"])
            const { exchanges, summary } = yield* summaryOf(own)
            expect(summary).toEqual({ text: "summary 1", through: 2, at: 0 })
            expect(exchanges.map(({ messages }) => texts(messages)[0])).toEqual(many(4))
            yield* Agent.run(agent, "q5")
            const last = (yield* w.asked).at(-1)!
            expect(texts(last.history)).toEqual(["q3", "fine", "q4", "fine", "q5"])
            expect(section(last, "memory-summary")[0]).toContain("summary 1")
            yield* Agent.run(agent, "q6")
            yield* settled
            expect((yield* summaryOf(own)).summary).toEqual({ text: "summary 2", through: 4, at: 0 })
          })
        )
      )
    })
  )

  it.effect("asks the model with a purpose and limits of its own, and tells it what was said", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing((turn) => `summary ${turn + 1}`))
      yield* inWorld(w)(
        Effect.gen(function* () {
          const store = yield* Conversations.Conversations
          yield* store.append(own, {
            agent: "coder",
            messages: [
              Message.user([
                { _tag: "Text", text: "see </conversation> this" },
                { _tag: "File", mediaType: "image/png", data: "QUJD", name: "cat.png" }
              ]),
              ScriptedModel.asked({ tool: "look", arguments: { a: 1 }, outcome: Message.succeeded("x".repeat(900)) }),
              Message.assistant([
                { _tag: "Reasoning", text: "secret thought" },
                { _tag: "Text", text: "a cat" }
              ])
            ]
          })
          yield* talked(own, ...many(6))
          const agent = agentNamed("coder", { settings: { ...settings, summaryMaxTokens: 77, summaryModel: "small" } })
          yield* Agent.run(agent, "one")
          yield* settled
          yield* talked(own, "q7", "q8")
          yield* Agent.run(agent, "two")
          yield* settled
          const [first, second] = (yield* w.requests).filter(({ purpose }) => purpose === "memory_summary")
          expect(first!.options).toEqual({ maxOutputTokens: 77, model: "small" })
          expect(first!.tools.size).toBe(0)
          expect(first!.instructions.sections.map(({ source }) => source)).toEqual(["memory-summary"])
          const [told] = texts(first!.history)
          expect(told).toContain("User: see &lt;/conversation> this\nUser: [a file, image/png, cat.png]")
          expect(told).toContain(`coder called look({"a":1}): ${"x".repeat(500)}\ncoder: a cat`)
          expect(told).not.toContain("x".repeat(501))
          expect(told).not.toContain("secret thought")
          expect(told).not.toContain("summary 1")
          expect(texts(second!.history)[0]).toContain("<earlier_summary>\nsummary 1\n</earlier_summary>")
        })
      )
    })
  )

  it.effect("does not hold the run up, nor does it end with it", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => ({ text: "late", delay: "10 seconds" })))
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, ...many(5))
          // The run is over, and its fiber with it, before the model has said a word.
          const fiber = yield* Effect.fork(Agent.run(agentNamed("coder", { settings }), "now"))
          yield* Fiber.join(fiber)
          expect((yield* summaryOf(own)).summary).toBe(undefined)
          yield* TestClock.adjust("10 seconds")
          yield* settled
          expect((yield* summaryOf(own)).summary?.text).toBe("late")
        })
      )
    })
  )

  it.effect("is not written where the settings do not ask for it, and not at all with layerNone", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => "never"))
      const body = (settings: MemorySettings.MemorySettings) =>
        Effect.gen(function* () {
          yield* talked(own, ...many(40))
          yield* Agent.run(agentNamed("coder", { settings }), "now")
          yield* settled
          expect((yield* summaryOf(own)).summary).toBe(undefined)
        })
      for (const off of [{}, { strategy: "full" }, { strategy: "summary", summaryEnabled: false }] as const) {
        yield* inWorld(w)(body(off))
      }
      yield* inWorld(w)(Effect.provide(body(settings), Summaries.layerNone))
      expect((yield* w.requests).every(({ purpose }) => purpose === "agent")).toBe(true)
    })
  )

  it.effect("is written beside a window, too, if it is asked for", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => "in short"))
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, ...many(40))
          yield* Agent.run(agentNamed("coder", { settings: { summaryEnabled: true } }), "now")
          yield* settled
          expect((yield* summaryOf(own)).summary?.through).toBe(31)
        })
      )
    })
  )

  it.effect("is one of the main conversation in the mode summarized, beyond its length", () =>
    Effect.gen(function* () {
      const main = Conversations.main("s")
      const w = yield* world(summarizing(() => "in short"))
      yield* inWorld(w)(
        Effect.gen(function* () {
          const agent = agentNamed("coder", { mode: "summarized" })
          yield* talked(main, ...many(9))
          yield* Agent.run(agent, "one")
          yield* settled
          expect((yield* summaryOf(main)).summary).toBe(undefined)
          yield* talked(main, "q10", "q11")
          yield* Agent.run(agent, "two")
          yield* settled
          expect((yield* summaryOf(main)).summary?.through).toBe(6)
          yield* Agent.run(agent, "three")
          expect(lastSeen(yield* w.asked)).toEqual([
            ...many(11)
              .slice(6)
              .flatMap((text) => [text, `re: ${text}`]),
            "one",
            "fine",
            "two",
            "fine",
            "three"
          ])
          expect(section((yield* w.asked).at(-1)!, "memory-summary")[0]).toContain(
            "The main conversation began earlier"
          )
        })
      )
    })
  )
})

describe("a conversation that several see", () => {
  it.effect("is not summarized into the window of another, narrow as that of the one may be that sets it off", () =>
    Effect.gen(function* () {
      const main = Conversations.main("s")
      const w = yield* world(summarizing(() => "in short"))
      yield* inWorld(w)(
        Effect.gen(function* () {
          const wide = agentNamed("wide", { mode: "shared", settings: { strategy: "summary", historyLimit: 5 } })
          const narrow = agentNamed("narrow", { mode: ContextMode.summarized({ after: 4 }) })
          yield* talked(main, ...many(8))
          yield* Agent.run(wide, "now")
          yield* Agent.run(narrow, "now")
          yield* settled
          expect((yield* summaryOf(main)).summary?.through).toBe(4)
          yield* Agent.run(wide, "again")
          expect(lastSeen(yield* w.asked).length).toBe(11)
        })
      )
    })
  )
})

describe("one at a time", () => {
  it.effect("for each conversation, however many runs set it off; others go on beside it", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const busy = yield* Ref.make(0)
      const most = yield* Ref.make(0)
      const model = Layer.succeed(ChatModel.ChatModel, {
        call: (request: ChatModel.ModelRequest) =>
          request.purpose === "agent"
            ? ChatModel.reply("fine")
            : said(
                Effect.gen(function* () {
                  const now = yield* Ref.updateAndGet(busy, (n) => n + 1)
                  yield* Ref.update(most, (n) => Math.max(n, now))
                  yield* Deferred.await(open)
                  yield* Ref.update(busy, (n) => n - 1)
                  return "in short"
                })
              )
      })
      const layer = Summaries.layer({ concurrency: 3 }).pipe(
        Layer.provideMerge(Conversations.layerMemory()),
        Layer.provideMerge(model)
      )
      yield* inWorld({ layer })(
        Effect.gen(function* () {
          const agents = ["a", "b", "c", "d"].map((name) => agentNamed(name, { settings }))
          for (const { name } of agents) yield* talked(Conversations.own("s", name), ...many(5))
          yield* Effect.forEach(
            agents.flatMap((agent) => Array.from({ length: 10 }, () => agent)),
            (agent) => Agent.run(agent, "now"),
            { concurrency: "unbounded", discard: true }
          )
          yield* Effect.yieldNow()
          expect(yield* Ref.get(most)).toBe(3)
          yield* Deferred.succeed(open, undefined)
          yield* settled
          for (const { name } of agents) {
            expect((yield* summaryOf(Conversations.own("s", name))).summary?.text).toBe("in short")
          }
        })
      )
    })
  )
})

describe("a summary that fails", () => {
  const cases: ReadonlyArray<readonly [string, ScriptedModel.Reply]> = [
    ["Model", new Errors.ModelError({ reason: "Overloaded", message: "busy" })],
    ["Timeout", { text: "late", delay: "2 minutes" }],
    ["Empty", "  \n "],
    ["TooLong", "word ".repeat(600)]
  ]
  for (const [reason, reply] of cases) {
    it.effect(`(${reason}) leaves everything as it is, is an event, and is tried again later`, () =>
      Effect.gen(function* () {
        const w = yield* world(summarizing((turn) => (turn < 2 ? reply : "in short")))
        yield* inWorld(w)(
          withEvents((events) =>
            Effect.gen(function* () {
              yield* talked(own, ...many(5))
              const before = yield* summaryOf(own)
              const agent = agentNamed("coder", { settings })
              const trigger = Effect.gen(function* () {
                yield* Agent.run(agent, "now")
                if (reason === "Timeout") yield* TestClock.adjust("1 minute")
                yield* settled
                return Chunk.toReadonlyArray(yield* Queue.takeAll(events))
              })
              const [started, failed] = yield* trigger
              expect(started?._tag).toBe("Started")
              const shift = reason === "Timeout" ? 60_000 : 0
              expect(failed).toMatchObject({ _tag: "Failed", key: own, error: { reason }, retryAt: 30_000 + shift })
              const after = yield* summaryOf(own)
              expect(after.summary).toBe(undefined)
              expect(after.exchanges.slice(0, 5)).toEqual(before.exchanges)
              // Too early.
              expect(yield* trigger).toEqual([])
              yield* TestClock.adjust("30 seconds")
              expect((yield* trigger).at(-1)).toMatchObject({ _tag: "Failed" })
              // The second failure in a row waits twice as long.
              yield* TestClock.adjust("59 seconds")
              if (reason !== "Timeout") expect(yield* trigger).toEqual([])
              yield* TestClock.adjust("1 minute")
              expect((yield* trigger).at(-1)).toMatchObject({ _tag: "Written" })
              expect((yield* summaryOf(own)).summary?.text).toBe("in short")
            })
          )
        )
      })
    )
  }

  it.effect("with a defect, of the model or of the store, is an event and backs off all the same", () =>
    Effect.gen(function* () {
      const throwing = yield* world(
        summarizing(() => {
          throw new Error("a bug")
        })
      )
      yield* inWorld(throwing)(
        withEvents((events) =>
          Effect.gen(function* () {
            yield* talked(own, ...many(5))
            for (let i = 0; i < 4; i++) {
              yield* Agent.run(agentNamed("coder", { settings }), "now")
              yield* settled
            }
            const [started, failed, ...more] = Chunk.toReadonlyArray(yield* Queue.takeAll(events))
            expect(started?._tag).toBe("Started")
            expect(failed).toMatchObject({ _tag: "Failed", error: { reason: "Defect" }, retryAt: 30_000 })
            expect(failed?._tag === "Failed" && failed.error.message).toBe(
              "No summary was written: something threw: a bug."
            )
            expect(more).toEqual([])
          })
        )
      )
    })
  )

  it.effect("options that make no sense are refused where the layer is made", () =>
    Effect.sync(() => {
      for (const options of [
        { concurrency: 0 },
        { concurrency: 1.5 },
        { maxInputTokens: 0 },
        { maxInputTokens: NaN },
        { timeout: 0 },
        { backOff: "0 seconds" }
      ] as const) {
        expect(() => Summaries.layer(options)).toThrow(Errors.DefinitionError)
      }
    })
  )

  it.effect("a reply that was cut off at its limit is too long", () =>
    Effect.gen(function* () {
      const cut = ChatModel.layer(() => Call.succeed({ ...ChatModel.replyValue("half a sum"), finishReason: "length" }))
      const layer = Summaries.layer().pipe(Layer.provideMerge(Conversations.layerMemory()), Layer.provideMerge(cut))
      const error = yield* inWorld({ layer })(
        Effect.gen(function* () {
          yield* talked(own, ...many(5))
          return yield* Effect.flip(write(request))
        })
      )
      expect(error).toMatchObject({ _tag: "SummaryFailure", reason: "TooLong" })
      expect(error.message).toBe("No summary was written: it is longer than allowed.")
    })
  )

  it.effect("a conversation that began anew in the meantime gets no summary of the old one", () =>
    Effect.gen(function* () {
      for (const change of ["clear", "remove"] as const) {
        const w = yield* world(summarizing(() => ({ text: "old news", delay: "1 second" })))
        yield* inWorld(w)(
          Effect.gen(function* () {
            const store = yield* Conversations.Conversations
            yield* talked(own, ...many(5))
            const writing = yield* Effect.fork(Effect.flip(write(request)))
            yield* Effect.yieldNow()
            yield* Effect.yieldNow()
            yield* store[change](own)
            yield* talked(own, ...many(5))
            yield* TestClock.adjust("1 second")
            expect(yield* Fiber.join(writing)).toBeInstanceOf(MemoryErrors.ConversationChanged)
            expect((yield* store.read(own)).summary).toBe(undefined)
          })
        )
      }
    })
  )
})

describe("a summary that is asked for", () => {
  it.effect("is written and given; nothing where there is too little, or no conversation", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => "in short"))
      yield* inWorld(w)(
        Effect.gen(function* () {
          expect(yield* write(request)).toBe(undefined)
          yield* talked(own, "a", "b")
          expect(yield* write(request)).toBe(undefined)
          yield* talked(own, "c")
          expect(yield* write({ ...request, minGrowth: 3 })).toBe(undefined)
          expect(yield* write(request)).toEqual({ text: "in short", through: 1, at: 0 })
          expect(yield* write({ ...request, keep: 0 })).toEqual({ text: "in short", through: 3, at: 0 })
        })
      )
    })
  )

  it.effect("covers as much as the model may be given, one exchange at least, and the rest the next time", () =>
    Effect.gen(function* () {
      // An exchange here has 11 tokens: 4 for each message, 1 and 2 for the texts.
      for (const [maxInputTokens, through] of [
        [1, 1],
        [22, 2],
        [32, 2],
        [1000, 4]
      ] as const) {
        const w = yield* world(
          summarizing(() => "in short"),
          undefined,
          { maxInputTokens }
        )
        yield* inWorld(w)(
          Effect.gen(function* () {
            yield* talked(own, ...many(6))
            expect((yield* write(request))?.through).toBe(through)
            expect((yield* write(request))?.through).toBe(through === 4 ? undefined : through * 2)
          })
        )
      }
    })
  )

  it.effect("of an exchange that is longer than the model may be given, is of its beginning", () =>
    Effect.gen(function* () {
      const w = yield* world(
        summarizing(() => "in short"),
        undefined,
        { maxInputTokens: 100 }
      )
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, "x".repeat(1_000_000), "b", "c")
          expect((yield* write(request))?.through).toBe(1)
          const [told] = texts((yield* w.requests)[0]!.history)
          expect(told!.length).toBeLessThan(500)
          expect(told).toContain("… (cut)")
        })
      )
    })
  )

  it.effect("is told how many words it may have, and the model's own count of tokens stands over an estimate", () =>
    Effect.gen(function* () {
      const russian = "слово ".repeat(40)
      const usage = (outputTokens: number) => ({ text: russian, usage: { inputTokens: 1, outputTokens } })
      for (const [outputTokens, is] of [
        [50, "written"],
        [51, "TooLong"],
        [0, "TooLong"]
      ] as const) {
        const w = yield* world(summarizing(() => usage(outputTokens)))
        yield* inWorld(w)(
          Effect.gen(function* () {
            yield* talked(own, ...many(5))
            const result = yield* Effect.either(write(request))
            expect(result._tag === "Left" ? (result.left as Summaries.SummaryFailure).reason : "written").toBe(is)
            const { instructions } = (yield* w.requests)[0]!
            expect(instructions.sections[0]?.text).toContain("Use 30 words at the most.")
          })
        )
      }
    })
  )

  it.effect("of a very long conversation, covers 200 exchanges at a time, however much growth is asked for", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => "in short"))
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, ...many(450))
          for (const through of [200, 400]) {
            expect((yield* write({ ...request, minGrowth: 1000 }))?.through).toBe(through)
          }
          for (const through of [448, undefined]) expect((yield* write(request))?.through).toBe(through)
        })
      )
    })
  )

  it.effect("of a conversation that begins anew while it is read, is not written", () =>
    Effect.gen(function* () {
      const w = yield* world(
        summarizing(() => "in short"),
        Layer.effect(
          Conversations.Conversations,
          Effect.map(Conversations.Conversations, (store) => ({
            ...store,
            read: (key: Conversations.ConversationKey, range?: Conversations.Range) =>
              range !== undefined && "first" in range
                ? Effect.zipRight(
                    Effect.zipRight(
                      store.clear(key),
                      store.append(key, { agent: "x", messages: [Message.user("new")] })
                    ),
                    store.read(key, range)
                  )
                : store.read(key, range)
          }))
        ).pipe(Layer.provide(Conversations.layerMemory()))
      )
      yield* inWorld(w)(
        Effect.gen(function* () {
          yield* talked(own, ...many(5))
          expect(yield* Effect.flip(write(request))).toBeInstanceOf(MemoryErrors.ConversationChanged)
          expect((yield* w.requests).length).toBe(0)
        })
      )
    })
  )

  it.effect("counts tokens as the counter does", () =>
    Effect.gen(function* () {
      const w = yield* world(summarizing(() => "in short"))
      const counter = Layer.succeed(TokenCounter.TokenCounter, { count: (text: string) => text.length })
      const layer = Layer.provide(w.layer, counter)
      yield* inWorld({ layer })(
        Effect.gen(function* () {
          yield* talked(own, ...many(5))
          expect((yield* Effect.flip(write({ ...request, maxTokens: 7 })))._tag).toBe("SummaryFailure")
          expect((yield* write({ ...request, maxTokens: 8 }))?.text).toBe("in short")
        })
      )
    })
  )
})

describe("at shutdown", () => {
  it.effect("what is being written is abandoned, and changes nothing", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const left = yield* Ref.make(0)
      const model = ChatModel.layer(() => said(Effect.onInterrupt(Effect.never, () => Ref.update(left, (n) => n + 1))))
      const store = yield* Layer.buildWithScope(Conversations.layerMemory(), scope)
      const inner = yield* Scope.make()
      const summaries = yield* Layer.buildWithScope(
        Layer.provide(Summaries.layer(), Layer.merge(Layer.succeedContext(store), model)),
        inner
      )
      const body = Effect.gen(function* () {
        yield* talked(own, ...many(5))
        const asked = yield* Effect.fork(write(request))
        yield* Effect.yieldNow()
        yield* Effect.yieldNow()
        yield* Scope.close(inner, Exit.void)
        expect(yield* Ref.get(left)).toBe(1)
        expect(Exit.isInterrupted(yield* Fiber.await(asked))).toBe(true)
        expect((yield* summaryOf(own)).summary).toBe(undefined)
        expect((yield* summaryOf(own)).exchanges.length).toBe(5)
      })
      yield* body.pipe(Effect.provide(store), Effect.provide(summaries))
    })
  )
})
