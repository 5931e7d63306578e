/**
 * Random calls of agents in random sessions, beside a reference that says in plain
 * code what each is to see and what is to be kept of it.
 */
import { Agent, Message, Tool, Tools } from "@heddle/core"
import { ContextMode, Conversations, Memory, MemorySettings, Session, Summaries } from "@heddle/memory"
import { ScriptedModel } from "@heddle/testing"
import { Effect, FastCheck, Layer } from "effect"
import { texts } from "./support.ts"

/** What happens. */
export type Happening =
  | {
      readonly _tag: "Call"
      readonly place: Place
      readonly agent: string
      readonly mode: ContextMode.ContextMode
      readonly settings: MemorySettings.MemorySettings
      readonly topic: string
      readonly does: "answers" | "calls" | "fails"
    }
  | { readonly _tag: "Clear" | "Remove"; readonly place: Place; readonly agent: string | undefined }
  | { readonly _tag: "Restart" }

interface Place {
  readonly tenant: string
  readonly session: string
}

// -----------------------------------------------------------------------------
// the reference
// -----------------------------------------------------------------------------

/** The texts of an exchange. */
type Kept = ReadonlyArray<string>

class Reference {
  private readonly conversations = new Map<string, Array<Kept>>()

  of({ session, tenant }: Place, agent: string | undefined): Array<Kept> {
    const key = JSON.stringify([tenant, session, agent])
    if (!this.conversations.has(key)) this.conversations.set(key, [])
    return this.conversations.get(key)!
  }

  /** What the model is to be shown of what was said before. */
  sees({ agent, mode, place, settings }: Extract<Happening, { readonly _tag: "Call" }>): Kept {
    const main = this.of(place, undefined)
    const own = this.of(place, agent)
    const limit = settings.strategy === "full" ? Infinity : (settings.historyLimit ?? 10)
    const window = mode.window !== undefined && "exchanges" in mode.window ? mode.window.exchanges : limit
    const last = (all: ReadonlyArray<Kept>, n: number) => all.slice(Math.max(0, all.length - n)).flat()
    switch (mode._tag) {
      case "isolated":
      case "hybrid":
        return last(own, window)
      case "shared":
      case "fork":
        return last(main, window)
      case "selective": {
        const matching = main.filter((kept) => kept.some((text) => text.includes("tea")))
        return [...last(matching, window), ...last(own, limit)]
      }
      case "summarized": {
        // Nothing writes summaries here: the whole up to a length, then the window.
        const most = window + Math.ceil((mode.after + 6) / 2)
        return [...last(main, main.length <= most ? most : window), ...last(own, limit)]
      }
    }
  }

  /** What is to be kept of a call. */
  keep({ agent, does, mode, place }: Extract<Happening, { readonly _tag: "Call" }>, question: string) {
    const whole = does === "calls" ? [question, "[note: Succeeded]", `re: ${question}`] : [question, `re: ${question}`]
    const report = does === "fails" ? "failed: no answer" : `answered: re: ${question}`
    if (does !== "fails") {
      if (mode._tag === "shared") this.of(place, undefined).push(mode.toolCalls ? whole : [question, `re: ${question}`])
      else this.of(place, agent).push(whole)
    }
    if (mode._tag === "hybrid") {
      this.of(place, undefined).push([`${agent} was asked: ${question}`, `${agent} ${report}`])
    }
  }

  forget({ agent, place }: Extract<Happening, { readonly _tag: "Clear" | "Remove" }>) {
    this.of(place, agent).length = 0
  }
}

// -----------------------------------------------------------------------------
// the calls
// -----------------------------------------------------------------------------

const windows = FastCheck.option(FastCheck.record({ exchanges: FastCheck.nat(4) }), { nil: undefined })
const mode: FastCheck.Arbitrary<ContextMode.ContextMode> = FastCheck.tuple(windows, FastCheck.boolean()).chain(
  ([window, toolCalls]) => {
    const options = window === undefined ? {} : { window }
    return FastCheck.constantFrom<ContextMode.ContextMode>(
      ContextMode.isolated(options),
      ContextMode.shared({ ...options, toolCalls }),
      ContextMode.hybrid(options),
      ContextMode.selective(["*tea*"], options),
      ContextMode.summarized({ ...options, after: 8 }),
      ContextMode.fork(options)
    )
  }
)

const settings: FastCheck.Arbitrary<MemorySettings.MemorySettings> = FastCheck.record(
  { strategy: FastCheck.constantFrom("full" as const, "window" as const), historyLimit: FastCheck.nat(5) },
  { requiredKeys: [] }
)

const place: FastCheck.Arbitrary<Place> = FastCheck.record({
  tenant: FastCheck.constantFrom("acme", "zeta"),
  session: FastCheck.constantFrom("s", "t")
})
const agent = FastCheck.constantFrom("ann", "bob")

const happening: FastCheck.Arbitrary<Happening> = FastCheck.oneof(
  {
    weight: 12,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constant("Call" as const),
      place,
      agent,
      mode,
      settings,
      topic: FastCheck.constantFrom("tea", "coffee"),
      does: FastCheck.constantFrom("answers" as const, "answers" as const, "calls" as const, "fails" as const)
    })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constantFrom("Clear" as const, "Remove" as const),
      place,
      agent: FastCheck.option(agent, { nil: undefined })
    })
  },
  { weight: 1, arbitrary: FastCheck.constant<Happening>({ _tag: "Restart" }) }
)

/** What happens, one after the other. */
export const happenings: FastCheck.Arbitrary<ReadonlyArray<Happening>> = FastCheck.array(happening, { maxLength: 40 })

const note = Tool.make({ name: "note", description: "Notes it.", execute: () => "noted" })
const agents = new Map(
  ["ann", "bob"].map((name) => [
    name,
    Agent.make({ name, tools: Tools.make(note), handlers: Memory.handler({ section: false }) })
  ])
)

/** Answers, calls a tool first, or fails, as the question says. */
const script: ScriptedModel.Script = ({ history }) => {
  const question = Message.text(history.findLast(({ role }) => role === "user")!)
  if (question.includes("fails")) throw new Error("no answer")
  return question.includes("calls") && history.at(-1)!.role === "user"
    ? { calls: [{ tool: "note" }] }
    : `re: ${question}`
}

/**
 * Does it all in a store, which is opened anew at each restart, and says where the
 * store is not what the reference is. `check` is told what is to be the same.
 */
export const behave = <E>(
  happenings: ReadonlyArray<Happening>,
  open: Layer.Layer<Conversations.Conversations, E>,
  check: (found: unknown, wanted: unknown) => void
): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    const reference = new Reference()
    const model = yield* ScriptedModel.make(script)
    const stretches = happenings.reduce<Array<Array<Happening>>>(
      (all, one) => {
        if (one._tag === "Restart") all.push([])
        else all.at(-1)!.push(one)
        return all
      },
      [[]]
    )
    let n = 0
    const one = (happening: Happening) =>
      Effect.gen(function* () {
        const store = yield* Conversations.Conversations
        if (happening._tag === "Restart") return
        const { place } = happening
        if (happening._tag !== "Call") {
          const { agent } = happening
          const key = agent === undefined ? place : { ...place, agent }
          yield* happening._tag === "Clear" ? store.clear(key) : store.remove(key)
          reference.forget(happening)
          return
        }
        const { agent, does, mode, settings, topic } = happening
        const question = `${++n} ${topic} ${does} of ${place.tenant}/${place.session}/`
        const wanted = [...reference.sees(happening), question]
        const before = (yield* model.requests).length
        const exit = yield* Agent.run(agents.get(agent)!, question, Memory.call({ mode, settings })).pipe(
          Session.within({ id: place.session, tenant: place.tenant }),
          Effect.exit
        )
        check(exit._tag, does === "fails" ? "Failure" : "Success")
        const [request] = (yield* model.requests).slice(before)
        check(texts(request!.history), wanted)
        // Said directly, not by the reference: nothing of another tenant or session.
        for (const text of texts(request!.history)) {
          if (text.includes(" of ")) check(text.includes(` of ${place.tenant}/${place.session}/`), true)
        }
        reference.keep(happening, question)
        for (const of of [undefined, "ann", "bob"]) {
          const { exchanges } = yield* store.read(of === undefined ? place : { ...place, agent: of })
          check(
            exchanges.map(({ messages }) => texts(messages)),
            reference.of(place, of)
          )
        }
      })
    const layer = Layer.mergeAll(open, model.layer, Summaries.layerNone)
    for (const stretch of stretches) {
      yield* Effect.forEach(stretch, one, { discard: true }).pipe(
        // What fails here is the store.
        Effect.orDie,
        Effect.provide(layer)
      )
    }
  })
