import { describe, expect, it } from "@effect/vitest"
import { KeyValueStore } from "@effect/platform"
import { Agent, type ChatModel, Errors, History, Message } from "@heddle/core"
import { Conversations, MemorySettings, Session, Summaries } from "@heddle/memory"
import * as keyValueStore from "@heddle/memory/keyValueStore"
import { ScriptedModel } from "@heddle/testing"
import { Effect, FastCheck, Layer, TestClock } from "effect"
import { behave, happenings, runs } from "./calls.ts"
import { agentNamed, section, texts } from "./support.ts"

describe("calls one after the other, at once and inside of each other, over agents, modes, sessions, tenants and restarts", () => {
  it.effect.prop(
    "behave as the reference says, with conversations in memory",
    [happenings],
    ([happenings]) =>
      Effect.gen(function* () {
        // What is in memory is there for as long as the program runs.
        const store = yield* Layer.build(Conversations.layerMemory())
        yield* behave(happenings, Layer.succeedContext(store), (found, wanted) => expect(found).toEqual(wanted))
      }).pipe(Effect.scoped),
    runs(200)
  )

  it.effect.prop(
    "behave as the reference says, with conversations in a key-value store that is opened anew",
    [happenings],
    ([happenings]) =>
      Effect.gen(function* () {
        const keyValues = yield* Layer.build(KeyValueStore.layerMemory)
        const open = Layer.provide(keyValueStore.layer, Layer.succeedContext(keyValues))
        yield* behave(happenings, open, (found, wanted) => expect(found).toEqual(wanted))
      }).pipe(Effect.scoped),
    runs(25)
  )
})

// -----------------------------------------------------------------------------
// strategies
// -----------------------------------------------------------------------------

const settings: FastCheck.Arbitrary<MemorySettings.MemorySettings> = FastCheck.tuple(
  FastCheck.constantFrom("full" as const, "window" as const, "summary" as const),
  FastCheck.nat(4),
  FastCheck.nat(6),
  FastCheck.integer({ min: 1, max: 6 }),
  FastCheck.boolean()
).map(([strategy, historyLimit, more, summaryMinGrowth, summaryEnabled]) => ({
  strategy,
  historyLimit,
  summaryTrigger: historyLimit + more + 1,
  summaryMinGrowth,
  summaryEnabled
}))

/** What becomes of summaries, in turn. */
type SummaryFate = "written" | "fails" | "empty" | "long" | "late"
const fates = FastCheck.array(FastCheck.constantFrom<SummaryFate>("written", "fails", "empty", "long", "late"), {
  minLength: 1,
  maxLength: 5
})

const summaryReply = (fate: SummaryFate, turn: number): ScriptedModel.Reply => {
  switch (fate) {
    case "written":
      return `summary ${turn}`
    case "fails":
      return new Errors.ModelError({ reason: "Overloaded", message: "busy" })
    case "empty":
      return ""
    case "long":
      return "word ".repeat(1000)
    case "late":
      return { text: `summary ${turn}`, delay: "1 second" }
  }
}

const own = Conversations.own("s", "coder")

/** Asks so many questions, and gives what the model was asked, with the conversation as it was then. */
const converse = (
  settings: MemorySettings.MemorySettings,
  questions: number,
  summaries: Layer.Layer<Summaries.Summaries, never, Conversations.Conversations | ChatModel.ChatModel>,
  fates: ReadonlyArray<SummaryFate> = ["written"]
) =>
  Effect.gen(function* () {
    let turn = 0
    const model = yield* ScriptedModel.make(({ history, purpose }) => {
      if (purpose !== "agent") return summaryReply(fates[turn % fates.length]!, turn++)
      const question = Message.text(history.findLast(({ role }) => role === "user")!)
      const calls = history.at(-1)!.role === "user" && question.endsWith("3")
      return calls ? { calls: [{ tool: "note" }] } : `re: ${question}`
    })
    const agent = agentNamed("coder", { settings })
    return yield* Effect.gen(function* () {
      const store = yield* Conversations.Conversations
      const { settled } = yield* Summaries.Summaries
      const moments: Array<{
        readonly before: Conversations.Conversation
        readonly requests: ReadonlyArray<ChatModel.ModelRequest>
      }> = []
      for (let i = 1; i <= questions; i++) {
        const before = yield* store.read(own)
        const asked = (yield* model.requests).length
        yield* Agent.run(agent, `q${i}`)
        moments.push({
          before,
          requests: (yield* model.requests).slice(asked).filter(({ purpose }) => purpose === "agent")
        })
        // Back-off passes; a late summary is late for some runs.
        yield* TestClock.adjust(i % 2 === 0 ? "2 hours" : "600 millis")
        if (i % 2 === 0) yield* settled
      }
      return { moments, kept: yield* store.read(own) }
    }).pipe(
      Session.within("s"),
      Effect.provide(summaries.pipe(Layer.provideMerge(Conversations.layerMemory()), Layer.provideMerge(model.layer)))
    )
  })

const whole = (question: number) =>
  question % 10 === 3 ? [`q${question}`, "[note: Succeeded]", `re: q${question}`] : [`q${question}`, `re: q${question}`]

describe("whatever the strategy, and whatever becomes of summaries", () => {
  it.effect.prop(
    "the model sees paired exchanges up to the newest, no summary stands beside what it covers, and originals are all there",
    [settings, FastCheck.integer({ min: 1, max: 25 }), fates],
    ([settings, questions, fates]) =>
      Effect.gen(function* () {
        const { kept, moments } = yield* converse(settings, questions, Summaries.layer(), fates)
        expect(kept.exchanges.map(({ messages }) => texts(messages))).toEqual(
          Array.from({ length: questions }, (_, i) => whole(i + 1))
        )
        const limit = settings.historyLimit!
        for (const { before, requests } of moments) {
          const total = before.exchanges.length
          const originals = before.exchanges.map(({ messages }) => messages)
          for (const request of requests) expect(History.isPaired(request.history)).toBe(true)
          const [first] = requests
          const seen = first!.history.slice(0, -1)
          expect(texts(first!.history).at(-1)).toBe(`q${total + 1}`)
          // What is shown is the end of what was said, cut between exchanges.
          const shown = History.exchanges(seen).length
          expect(seen).toEqual(originals.slice(total - shown).flat())
          if (limit > 0 && settings.strategy !== "summary") expect(shown).toBeGreaterThanOrEqual(Math.min(total, limit))
          const told = section(first!, "memory-summary")
          expect(told.length).toBe(settings.strategy === "summary" && before.summary !== undefined ? 1 : 0)
          const { through } = told.length === 0 ? { through: 0 } : before.summary!
          expect(shown).toBeLessThanOrEqual(total - through)
          if (settings.strategy === "full") expect(shown).toBe(total)
          if (settings.strategy === "window") expect(shown).toBe(Math.min(total, limit))
          if (settings.strategy === "summary") {
            expect(shown).toBeGreaterThanOrEqual(Math.min(total - through, limit))
            // Nothing is left out between the summary and what is shown, unless summaries lag far behind.
            const lag = settings.summaryEnabled
              ? Math.ceil((settings.summaryTrigger! + settings.summaryMinGrowth!) / 2)
              : 0
            if (total - through <= limit + lag) expect(shown).toBe(total - through)
          }
        }
      }),
    { fastCheck: { numRuns: 100 } }
  )

  it.effect.prop(
    "with summaries that all fail, the model sees what it sees where none are written (law 14)",
    [settings, FastCheck.integer({ min: 1, max: 15 }), FastCheck.constantFrom<SummaryFate>("fails", "empty", "long")],
    ([settings, questions, fate]) =>
      Effect.gen(function* () {
        const seen = ({
          moments
        }: {
          readonly moments: ReadonlyArray<{ readonly requests: ReadonlyArray<ChatModel.ModelRequest> }>
        }) => moments.map(({ requests }) => requests.map(({ history }) => texts(history)))
        const failing = yield* converse(settings, questions, Summaries.layer(), [fate])
        const without = yield* converse(settings, questions, Summaries.layerNone)
        expect(seen(failing)).toEqual(seen(without))
        expect(failing.kept.summary).toBe(undefined)
      }),
    { fastCheck: { numRuns: 50 } }
  )
})
