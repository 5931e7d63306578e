import { describe, expect, it } from "@effect/vitest"
import { Agent } from "@heddle/core"
import { type ContextMode, Conversations, Memory, type MemorySettings, Summaries, TokenCounter } from "@heddle/memory"
import { Effect, FastCheck } from "effect"
import { mode, script, settings } from "./calls.ts"
import { type Conversation, line, seen } from "./reference.ts"
import { agentNamed, inWorld, texts, world } from "./support.ts"

interface Turn {
  readonly mode: ContextMode.ContextMode
  readonly settings: MemorySettings.MemorySettings
  readonly does: string
}

const turn: FastCheck.Arbitrary<Turn> = FastCheck.record({
  mode,
  settings,
  does: FastCheck.constantFrom("answers", "answers", "calls", "fails")
})

interface Due {
  readonly about: "main" | "own"
  readonly keep: number
  readonly trigger: number
  readonly growth: number
}

type Session = Readonly<Record<"main" | "own", Conversation>>

/** The summaries that a run may set off: of the conversations that it sees by settings with which they are written. */
const dueOf = ({ mode, settings }: Turn, before: Session): ReadonlyArray<Due> => {
  const due = (about: "main" | "own", settings: MemorySettings.MemorySettings, said?: ContextMode.Window) => {
    const { historyLimit = 10, strategy = "window", summaryMinGrowth = 6, summaryTrigger = 30 } = settings
    if (!(settings.summaryEnabled ?? strategy === "summary")) return []
    const window = said ?? { exchanges: historyLimit }
    // A window of tokens keeps what it shows.
    const keep = "exchanges" in window ? window.exchanges : seen(about, before[about], settings, window).kept.length
    return [{ about, keep, trigger: summaryTrigger, growth: summaryMinGrowth }]
  }
  switch (mode._tag) {
    case "isolated":
    case "hybrid":
      return due("own", settings, mode.window)
    case "shared":
    case "fork":
      return due("main", settings, mode.window)
    case "selective":
      return due("own", settings)
    case "summarized": {
      const short = { ...settings, strategy: "summary", summaryEnabled: true, summaryTrigger: mode.after } as const
      return [...due("main", short, mode.window), ...due("own", settings)]
    }
  }
}

/** Exchanges of a conversation as a run knows them: at the end of its own exchange, or at the moment when it looked. */
const knownOf = (about: "main" | "own", { mode }: Turn, before: Session, after: Session): ReadonlyArray<string> =>
  (about === (mode._tag === "shared" ? "main" : "own") ? after : before)[about].all

const messages = (all: ReadonlyArray<string>) => all.flatMap((kept) => kept.split(" | ")).length

/** How far a summary goes then, if it is due. */
const throughOf = (
  { about, growth, trigger }: Due,
  keep: number,
  known: ReadonlyArray<string>,
  after: Session
): number => {
  const { all, through } = after[about]
  if (messages(known) < trigger || known.length - keep <= through) return through
  const end = all.length - keep
  return messages(all.slice(through, end)) < growth ? through : end
}

describe("a summary", () => {
  it.effect.prop(
    "is written when one is due, of what nobody's window has shown, as a reference in plain code says",
    [FastCheck.array(turn, { maxLength: 30, size: "max" })],
    ([turns]) =>
      Effect.gen(function* () {
        const w = yield* world(script)
        yield* Effect.gen(function* () {
          const { settled } = yield* Summaries.Summaries
          const widest = { main: 0, own: 0 }
          const look = (key: Conversations.ConversationKey) =>
            Effect.map(
              Effect.flatMap(Conversations.Conversations, (store) => store.read(key)),
              ({ exchanges, summary }): Conversation => ({
                all: exchanges.map(({ messages }) => line(texts(messages))),
                through: summary?.through ?? 0
              })
            )
          const session = Effect.all({
            main: look(Conversations.main("s")),
            own: look(Conversations.own("s", "coder"))
          })
          const agent = agentNamed("coder")
          for (const [n, turn] of turns.entries()) {
            const before = yield* session
            yield* Effect.exit(
              Agent.run(agent, `${n} tea ${turn.does}`, Memory.call({ mode: turn.mode, settings: turn.settings }))
            )
            yield* settled
            const after = yield* session
            const wanted = { main: before.main.through, own: before.own.through }
            for (const due of turn.does === "fails" ? [] : dueOf(turn, before)) {
              const { about } = due
              const known = knownOf(about, turn, before, after)
              // Where there was no conversation to look at, nobody's window counts.
              if (known.length === 0) continue
              widest[about] = Math.max(widest[about], due.keep)
              const asBefore = { ...after, [about]: { ...after[about], through: wanted[about] } }
              wanted[about] = throughOf(due, widest[about], known, asBefore)
            }
            expect({ main: after.main.through, own: after.own.through }).toEqual(wanted)
          }
        }).pipe(inWorld(w), Effect.provideService(TokenCounter.TokenCounter, { count: () => 0 }))
      }),
    { fastCheck: { numRuns: 200 } }
  )
})
